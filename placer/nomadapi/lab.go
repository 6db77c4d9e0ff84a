package nomadapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Errors of a profiling run in addition to those of the cluster package.
var (
	// ErrNotPlaced: Nomad found no room for the profiling run on its node.
	ErrNotPlaced = errors.New("the profiling run was not placed")
	// ErrNoResult: the run ended and left no profile.
	ErrNoResult = errors.New("the profiling run wrote no profile")
)

// Bounds of following a run, chosen by us.
const (
	labPoll         = 500 * time.Millisecond
	labPollNearEnd  = 50 * time.Millisecond
	labNearEnd      = 2 * time.Second
	labPlaceWithin  = 15 * time.Second // registration to allocation
	labStopWithin   = 12 * time.Second // for partial results after a stop
	labLogTailBytes = 2000
	labLogTailLines = 5
)

// What is read of a run's files, at the most: many times what there is.
const (
	maxResultBytes   = 1 << 20
	maxProgressBytes = 64 << 10
)

// Profile runs the request as a batch job and returns the profile it leaves. A
// run of the same id that is under way is adopted. The job is removed at the end,
// however that comes, also when ctx has ended.
func (w *World) Profile(ctx context.Context, r cluster.ProfileRequest) (profile.Profile, error) {
	if !r.Node.Kernels {
		return profile.Profile{}, fmt.Errorf("node %s: %w", r.Node.Name, cluster.ErrNoKernels)
	}
	if why := w.refusesKey(&r.Node); why != "" {
		return profile.Profile{}, fmt.Errorf("%s: %w", why, cluster.ErrNoKernels)
	}
	user, err := w.rawJob(ctx, r.Job.ID)
	if err != nil {
		return profile.Profile{}, err
	}
	if now := user.index("JobModifyIndex"); now != r.Job.ModifyIndex {
		return profile.Profile{}, fmt.Errorf("job %s is at index %d, not %d: %w", r.Job.ID, now, r.Job.ModifyIndex, cluster.ErrStale)
	}
	job, err := labJob(user, r, w.opts.Owner)
	if err != nil {
		return profile.Profile{}, err
	}
	w.sign(job, r.Node.ID, r.Deadline, func(task string) bool { return task == labTask })
	if !r.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Deadline.Sub(w.serverTime.Now()))
		defer cancel()
	}
	run := &labRun{w: w, id: jobIDOf(job), request: r, remaining: time.Duration(r.Seconds) * time.Second}
	err = run.start(ctx, job)
	if run.ours {
		defer run.remove(ctx)
	}
	if err != nil {
		return profile.Profile{}, err
	}
	return run.follow(ctx)
}

// labRun is one profiling job.
type labRun struct {
	w        *World
	id       cluster.JobID
	request  cluster.ProfileRequest
	ours     bool   // a job of ours may exist: also after a registration that failed half-way
	progress string // the last progress record seen
	sofar    string // what was measured by then, as last seen
	advice   string // as last given
	handed   bool   // the result was handed over early

	remaining time.Duration // as the run last said

	memoryRead   time.Time // when it was last looked at
	memoryPeakMB float64   // of the sized task; 0: not seen
}

