package profiling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

type runResult struct {
	profile profile.Profile
	err     error
}

// errHoldOver is the cause of a run cut short by the hold deadline.
var errHoldOver = errors.New("cut short by the hold deadline")

// before returns a context that ends at limit on the engine's clock.
func (l *Lab) before(ctx context.Context, limit time.Time) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-ctx.Done():
		case <-l.cfg.Clock.After(limit.Sub(l.cfg.Clock.Now())):
			cancel(errHoldOver)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// runAll runs the requests side by side and returns their results as soon as
// all are known; the runs are cleaned up behind, and only then are the nodes
// released for the next profile.
func (l *Lab) runAll(ctx context.Context, requests []cluster.ProfileRequest, limit time.Time, t *journal.Tracker, release func()) []runResult {
	ctx, cancel := l.before(ctx, limit)
	results := make([]runResult, len(requests))
	var known, ended sync.WaitGroup
	lanes := map[string][]oneRun{}
	for i, r := range requests {
		known.Add(1)
		var once sync.Once
		result := func(p profile.Profile, err error) {
			once.Do(func() {
				results[i] = runResult{resultOf(p, r), err}
				known.Done()
			})
		}
		l.mu.Lock()
		l.runs[r.ID] = t
		l.mu.Unlock()
		lane := cmp.Or(r.Node.Machine, string(r.Node.ID))
		lanes[lane] = append(lanes[lane], func(before error) error {
			if hopeless(before) {
				l.forgetRun(r.ID)
				result(profile.Profile{}, nil) // the first has said why
				return before
			}
			r.OnResult = func(p profile.Profile) { result(p, nil) }
			p, err := l.runOne(ctx, r, limit)
			result(p, err)
			return err
		})
	}
	for _, lane := range lanes {
		ended.Go(func() { oneByOne(lane) })
	}
	l.ending.Go(func() {
		defer cancel()
		ended.Wait()
		release()
	})
	known.Wait()
	return results
}

// oneRun is a run on a node; before is how the one before it there ended.
type oneRun func(before error) error

// oneByOne makes the runs of one machine, which must not interfere with each other, in
// order.
func oneByOne(lane []oneRun) {
	var before error
	for _, run := range lane {
		before = run(before)
	}
}

// hopeless: after this no further run on the node can succeed.
func hopeless(err error) bool {
	for _, end := range []error{cluster.ErrWorkloadFailed, cluster.ErrNodeLost, cluster.ErrGone, cluster.ErrStale} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

func (l *Lab) forgetRun(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, id)
}

// resultOf is what a run says of the workload.
func resultOf(p profile.Profile, r cluster.ProfileRequest) profile.Profile {
	p.Workload = r.Workload.ID.String() // whose profile it is, is not the run's word
	if r.Reviewer != nil {
		p.Ended = r.Reviewer.Ended()
	}
	switch {
	case r.Purpose == cluster.PurposeSize:
		return asScalePoint(p, r)
	case r.Purpose == cluster.PurposeInterference && r.Scales:
		p.ScaleUp = pointsOf(p, r)
	}
	return p
}

func (l *Lab) runOne(ctx context.Context, r cluster.ProfileRequest, limit time.Time) (profile.Profile, error) {
	var p profile.Profile
	err := l.inTime(r, limit)
	if err == nil {
		p, err = l.cfg.World.Profile(ctx, r)
	}
	if err != nil && errors.Is(context.Cause(ctx), errHoldOver) {
		err = fmt.Errorf("%w: %w", errHoldOver, err)
	}
	l.forgetRun(r.ID)
	return p, err
}

// mergeRuns folds the runs into one profile; the first run, next to kernels, is
// the base. nil means that nothing was measured.
func mergeRuns(results []runResult) (*profile.Profile, []error) {
	var merged *profile.Profile
	var failed []error
	for _, r := range results {
		if r.err != nil {
			failed = append(failed, r.err)
		}
		if len(r.profile.Isolated) == 0 && len(r.profile.Sensitivity.Caused) == 0 && len(r.profile.ScaleUp) == 0 {
			continue
		}
		if merged == nil {
			merged = &r.profile
			continue
		}
		both, err := store.Merge(*merged, r.profile)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		merged = &both
	}
	if merged != nil {
		merged.Complete = len(failed) == 0 && merged.Complete
	}
	return merged, failed
}

// isolatedTakes is the least time in which a run in isolation can begin, measure and be read
// (chosen by us: a copy starts in a few seconds).
const isolatedTakes = (isolatedSeconds + 4) * time.Second

// inTime refuses a run at another size that could not end before the hold
// deadline: it waits for its turn on its node.
func (l *Lab) inTime(r cluster.ProfileRequest, limit time.Time) error {
	if r.Purpose == cluster.PurposeSize && l.cfg.Clock.Now().Add(isolatedTakes).After(limit) {
		return fmt.Errorf("%s with %s: %w", r.Node.Name, wording.Count(r.Size.Cores, "core"), errNoTime)
	}
	return nil
}

// asScalePoint is the result of a run in isolation at another size: a point of the
// workload's scale-up, and nothing else. The run says itself how many CPUs it had.
func asScalePoint(p profile.Profile, r cluster.ProfileRequest) profile.Profile {
	points := pointsOf(p, r)
	p.Machine = profile.Machine{} // the profile's is that of the interference run
	p.Isolated, p.ScaleUp, p.Ramp, p.CPUShareIsolated = nil, points, nil, nil
	p.Sensitivity.Tolerated, p.Sensitivity.Caused = nil, nil
	return p
}

// pointsOf is the scale-up of a run by its performance in isolation.
func pointsOf(p profile.Profile, r cluster.ProfileRequest) []profile.ScalePoint {
	isolated, ok := p.Isolated[r.Node.Configuration]
	cores := cmp.Or(len(p.Machine.CPUs), r.Size.Cores)
	if !ok || cores == 0 {
		return nil
	}
	return []profile.ScalePoint{{Cores: cores, MemoryMB: int64(r.Size.MemoryMB), Speed: isolated}}
}
