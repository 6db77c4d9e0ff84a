package validate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// probe looks how much of a unit a footprint kernel takes: it fills the unit,
// keeps still for a while, and times how long it takes to walk over it again
// (Osvik et al. 2006, §3.3). Lines that were displaced cost a miss each.
type probe struct {
	source interference.Source
	kind   string
	size   func(m ibench.Machine) int64
	stride int
	idle   time.Duration // longer than a beat of the kernel
}

// A probe keeps still for longer than a beat of the kernel, but not much: what
// else runs on its CPU meanwhile is counted as well. The beats are those of
// driver/ibench on the workload's CPU, and of its walk through the last-level
// cache.
const (
	idleL1  = 1200 * time.Microsecond // beats of 1 ms
	idleL2  = 5 * time.Millisecond    // of 4 ms, the TLB as well
	idleLLC = 25 * time.Millisecond   // of 10 ms
)

// probes lists the units that can be probed, in the order of the paper.
func probes() []probe {
	return []probe{
		{interference.LLCCapacity, "probe", shareOf(llc, shareOfLLC), 0, idleLLC},
		{interference.L2Capacity, "probe", shareOf(l2, shareOfCache), 0, idleL2},
		{interference.L1Instruction, "code-probe", fixed(codeBytes), 0, idleL1},
		{interference.L1Data, "probe", shareOf(l1, shareOfCache), 0, idleL1},
		{interference.TLB, "probe", fixed(tlbPages * pageBytes), pageBytes, idleL2},
	}
}

func probeOf(s interference.Source) (probe, bool) {
	for _, p := range probes() {
		if p.source == s {
			return p, true
		}
	}
	return probe{}, false
}

// measureDisplacement measures the share of a unit that is displaced at each
// intensity: 0 is what the probe finds with the kernel at 0, 100 what it finds
// when it displaces everything itself.
func (s *session) measureDisplacement(ctx context.Context, source interference.Source) (Displacement, error) {
	pr, ok := probeOf(source)
	if !ok {
		return Displacement{}, fmt.Errorf("source %s has no probe", source)
	}
	where := s.layout.kernelPlace(source)
	out := Displacement{Source: source, Probe: pr.kind, Placement: where.Name, UnitBytes: pr.size(s.machine)}
	t := &team{session: s}
	err := t.displaced(ctx, pr, where, &out)
	return out, errors.Join(err, t.end())
}

// minContrast is how much slower a walk over displaced lines must be for a
// share to be distinguishable (chosen by us: below it the noise of a walk is as large).
const minContrast = 1.15

func (t *team) displaced(ctx context.Context, pr probe, where place, out *Displacement) error {
	spec := worker.Spec{Kind: pr.kind, CPUs: []int{t.layout.victim}, Bytes: out.UnitBytes, Stride: pr.stride, Idle: pr.idle, Turns: where.Same}
	length := max(t.pace.probe, probesPerLevel*pr.idle)
	full := spec
	full.EvictSelf = true
	var err error
	if out.FullNs, err = t.fullProbe(ctx, full, length); err != nil {
		return err
	}
	k, err := t.kernel(ctx, pr.source, where)
	if err != nil {
		return err
	}
	w, err := t.worker(ctx, spec)
	if err != nil {
		return err
	}
	w.Run()
	if out.QuietNs, err = t.probeNs(ctx, w, length); err != nil {
		return err
	}
	distinct := out.FullNs >= minContrast*out.QuietNs
	for x := 0; x <= 100 && distinct; x += t.pace.victimStep {
		if err := t.setAndSettle(ctx, k, float64(x)); err != nil {
			return err
		}
		ns, err := t.probeNs(ctx, w, length)
		if err != nil {
			return fmt.Errorf("intensity %d: %w", x, err)
		}
		share := 100 * (ns - out.QuietNs) / (out.FullNs - out.QuietNs)
		out.Points = append(out.Points, LinearPoint{Intensity: float64(x), Impact: share})
	}
	out.judge(distinct)
	return nil
}

// probesPerLevel is the least number of probes behind a point.
const probesPerLevel = 16

// fullProbe measures what a walk costs when everything is displaced.
func (t *team) fullProbe(ctx context.Context, spec worker.Spec, length time.Duration) (Number, error) {
	w, err := t.bench.Worker(ctx, spec)
	if err != nil {
		return unknown, err
	}
	w.Run()
	ns, err := t.probeNs(ctx, w, length)
	return ns, errors.Join(err, w.Close())
}

// probeNs is the time of a probe per line.
func (t *team) probeNs(ctx context.Context, w subject, length time.Duration) (Number, error) {
	before, err := w.Read()
	if err != nil {
		return unknown, err
	}
	if err := t.bench.Sleep(ctx, length); err != nil {
		return unknown, err
	}
	after, err := w.Read()
	if err != nil {
		return unknown, err
	}
	if after.Ops <= before.Ops {
		return unknown, errors.New("the probe did not get to walk")
	}
	return Number((after.Nanoseconds - before.Nanoseconds) / (after.Ops - before.Ops)), nil
}

func (d *Displacement) judge(distinct bool) {
	d.RSquared, d.MaxGap = unknown, unknown
	if !distinct {
		d.Verdict = "not distinguishable: displaced lines are hardly slower here than others"
		return
	}
	d.RSquared, d.MaxGap = straightness(d.Points)
	top := d.Points[len(d.Points)-1].Impact
	switch {
	case top < gapMaxPoints:
		d.Verdict = verdictNoEffect
	default:
		d.Verdict = fmt.Sprintf("%.0f %% of the unit displaced at 100", float64(top))
	}
}