// start registers the job where it does not exist; one that does is adopted, and where it is
// on another node, of which its result would be, replaced.
func (l *labRun) start(ctx context.Context, job object) error {
	body := registration{Job: job, EnforceIndex: true} // index 0: must not exist
	l.ours = true
	err := l.w.nomad.writeSafe(ctx, jobPath(l.id, ""), l.id.Namespace, body, nil)
	if !isConflict(err) {
		return wrap(err, "start profiling run %s", l.id)
	}
	var existing struct {
		Stop bool
		Meta map[string]string
	}
	if _, err := l.w.nomad.get(ctx, jobPath(l.id, ""), api.QueryOptions{Namespace: l.id.Namespace}, &existing); err != nil {
		return err
	}
	if existing.Meta[metaOwner] != l.w.opts.Owner {
		l.ours = false
		return fmt.Errorf("job %s was not created by the placer, but a profiling run needs its name: rename that job", l.id)
	}
	if !existing.Stop && existing.Meta[metaNode] == string(l.request.Node.ID) {
		l.w.log.Info("profiling run adopted", "job", l.id.String())
		return nil
	}
	if err := l.w.RemoveJob(ctx, l.id); err != nil {
		return err
	}
	return wrap(l.w.nomad.writeSafe(ctx, jobPath(l.id, ""), l.id.Namespace, body, nil), "start profiling run %s", l.id)
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// follow waits for the run's end and reads what it left.
func (l *labRun) follow(ctx context.Context) (profile.Profile, error) {
	began := l.w.clock.Now()
	for {
		alloc, err := l.allocation(ctx)
		switch {
		case ctx.Err() != nil:
			return l.cutShort(ctx)
		case err != nil:
			return profile.Profile{}, err
		case alloc == nil:
			if err := l.unplaced(ctx, l.w.clock.Now().Sub(began)); err != nil {
				return profile.Profile{}, err
			}
		case alloc.lost():
			return profile.Profile{}, fmt.Errorf("node %s: %w", l.request.Node.Name, cluster.ErrNodeLost)
		case alloc.ended():
			return l.result(ctx, alloc)
		default:
			l.watchMemory(ctx, alloc.ID)
			l.reportProgress(ctx, alloc.ID)
		}
		select {
		case <-ctx.Done():
		case <-l.w.clock.After(l.pause()):
		}
	}
}

// pause is the time to the next look: short when the run is about to end, so
// that the held job does not wait for the poll.
func (l *labRun) pause() time.Duration {
	if l.remaining < labNearEnd {
		return labPollNearEnd
	}
	return labPoll
}

// early hands the result over before the cleaning up.
func (l *labRun) early(p profile.Profile) {
	if l.request.OnResult != nil && !l.handed {
		l.handed = true
		l.request.OnResult(p)
	}
}

// labAlloc is the part of the run's allocation that is looked at.
type labAlloc struct {
	ID            string
	ClientStatus  string
	DesiredStatus string
	CreateIndex   uint64
	TaskStates    map[string]labTaskState
}

type labTaskState struct {
	State      string
	Failed     bool
	FinishedAt time.Time
	Events     []labTaskEvent
}

type labTaskEvent struct {
	Type           string
	ExitCode       int
	DisplayMessage string
}

func (a *labAlloc) lost() bool { return a.ClientStatus == "lost" || a.ClientStatus == "unknown" }

// ended: all tasks are dead, or the profiler is: its files are final then.
func (a *labAlloc) ended() bool {
	return a.ClientStatus == "complete" || a.ClientStatus == "failed" || a.TaskStates[labTask].State == "dead"
}

// allocation returns the run's newest allocation, nil where there is none yet.
// Allocations of an earlier, purged job of the same name are not the run's.
func (l *labRun) allocation(ctx context.Context) (*labAlloc, error) {
	return l.w.newestAllocation(ctx, l.id)
}

func (w *World) newestAllocation(ctx context.Context, id cluster.JobID) (*labAlloc, error) {
	var list []labAlloc
	_, err := w.nomad.get(ctx, jobPath(id, "/allocations"), api.QueryOptions{
		Namespace: id.Namespace, Params: map[string]string{"all": "false"},
	}, &list)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	newest := slices.MaxFunc(list, func(a, b labAlloc) int {
		return cmp.Compare(a.CreateIndex, b.CreateIndex)
	})
	return &newest, nil
}

// unplaced says why Nomad has not placed the run, once it had its time to.
func (l *labRun) unplaced(ctx context.Context, since time.Duration) error {
	why, err := l.w.placementFailures(ctx, l.id)
	if err != nil {
		return wrap(err, "profiling run %s", l.id)
	}
	switch {
	case slices.Contains(why, "missing drivers"):
		return fmt.Errorf("node %s lacks a driver of the group or of the kernels: %w", l.request.Node.Name, ErrNotPlaced)
	case len(why) == 0 && since < labPlaceWithin:
		return nil
	case len(why) == 0:
		return fmt.Errorf("no allocation was placed on node %s within %s: %w", l.request.Node.Name, labPlaceWithin, ErrNotPlaced)
	case since < labPlaceWithin/3:
		return nil // something may be on its way out of the node
	default:
		return fmt.Errorf("node %s: %s: %w", l.request.Node.Name, strings.Join(why, ", "), ErrNotPlaced)
	}
}

// placementFailures are what a job bound to one node misses there, as its
// evaluations say.
func (w *World) placementFailures(ctx context.Context, id cluster.JobID) ([]string, error) {
	var evals []struct {
		CreateIndex    uint64
		Status         string
		FailedTGAllocs map[string]struct {
			NodesEvaluated     int
			ConstraintFiltered map[string]int
			DimensionExhausted map[string]int
		}
	}
	_, err := w.nomad.get(ctx, jobPath(id, "/evaluations"), api.QueryOptions{Namespace: id.Namespace}, &evals)
	if err != nil {
		return nil, err
	}
	var why []string
	for _, e := range evals {
		for _, failed := range e.FailedTGAllocs {
			for constraint := range failed.ConstraintFiltered {
				// Every other node fails the constraint to this one.
				if !strings.Contains(constraint, nodeIDTarget) {
					why = append(why, constraint)
				}
			}
			for dimension := range failed.DimensionExhausted {
				why = append(why, dimension+" exhausted")
			}
		}
	}
	slices.Sort(why)
	return slices.Compact(why), nil
}

func (l *labRun) reportProgress(ctx context.Context, allocID string) {
	b, err := l.w.readFile(ctx, l.id.Namespace, allocID, profiler.ProgressFile, maxProgressBytes)
	if err != nil || string(b) == l.progress {
		return // not written yet, or nothing new
	}
	p, err := profiler.ReadProgress(b)
	if err != nil {
		l.w.log.Debug("the progress of a profiling run is not taken", "run", l.request.ID, "error", err)
		return
	}
	l.progress = string(b)
	l.remaining = time.Duration(p.RemainingSeconds * float64(time.Second))
	if l.w.opts.OnProgress != nil {
		l.w.opts.OnProgress(l.request.ID, p)
	}
	switch p.Phase {
	case profiler.PhaseRamp:
		l.advise(ctx, allocID)
	case profiler.PhaseDone:
		l.handOver(ctx, allocID)
	}
}

// advise shows what the run has measured to whoever asked for it, and passes on what that
// says. A run that is not reached goes on without.
func (l *labRun) advise(ctx context.Context, allocID string) {
	if l.request.Reviewer == nil {
		return
	}
	b, err := l.w.readFile(ctx, l.id.Namespace, allocID, profiler.SoFarFile, maxResultBytes)
	if err != nil || string(b) == l.sofar {
		return // not written yet, or nothing new
	}
	l.sofar = string(b)
	now, err := profiler.ReadSoFar(b)
	if err == nil {
		err = CheckProfile(now.Profile, l.request)
	}
	if err != nil {
		l.w.log.Debug("what a profiling run has measured so far is not looked at", "run", l.request.ID, "error", err)
		return
	}
	advice := l.request.Reviewer.Review(now)
	text := profiler.AdviceSignal(advice)
	if advice.Sources == nil || text == l.advice {
		return
	}
	body := struct{ Signal, Task string }{text, labTask}
	if err := l.w.nomad.write(ctx, "/v1/client/allocation/"+url.PathEscape(allocID)+"/signal", l.id.Namespace, body, nil); err != nil {
		l.w.log.Debug("a profiling run could not be advised", "run", l.request.ID, "error", err)
		return
	}
	l.advice = text
}

// handOver reads the result of a run that says it is done. The file is written
// before the word, so it is final; what cannot be read now is read at the end.
func (l *labRun) handOver(ctx context.Context, allocID string) {
	if p, err := l.readProfile(ctx, allocID); err == nil && p.Complete {
		l.early(p)
	}
}

// readFile reads a result of an allocation, which is refused where it is larger than most.
func (w *World) readFile(ctx context.Context, namespace, allocID, name string, most int64) ([]byte, error) {
	var out []byte
	q := api.QueryOptions{Namespace: namespace, Params: map[string]string{"path": profiler.ResultDir + "/" + name}}
	err := w.nomad.stream(ctx, "/v1/client/fs/cat/"+url.PathEscape(allocID), q, func(r io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(r, most+1))
		return err
	})
	if err == nil && int64(len(out)) > most {
		return nil, fmt.Errorf("%s is larger than %d KiB", name, most>>10)
	}
	return out, err
}

