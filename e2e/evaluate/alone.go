package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The reservations a user who has measured the job would write: what it used, for
// the speed it must have, and a reserve.
const (
	reserveFactor  = 1.2
	cpuStepMHz     = 50
	memoryStepMB   = 16
	leastMemoryMB  = 32
	bestEffortMHz  = 100
	unknownCPUMHz  = 200 // until it was measured
	unknownMemory  = 300
	usageEvery     = time.Second
	calibrateClass = "fast-a" // the class of the node everything is measured alone on
)

// alone is what an application did alone on the fastest node, with nothing that
// bounds it.
type alone struct {
	RatePerSec float64                `json:"rate_per_sec"`
	TailMillis float64                `json:"tail_millis,omitempty"`
	Tasks      map[string]rig.TaskUse `json:"tasks"`
	Reserved   map[string]resource    `json:"reserved"`
	// StolenPercent of the CPU time a host gave to its other guests meanwhile; nil is
	// not known.
	StolenPercent *float64 `json:"stolen_percent,omitempty"`
	ClockMHz      int      `json:"clock_mhz,omitempty"` // of one CPU; 0 is not known
	// Times that it was measured; the one of the least CPU time per unit of work counts.
	Times int `json:"times"`
}

type resource struct {
	CPUMHz   int `json:"cpu_mhz"`
	MemoryMB int `json:"memory_mb"`
}

// reserved is the fixed reservation of a task.
func (k alone) reserved(a app, task string) resource {
	use, ok := k.Tasks[task]
	if !ok {
		return resource{unknownCPUMHz, unknownMemory}
	}
	share := 1.0
	switch {
	case a.kind == performance.QPS && k.RatePerSec > 0:
		share = k.rate(a) / k.RatePerSec
	case a.share > 0:
		share = min(1, a.share) // of one allocation at its full speed
	}
	r := resource{
		CPUMHz:   stepUp(use.CPUMHz*share*reserveFactor, cpuStepMHz),
		MemoryMB: max(leastMemoryMB, stepUp(use.MemoryMB*reserveFactor, memoryStepMB)),
	}
	if a.kind == performance.BestEffort {
		r.CPUMHz = bestEffortMHz
	}
	return r
}

// rate is what is asked of a service: what takes its share of a CPU on this machine, so that
// all jobs have room on a slow one, too.
func (k alone) rate(a app) float64 {
	perUnit := k.perUnit()
	if !(perUnit > 0) || math.IsInf(perUnit, 1) || k.ClockMHz == 0 {
		return a.rate // not measured yet
	}
	return rounded(a.share * float64(k.ClockMHz) / perUnit)
}

func stepUp(v float64, step int) int { return max(1, int(math.Ceil(v/float64(step)))) * step }

// stockCount is how many allocations a user who has measured one asks for.
func (a app) stockCount() int {
	if a.kind == performance.QPS {
		return 1
	}
	return max(1, int(math.Ceil(a.share*reserveFactor)))
}

// work is how much a batch job has to do.
func (k alone) work(a app, p plan) int {
	if a.kind != performance.FinishWithin || !(k.RatePerSec > 0) {
		return 1_000_000
	}
	return int(k.RatePerSec * a.share * p.BatchWithin.Seconds())
}

// better is the one of two measurements in which a unit of work took less CPU time: what
// others do on the host of the machine, and how warm its processor is, only adds to it.
func (k alone) better(than alone) alone {
	out, other := k, than
	if !(k.perUnit() < than.perUnit()) {
		out, other = than, k
	}
	out.Times += other.Times
	return out
}

// perUnit is the CPU time of a unit of work, in MHz·s; infinite where there is none.
func (k alone) perUnit() float64 {
	if !(k.RatePerSec > 0) {
		return math.Inf(1)
	}
	sum := 0.0
	for _, use := range k.Tasks {
		sum += use.CPUMHz
	}
	return sum / k.RatePerSec
}

// measureAlone runs one application alone, placed by stock Nomad on the fastest
// node.
func (e *evaluation) measureAlone(ctx context.Context, a app) (alone, error) {
	f, err := e.render(a, alone{}, variant{where: calibrateClass, unsized: true})
	if err != nil {
		return alone{}, err
	}
	out := alone{Times: 1, ClockMHz: cluster.CoreMHz("/")}
	err = e.whileRunning(ctx, []rig.JobFile{f}, func(ctx context.Context) error { return e.rig.SubmitStock(f) }, func(ctx context.Context) error {
		if err := cluster.Sleep(ctx, e.plan.Settle); err != nil {
			return err
		}
		m, err := e.rig.StartMeter(ctx, f.ID)
		if err != nil {
			return err
		}
		looking, stop := context.WithCancel(ctx)
		defer stop()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for cluster.Sleep(looking, usageEvery) == nil {
				m.Look()
			}
		}()
		before := machine.StolenNow()
		o := e.measure(ctx, a, f, e.plan.AloneWindow)
		out.StolenPercent = machine.StolenNow().PercentSince(before)
		stop()
		<-done
		if out.Tasks, err = m.Stop(); err != nil {
			return err
		}
		out.RatePerSec, out.TailMillis = o.RatePerSec, o.TailMillis
		if o.Missing != "" {
			return fmt.Errorf("%s in isolation: %s", a.name, o.Missing)
		}
		return nil
	})
	if err != nil {
		return alone{}, err
	}
	out.Reserved = map[string]resource{}
	for _, task := range a.allTasks() {
		if _, ok := out.Tasks[task]; !ok {
			return alone{}, fmt.Errorf("%s in isolation: Nomad does not report what task %s uses", a.name, task)
		}
		out.Reserved[task] = out.reserved(a, task)
	}
	return out, nil
}
