package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// seen are the records as one caller may see them, for one request. What the caller
// may not see is not there: its answer is the one for a name that nobody has.
type seen struct {
	all    Records
	caller *access.Caller

	once sync.Once
	used map[string]bool // keys of the profiles that the caller's jobs use
	err  error
}

// asksAtOnce is how many namespaces are asked about at once.
const asksAtOnce = 8

// seenBy is the server with the records that the sender of a request may see.
func (s *server) seenBy(r *http.Request) (*server, error) {
	if s.options.Access == nil {
		return s, nil
	}
	caller, err := s.options.Access.Caller(r)
	if err != nil {
		return nil, err
	}
	mine := *s
	mine.records, mine.caller = &seen{all: s.records, caller: caller}, caller
	return &mine, nil
}

// may asks for each namespace in a list.
func may(ctx context.Context, namespaces map[string]bool, ask func(context.Context, string) (bool, error)) (map[string]bool, error) {
	var mu sync.Mutex
	out := map[string]bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(asksAtOnce)
	for name := range namespaces {
		group.Go(func() error {
			yes, err := ask(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			out[name] = yes
			return err
		})
	}
	return out, group.Wait()
}

// only keeps of a list what is in namespaces whose records the caller may read.
func only[T any](ctx context.Context, v *seen, list []T, namespace func(T) string) ([]T, error) {
	names := map[string]bool{}
	for _, item := range list {
		names[namespace(item)] = true
	}
	yes, err := may(ctx, names, v.caller.MayReadRecordsOf)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(item T) bool { return !yes[namespace(item)] }), nil
}

// read asks for the record of a workload, if the caller has the right to it.
func read[T any](ctx context.Context, w cluster.WorkloadID, right func(context.Context, string) (bool, error), of func(context.Context, cluster.WorkloadID) (T, error)) (T, error) {
	var none T
	yes, err := right(ctx, w.Namespace)
	if err != nil {
		return none, err
	}
	if !yes {
		return none, cluster.ErrNoRecord
	}
	return of(ctx, w)
}

// Decisions implements Records.
func (v *seen) Decisions(ctx context.Context) ([]cluster.Decision, error) {
	list, err := v.all.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	list, err = only(ctx, v, list, func(d cluster.Decision) string { return d.Workload.Namespace })
	if err != nil {
		return nil, err
	}
	return list, v.withoutStrangers(ctx, list)
}

// Decision implements Records.
func (v *seen) Decision(ctx context.Context, w cluster.WorkloadID) (cluster.Decision, error) {
	d, err := read(ctx, w, v.caller.MayReadRecordsOf, v.all.Decision)
	if err != nil {
		return d, err
	}
	list := []cluster.Decision{d}
	err = v.withoutStrangers(ctx, list)
	return list[0], err
}

// withoutStrangers takes the names of co-runners out that the caller may not read. The
// lists may be shared, and are copied.
func (v *seen) withoutStrangers(ctx context.Context, list []cluster.Decision) error {
	names := map[string]bool{}
	for _, d := range list {
		for _, c := range d.Candidates {
			for _, n := range c.Neighbours {
				names[namespaceOf(n)] = true
			}
		}
	}
	yes, err := may(ctx, names, v.caller.MayReadRecordsOf)
	if err != nil {
		return err
	}
	stranger := func(n string) bool { return !yes[namespaceOf(n)] }
	for i := range list {
		if !slices.ContainsFunc(list[i].Candidates, func(c cluster.Candidate) bool { return slices.ContainsFunc(c.Neighbours, stranger) }) {
			continue
		}
		candidates := slices.Clone(list[i].Candidates)
		for j, c := range candidates {
			candidates[j].Neighbours = slices.DeleteFunc(slices.Clone(c.Neighbours), stranger)
		}
		list[i].Candidates = candidates //nolint:gosec // i is of list
	}
	return nil
}

// namespaceOf a workload's name: it is the part before the first slash.
func namespaceOf(workload string) string {
	namespace, _, _ := strings.Cut(workload, "/")
	return namespace
}

// Evaluations implements Records.
func (v *seen) Evaluations(ctx context.Context) ([]cluster.Evaluation, error) {
	list, err := v.all.Evaluations(ctx)
	if err != nil {
		return nil, err
	}
	return only(ctx, v, list, func(e cluster.Evaluation) string { return e.Job.Namespace })
}