// cutShort ends a run whose time is over: it is stopped, given a moment to write
// what it has, and read.
func (l *labRun) cutShort(ctx context.Context) (profile.Profile, error) {
	why := fmt.Errorf("profiling run %s was cut short: %w", l.request.ID, ctx.Err())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), labStopWithin)
	defer cancel()
	alloc, err := l.allocation(ctx)
	if err != nil || alloc == nil || alloc.lost() {
		return profile.Profile{}, why
	}
	if err := l.w.deregister(ctx, l.id, false); err != nil {
		return profile.Profile{}, errors.Join(why, err)
	}
	for alloc != nil && !alloc.ended() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-l.w.clock.After(labPoll):
		}
		if alloc, err = l.allocation(ctx); err != nil {
			return profile.Profile{}, errors.Join(why, err)
		}
	}
	if alloc == nil {
		return profile.Profile{}, why
	}
	p, err := l.readProfile(ctx, alloc.ID)
	if err != nil {
		l.w.log.Debug("a profiling run that was cut short wrote no profile", "run", l.request.ID, "error", err)
	}
	return p, why
}

// remove takes the run's job away, also when the caller's context has ended. What it
// cannot remove, Sweep will, of this leader or of the next.
func (l *labRun) remove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin+requestTimeout)
	defer cancel()
	if err := l.w.RemoveJob(ctx, l.id); err != nil {
		l.w.log.Warn("profiling run not removed, the next sweep tries again", "job", l.id.String(), "error", err)
	}
}

