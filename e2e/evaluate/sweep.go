package main

import (
	"context"
	"fmt"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
)

// sweepClass are the nodes a sweep runs on: the best there are.
const sweepClass = "fast-.*"

// sweep is what an application does alone at each of its sizes.
type sweep struct {
	Job   string  `json:"job"`
	Sizes []swept `json:"sizes"` // least resources first
}

type swept struct {
	Size    size    `json:"size"`
	Outcome outcome `json:"outcome"`
}

// best is the place of the least size that met the target; false where none did.
func (s sweep) best() (int, bool) {
	for i, one := range s.Sizes {
		if one.Outcome.Met {
			return i, true
		}
	}
	return 0, false
}

// steps is how many sizes lie between the chosen and the best; negative is too
// little.
func (s sweep) steps(chosen size) (int, bool) {
	best, ok := s.best()
	if !ok {
		return 0, false
	}
	for i, one := range s.Sizes {
		if one.Size.Count == chosen.Count && (one.Size.MemoryMB == 0 || one.Size.MemoryMB == chosen.MemoryMB) {
			return i - best, true
		}
	}
	return 0, false
}

// sweepSizes runs one application alone at every size.
func (e *evaluation) sweepSizes(ctx context.Context, a app, known alone) (sweep, error) {
	out := sweep{Job: a.name}
	for _, s := range a.sizes() {
		e.progress.begin("size", fmt.Sprintf("sizes: %s in isolation with %s", a.name, s))
		o, err := e.atSize(ctx, a, known, s)
		if err != nil {
			return out, err
		}
		out.Sizes = append(out.Sizes, swept{s, o})
	}
	return out, nil
}

func (s size) String() string {
	text := fmt.Sprintf("%d allocations", s.Count)
	if s.Count == 1 {
		text = "1 allocation"
	}
	if s.MemoryMB > 0 {
		text += fmt.Sprintf(" of %d MB", s.MemoryMB)
	}
	return text
}

// atSize runs an application alone at one size, placed by stock Nomad.
func (e *evaluation) atSize(ctx context.Context, a app, known alone, s size) (outcome, error) {
	f, err := e.render(a, known, variant{where: sweepClass, count: s.Count, memoryMB: s.MemoryMB})
	if err != nil {
		return outcome{}, err
	}
	o := outcome{Target: f.Spec.Target.String()}
	err = e.whileSubmitted(ctx, []rig.JobFile{f}, func(context.Context) error { return e.rig.SubmitStock(f) }, func(ctx context.Context) error {
		if err := e.waitRunning(ctx, []rig.JobFile{f}); err != nil {
			o.Missing = err.Error() // too little to start with
			return ctx.Err()
		}
		if err := cluster.Sleep(ctx, e.plan.Settle); err != nil {
			return err
		}
		o = e.measure(ctx, a, f, e.plan.AloneWindow)
		return ctx.Err()
	})
	return o, err
}