// Profiles implements Records.
func (v *seen) Profiles(ctx context.Context) ([]string, error) {
	keys, err := v.all.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	return v.usedOf(ctx, keys)
}

// Productions implements Records.
func (v *seen) Productions(ctx context.Context) ([]string, error) {
	keys, err := v.all.Productions(ctx)
	if err != nil {
		return nil, err
	}
	return v.usedOf(ctx, keys)
}

// usedOf are the keys that the caller may see.
func (v *seen) usedOf(ctx context.Context, keys []string) ([]string, error) {
	all, err := v.caller.MayReadRecords(ctx)
	if err != nil || all {
		return keys, err
	}
	used, err := v.profilesUsed(ctx)
	return slices.DeleteFunc(keys, func(key string) bool { return !used[key] }), err
}

// Profile implements Records.
func (v *seen) Profile(ctx context.Context, key string) (profile.Profile, error) {
	if may, err := v.usedOf(ctx, []string{key}); err != nil || len(may) == 0 {
		return profile.Profile{}, cmp.Or(err, cluster.ErrNoRecord)
	}
	p, err := v.all.Profile(ctx, key)
	if err != nil {
		return p, err
	}
	may, err := v.caller.MayReadRecordsOf(ctx, p.Namespace())
	if !may {
		p.Workload = "" // it is of another namespace that shares profiles with the caller's
	}
	return p, err
}

// Production implements Records.
func (v *seen) Production(ctx context.Context, key string) (profile.Production, error) {
	if may, err := v.usedOf(ctx, []string{key}); err != nil || len(may) == 0 {
		return profile.Production{}, cmp.Or(err, cluster.ErrNoRecord)
	}
	p, err := v.all.Production(ctx, key)
	if err != nil {
		return p, err
	}
	return v.productionWithoutStrangers(ctx, p)
}

// productionWithoutStrangers is what production says of a workload without the names of
// workloads that the caller may not read: several namespaces may share a profile. Co-runners
// are counted instead. What is stored may be shared, and is copied.
func (v *seen) productionWithoutStrangers(ctx context.Context, p profile.Production) (profile.Production, error) {
	names := map[string]bool{namespaceOf(p.Workload): true}
	note := func(workloads []string) {
		for _, w := range workloads {
			names[namespaceOf(w)] = true
		}
	}
	for _, e := range p.Experiments {
		note(e.Neighbours)
	}
	if p.Suspicion != nil {
		note(p.Suspicion.CoRunners)
	}
	if p.Distrust != nil {
		note(p.Distrust.CoRunners)
	}
	yes, err := may(ctx, names, v.caller.MayReadRecordsOf)
	if err != nil {
		return profile.Production{}, err
	}
	stranger := func(w string) bool { return !yes[namespaceOf(w)] }
	known := func(workloads []string) []string { return slices.DeleteFunc(slices.Clone(workloads), stranger) }
	p.Experiments = slices.Clone(p.Experiments)
	for i, e := range p.Experiments {
		own := known(e.Neighbours)
		p.Experiments[i].Neighbours, p.Experiments[i].Others = own, e.Others+len(e.Neighbours)-len(own)
	}
	if p.Suspicion != nil {
		s := *p.Suspicion
		s.CoRunners, p.Suspicion = known(s.CoRunners), &s
	}
	if p.Distrust != nil {
		d := *p.Distrust
		d.Reason = wording.DistrustReason(d, stranger)
		d.CoRunners, p.Distrust = known(d.CoRunners), &d
	}
	if stranger(p.Workload) {
		p.Workload = ""
	}
	return p, nil
}

// profilesUsed are the keys of the profiles behind the decisions the caller may see.
func (v *seen) profilesUsed(ctx context.Context) (map[string]bool, error) {
	v.once.Do(func() {
		var list []cluster.Decision
		list, v.err = v.Decisions(ctx)
		v.used = map[string]bool{}
		for _, d := range list {
			v.used[d.ProfileKey] = true
		}
		delete(v.used, "")
	})
	return v.used, v.err
}

// errNoNodes: the caller may not read nodes.
var errNoNodes = &access.Refusal{Status: http.StatusForbidden,
	Message: `your token may not read nodes: it needs a policy with node { policy = "read" }`}

