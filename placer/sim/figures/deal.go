package figures

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// batch are runs of a scenario under a seed that are still to be made. They share what they can:
// the jobs, and what classifiers say of them.
type batch struct {
	input  *input
	shared func() (*scenario.Shared, error)
	left   []int // of the runner's jobs
	begun  bool
}

// dealer hands out runs: to who made one the next of the same batch, to who has none left a batch
// that nobody has begun, and where there is none a run of any batch. What a batch shares is
// freed after its last run.
type dealer struct {
	mutex   sync.Mutex
	batches []*batch // with runs left
}

// deal makes batches of runs, in their order.
func (r *runner) deal(missing []int) *dealer {
	d := &dealer{}
	of := map[job]*batch{}
	policies := map[*batch][]string{}
	for _, i := range missing {
		at := r.jobs[i]
		name := at.policy
		at.policy = ""
		b := of[at]
		if b == nil {
			b = &batch{input: r.files[at.scenario]}
			of[at] = b
			d.batches = append(d.batches, b)
		}
		b.left = append(b.left, i)
		policies[b] = append(policies[b], name)
	}
	for at, b := range of {
		b.shared = b.input.sharing(at.seed, policies[b])
	}
	return d
}

// sharing prepares the runs of some policies when the first is made.
func (in *input) sharing(seed uint64, policies []string) func() (*scenario.Shared, error) {
	return sync.OnceValues(func() (*scenario.Shared, error) {
		return in.scenario.Share(scenario.Options{Policies: policies, Seeds: []uint64{seed}})
	})
}

// next is the run that comes after one of a batch; nil: there is none.
func (d *dealer) next(after *batch) (b *batch, run int) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if b = d.choose(after); b == nil {
		return nil, 0
	}
	b.begun = true
	run, b.left = b.left[0], b.left[1:]
	if len(b.left) == 0 {
		d.batches = slices.DeleteFunc(d.batches, func(of *batch) bool { return of == b })
	}
	return b, run
}

func (d *dealer) choose(after *batch) *batch {
	if after != nil && len(after.left) > 0 {
		return after
	}
	for _, b := range d.batches {
		if !b.begun {
			return b
		}
	}
	if len(d.batches) > 0 {
		return d.batches[0]
	}
	return nil
}

// play makes a run, of which is said what it is called.
func (in *input) play(ctx context.Context, shared func() (*scenario.Shared, error), k kept, now func() time.Time) (kept, error) {
	begun := now()
	runs, err := shared()
	if err == nil {
		k.Lines, err = runs.Play(ctx, k.Policy)
	}
	k.HostSeconds = now().Sub(begun).Seconds()
	switch {
	case err == nil:
	case in.tolerant && tolerated(ctx, err):
		k.Failed = err.Error()
	default:
		return k, fmt.Errorf("figures: %s: %w", k.Scenario, err)
	}
	return k, nil
}
