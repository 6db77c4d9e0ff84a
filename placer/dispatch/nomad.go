package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"
)

// Cluster is what a run needs of one.
type Cluster interface {
	// Begin registers the job, and ends and forgets what one of its ID had dispatched.
	Begin(ctx context.Context, job *api.Job) error
	// Dispatch hands a payload out, and says by which ID.
	Dispatch(ctx context.Context, job string, payload []byte) (id string, err error)
	// States are those of what was dispatched and not forgotten, by its ID.
	States(ctx context.Context, job string) (map[string]State, error)
	// Register registers a job in Nomad's JSON form, whose ID begins as those of what the run's job
	// has dispatched.
	Register(ctx context.Context, job map[string]any) error
	// Read reads a file that a dispatch has left, by its path in the allocation.
	Read(ctx context.Context, s State, path string) ([]byte, error)
	// Forget ends and removes a dispatch.
	Forget(ctx context.Context, id string) error
	// End ends and removes the job and all that it dispatched.
	End(ctx context.Context, job string) error
	// Blocked says why no node takes a dispatch; empty where one does, or it is not known.
	Blocked(ctx context.Context, id string) (string, error)
	// Nodes is how many are ready.
	Nodes(ctx context.Context) (int, error)
}

// State of a dispatch: it waits or runs unless it has ended.
type State struct {
	Ended, Failed bool
	Why           string // it failed
	Node          string // empty: none yet
	Allocation    *api.AllocationListStub
}

// Nomad is a cluster by its API.
type Nomad struct{ Client *api.Client }

var _ Cluster = Nomad{}

// dispatched is how Nomad begins the ID of what a job dispatched.
func dispatched(job string) string { return job + "/dispatch-" }

// Begin implements Cluster.
func (n Nomad) Begin(ctx context.Context, job *api.Job) error {
	if err := n.children(ctx, *job.ID); err != nil {
		return err
	}
	_, _, err := n.Client.Jobs().Register(job, (&api.WriteOptions{}).WithContext(ctx))
	return err
}

// End implements Cluster.
func (n Nomad) End(ctx context.Context, job string) error {
	return errors.Join(n.Forget(ctx, job), n.children(ctx, job)) // in this order: nothing new comes
}

// children ends and forgets all that a job dispatched.
func (n Nomad) children(ctx context.Context, job string) error {
	all, _, err := n.Client.Jobs().List((&api.QueryOptions{Prefix: dispatched(job)}).WithContext(ctx))
	for _, j := range all {
		err = errors.Join(err, n.Forget(ctx, j.ID))
	}
	return err
}

// Dispatch implements Cluster.
func (n Nomad) Dispatch(ctx context.Context, job string, payload []byte) (string, error) {
	r, _, err := n.Client.Jobs().Dispatch(job, nil, payload, "", (&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return "", err
	}
	return r.DispatchedJobID, nil
}

// Register implements Cluster.
func (n Nomad) Register(ctx context.Context, job map[string]any) error {
	namespace, _ := job["Namespace"].(string)
	_, err := n.Client.Raw().Write("/v1/jobs", map[string]any{"Job": job}, nil, (&api.WriteOptions{Namespace: namespace}).WithContext(ctx))
	return err
}

// States implements Cluster.
func (n Nomad) States(ctx context.Context, job string) (map[string]State, error) {
	jobs, _, err := n.Client.Jobs().List((&api.QueryOptions{Prefix: dispatched(job)}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	out := map[string]State{}
	for _, j := range jobs {
		out[j.ID] = State{}
	}
	filter := fmt.Sprintf("JobID matches %q", "^"+regexp.QuoteMeta(dispatched(job)))
	allocations, _, err := n.Client.Allocations().List((&api.QueryOptions{Filter: filter}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	for _, a := range allocations {
		if s, ok := out[a.JobID]; ok && (s.Allocation == nil || s.Allocation.CreateIndex < a.CreateIndex) {
			out[a.JobID] = stateOf(a)
		}
	}
	return out, nil
}

// Blocked implements Cluster.
func (n Nomad) Blocked(ctx context.Context, id string) (string, error) {
	evaluations, _, err := n.Client.Jobs().Evaluations(id, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return "", err
	}
	for _, e := range evaluations {
		for _, why := range e.FailedTGAllocs {
			if why.NodesEvaluated == 0 {
				return "no node is in its pool", nil
			}
			return fmt.Sprintf("of %d nodes %d are excluded (%s) and %d have no room (%s)", why.NodesEvaluated, why.NodesFiltered, names(why.ConstraintFiltered), why.NodesExhausted, names(why.DimensionExhausted)), nil
		}
	}
	return "", nil
}

// names are what counts are of.
func names(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(counts)), ", ")
}

func stateOf(a *api.AllocationListStub) State {
	s := State{Allocation: a, Node: a.NodeName}
	switch a.ClientStatus {
	case api.AllocClientStatusComplete:
		s.Ended = true
	case api.AllocClientStatusFailed:
		s.Ended, s.Failed, s.Why = true, true, whyFailed(a)
	case api.AllocClientStatusLost, api.AllocClientStatusUnknown:
		s.Ended, s.Failed, s.Why = true, true, "its node was lost"
	}
	return s
}

// whyFailed is what the first task says that failed by itself: that Nomad does not start it again is
// no reason.
func whyFailed(a *api.AllocationListStub) string {
	why := "it failed"
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		for _, e := range a.TaskStates[name].Events {
			switch {
			case e.Type == api.TaskDriverFailure || e.FailsTask && e.Type != api.TaskNotRestarting:
				return e.DisplayMessage
			case e.Type == api.TaskTerminated && a.TaskStates[name].Failed:
				why = fmt.Sprintf("task %s ended: %s", name, e.DisplayMessage)
			}
		}
	}
	return why
}

// Read implements Cluster.
func (n Nomad) Read(ctx context.Context, s State, path string) ([]byte, error) {
	r, err := n.Client.AllocFS().Cat(&api.Allocation{ID: s.Allocation.ID, NodeID: s.Allocation.NodeID, Namespace: s.Allocation.Namespace}, path, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, mostResultBytes))
	return data, errors.Join(err, r.Close())
}

// Forget implements Cluster.
func (n Nomad) Forget(ctx context.Context, id string) error {
	_, _, err := n.Client.Jobs().Deregister(id, true, (&api.WriteOptions{}).WithContext(ctx))
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Nodes implements Cluster.
func (n Nomad) Nodes(ctx context.Context) (int, error) {
	nodes, _, err := n.Client.Nodes().List((&api.QueryOptions{}).WithContext(ctx))
	ready := 0
	for _, node := range nodes {
		if node.Status == api.NodeStatusReady && node.SchedulingEligibility == api.NodeSchedulingEligible {
			ready++
		}
	}
	return ready, err
}

// statusOf is the HTTP status of an error; 0 where it has none.
func statusOf(err error) int {
	var unexpected api.UnexpectedResponseError
	if errors.As(err, &unexpected) {
		return unexpected.StatusCode()
	}
	return 0
}

// passing reports whether trying again later may do: the server is busy, has no leader, or cannot
// be reached.
func passing(err error) bool {
	status := statusOf(err)
	return status == 0 || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