// Nodes implements Records.
func (v *seen) Nodes(ctx context.Context) ([]cluster.NodeRecord, error) {
	yes, err := v.caller.MayReadNodes(ctx)
	if err != nil {
		return nil, err
	}
	if !yes {
		return nil, errNoNodes
	}
	nodes, err := v.all.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, n := range nodes {
		for _, r := range n.Residents {
			names[r.Workload.Namespace] = true
		}
	}
	readable, err := may(ctx, names, v.caller.MayReadJobs)
	for i := range nodes {
		nodes[i].Residents = slices.DeleteFunc(slices.Clone(nodes[i].Residents), func(r cluster.Resident) bool { return !readable[r.Workload.Namespace] })
	}
	return nodes, err
}

// Observations implements Records.
func (v *seen) Observations(ctx context.Context, w cluster.WorkloadID) ([]cluster.Observation, error) {
	list, err := read(ctx, w, v.caller.MayReadRecordsOf, v.all.Observations)
	if errors.Is(err, cluster.ErrNoRecord) {
		return nil, nil // as for a workload that there is not
	}
	return list, err
}

// DiskLimits implements Records.
func (v *seen) DiskLimits(ctx context.Context, w cluster.WorkloadID) ([]cluster.DiskLimit, error) {
	list, err := read(ctx, w, v.caller.MayReadRecordsOf, v.all.DiskLimits)
	if errors.Is(err, cluster.ErrNoRecord) {
		return nil, nil
	}
	return list, err
}

// provisioning is who knows of rented nodes, for a caller who may read nodes.
func (s *server) provisioning(ctx context.Context) (Provisioning, error) {
	return ofNodes[Provisioning](ctx, s, "no nodes are rented here")
}

// ofNodes is what answers questions about nodes, for a caller who may read them. Where nothing
// does, the error says so by missing.
func ofNodes[T any](ctx context.Context, s *server, missing string) (T, error) {
	var none T
	all := s.records
	if v, limited := s.records.(*seen); limited {
		switch yes, err := v.caller.MayReadNodes(ctx); {
		case err != nil:
			return none, err
		case !yes:
			return none, errNoNodes
		}
		all = v.all
	}
	if answering, ok := all.(T); ok {
		return answering, nil
	}
	return none, fmt.Errorf("%s: %w", missing, cluster.ErrNoRecord)
}

// seenWhatIf answers questions about the jobs that the caller may read.
type seenWhatIf struct {
	asker WhatIf
	seen  *seen
}

// Policies implements WhatIf.
func (v seenWhatIf) Policies() []string { return v.asker.Policies() }

// WhatIf implements WhatIf.
func (v seenWhatIf) WhatIf(ctx context.Context, w cluster.WorkloadID, q Question) (Answer, error) {
	answer, err := read(ctx, w, v.seen.caller.MayReadJobs, func(ctx context.Context, w cluster.WorkloadID) (Answer, error) {
		return v.asker.WhatIf(ctx, w, q)
	})
	if err != nil {
		return answer, err
	}
	list := []cluster.Decision{answer.Decision}
	err = v.seen.withoutStrangers(ctx, list)
	answer.Decision = list[0]
	return answer, err
}

// whatIf is who answers what-if questions, if somebody does.
func (s *server) whatIf() (WhatIf, bool) {
	if v, limited := s.records.(*seen); limited {
		asker, ok := v.all.(WhatIf)
		return seenWhatIf{asker, v}, ok
	}
	asker, ok := s.records.(WhatIf)
	return asker, ok
}

// seenActions are what was done to the jobs that the caller may read.
type seenActions struct {
	ActionRecords
	seen *seen
}

// Actions implements ActionRecords.
func (v seenActions) Actions(ctx context.Context, w cluster.WorkloadID) ([]cluster.ActionRecord, error) {
	list, err := read(ctx, w, v.seen.caller.MayReadRecordsOf, v.ActionRecords.Actions)
	if errors.Is(err, cluster.ErrNoRecord) {
		return nil, nil
	}
	return list, err
}

// actionRecords is who records what was done, if somebody does.
func (s *server) actionRecords() (ActionRecords, bool) {
	if v, limited := s.records.(*seen); limited {
		reader, ok := v.all.(ActionRecords)
		return seenActions{reader, v}, ok
	}
	reader, ok := s.records.(ActionRecords)
	return reader, ok
}