// Runs lists the profiling jobs made here that are not stopped.
func (w *World) Runs(ctx context.Context) (map[string]cluster.NodeID, error) {
	stubs, err := w.listRuns(ctx)
	out := make(map[string]cluster.NodeID, len(stubs))
	for _, s := range stubs {
		if !s.Stop {
			out[s.Meta[metaProfileID]] = cluster.NodeID(s.Meta[metaNode])
		}
	}
	return out, err
}

// listRuns reads the profiling jobs made here.
func (w *World) listRuns(ctx context.Context) ([]jobStub, error) {
	var stubs []jobStub
	_, err := w.nomad.get(ctx, "/v1/jobs", api.QueryOptions{
		Namespace: allNamespaces, Prefix: labJobPrefix, Params: map[string]string{"meta": "true"},
	}, &stubs)
	if err != nil {
		return nil, wrap(err, "profiling runs")
	}
	return slices.DeleteFunc(stubs, func(s jobStub) bool { return s.Meta[metaOwner] != w.opts.Owner }), nil
}

// Sweep removes profiling jobs made here whose id is not in keep, and transfers without
// a recipient.
func (w *World) Sweep(ctx context.Context, keep map[string]bool) error {
	stubs, err := w.listRuns(ctx)
	if err != nil {
		return err
	}
	failures := []error{w.sweepTransfers(ctx)}
	for _, s := range stubs {
		if keep[s.Meta[metaProfileID]] || w.kernelRuns.has(s.Meta[metaProfileID]) {
			continue
		}
		id := cluster.JobID{Namespace: s.Namespace, ID: s.ID}
		if err := w.RemoveJob(ctx, id); err != nil {
			failures = append(failures, err)
			continue
		}
		w.log.Info("left-over profiling run removed", "job", id.String())
	}
	return errors.Join(failures...)
}
