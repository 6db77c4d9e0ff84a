package ibench

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// gauge measures the impact of a knob, both in percent.
type gauge interface {
	impact(ctx context.Context, knobPercent float64) (float64, error)
}

// errUnnoticed is why a probe set is no gauge on this machine.
var errUnnoticed = errors.New("a working set of the same size does not notice the kernel on this machine: its impact is taken as what it walks")

// withGauge calls f with the best gauge that the kernel has on this machine,
// and with the kernel's notes.
func withGauge(ctx context.Context, d Descriptor, setup Setup, f func(g gauge, notes []string) error) error {
	var unnoticed []string
	if d.Probe != nil {
		err := withOccupancy(ctx, d, setup, f)
		if !errors.Is(err, errUnnoticed) {
			return err
		}
		unnoticed = []string{errUnnoticed.Error()}
	}
	r, err := openRig(ctx, d, setup)
	if err != nil {
		return err
	}
	g := &rigGauge{descriptor: d, rig: r}
	if d.Knob == Duty {
		g.tempo = StartTempo()
		defer func() { _ = g.tempo.Close() }() // it cannot fail
	}
	err = f(g, slices.Concat(r.load.Notes, unnoticed))
	return errors.Join(err, r.end())
}

func withOccupancy(ctx context.Context, d Descriptor, setup Setup, f func(g gauge, notes []string) error) error {
	return onPinnedThread(setup.CPUs, func() error {
		g, notes, err := openOccupancy(ctx, d, setup)
		if err != nil {
			return err
		}
		begin := time.Now()
		if _, err = g.impact(ctx, 100); err == nil {
			g.took = time.Since(begin)
			err = f(g, notes)
		}
		return errors.Join(err, g.Close())
	})
}

// rigGauge measures a kernel as it runs.
type rigGauge struct {
	descriptor Descriptor
	rig        *rig
	tempo      *Tempo  // nil unless the kernel's speed is that of the core
	usual      float64 // the first tempo seen
}

// A measurement during which the kernel waited for a CPU longer than this is
// made again, up to so many times; the least disturbed one counts.
const (
	waitedMax    = 0.01 // share of the time
	waitedRounds = 4
)

func (g *rigGauge) impact(ctx context.Context, knobPercent float64) (impactPercent float64, err error) {
	least := math.Inf(1)
	for range waitedRounds {
		before := g.rig.waited()
		impact, wall, err := g.once(ctx, knobPercent)
		if err != nil {
			return 0, err
		}
		waited := float64(g.rig.waited()-before) / float64(max(wall, 1))
		if waited < least {
			least, impactPercent = waited, impact
		}
		if least <= waitedMax {
			break
		}
	}
	return impactPercent, nil
}

// once measures one dwell; wall is the time of all threads together. The
// impact of rate and duty kernels is the share of the peak reached. Footprint
// kernels: the share of the capacity that is occupied, where the kernel can
// tell; else the share of the capacity walked, times the share of the refreshes
// it was meant to get.
func (g *rigGauge) once(ctx context.Context, knobPercent float64) (impactPercent float64, wall time.Duration, err error) {
	begun := time.Now()
	done, err := g.rig.measure(ctx, knobPercent/100, g.descriptor.Dwell)
	if err != nil {
		return 0, 0, err
	}
	if g.descriptor.Knob != Footprint {
		threads := g.rig.load.Threads
		share := done.opsPerSec(threads) / (g.rig.peakPerThread() * float64(threads))
		return 100 * share * g.slowness(begun, time.Now()), done.wall, nil
	}
	if occupied := g.rig.load.Occupied; occupied != nil {
		share, err := occupied()
		return 100 * share, done.wall, err
	}
	if done.demandOps <= 0 {
		return 0, done.wall, nil // nothing is walked
	}
	return knobPercent * min(1, done.ops/done.demandOps), done.wall, nil
}

// slowness is by how much slower than usual the core was clocked: a duty kernel
// that did less then was not busy for a shorter time.
func (g *rigGauge) slowness(from, to time.Time) float64 {
	if g.tempo == nil {
		return 1
	}
	tempo := g.tempo.Mean(from, to)
	switch {
	case math.IsNaN(tempo):
		return 1
	case g.usual == 0:
		g.usual = tempo
	}
	return g.usual / tempo
}

// waited is how long the workers have waited for a CPU so far: the second
// number of their schedstat (proc_pid_schedstat, Linux Documentation/scheduler).
// A machine that keeps no such statistics shows none.
func (r *rig) waited() time.Duration {
	sum := time.Duration(0)
	for _, t := range r.threads {
		text, err := readText(filepath.Join("/proc/self/task", strconv.Itoa(t.tid), "schedstat"))
		if err != nil {
			continue
		}
		if fields := strings.Fields(text); len(fields) > 1 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64) // no number is no statistic
			sum += time.Duration(ns)
		}
	}
	return sum
}

// probeSet is a working set in the capacity that a footprint kernel puts pressure on.
// Walking it shows how much of it the kernel has displaced, as a workload would
// notice.
type probeSet interface {
	// lines is the size of the capacity that it was made for.
	lines() int
	// prime fetches every line, in one order.
	prime()
	// recall touches every line in the opposite order: so no line that it has
	// to fetch again displaces one that it has yet to touch.
	recall()
	Close() error
}

// screened is a probe set of a cache with others below it. What those hold of
// the set is no concern of the kernel, but they give it away to whoever walks:
// so they are filled with something else before each recall.
type screened interface{ screen() }

// occupancyGauge measures a footprint kernel by what a probe set loses: the
// share of its lines that the kernel displaces, as the time to recall them
// tells. Kernel and probe take turns on one pinned thread.
type occupancyGauge struct {
	descriptor Descriptor
	setup      Setup
	worker     Worker
	probes     []probeSet // taken in turn
	lines      int        // of the capacity
	load       *Load
	took       time.Duration // to measure one level, about
}

// probesInTurn are as many sets at other addresses, whose mean counts: caches
// place and replace lines by their addresses, and the share that one set loses
// differs from that of another by up to 20 points (measured for the L1
// instruction cache). Of large sets there are fewer, as their walks take long;
// they have more lines to even it out.
const (
	probesInTurn  = 5
	probeLinesMax = 128 << 10 // of all sets together, if there are several
)

func openOccupancy(ctx context.Context, d Descriptor, setup Setup) (g *occupancyGauge, notes []string, err error) {
	// A kernel that puts pressure on a core runs on the workload's own CPU where cores
	// have no second hardware thread, and may walk another way there.
	if info, ok := interference.Info(d.Source); ok && info.Scope == interference.ScopeCore {
		setup.Same = !setup.Machine.SMT()
	}
	load, err := d.New(ctx, setup)
	if err != nil {
		return nil, nil, err
	}
	g = &occupancyGauge{descriptor: d, setup: setup, load: load}
	if g.worker, err = load.Worker(0); err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	for total := 0; len(g.probes) == 0 || len(g.probes) < probesInTurn && total < probeLinesMax; {
		each := setup
		each.Seed += uint64(len(g.probes))
		p, err := d.Probe(each)
		if err != nil {
			return nil, nil, errors.Join(err, g.Close())
		}
		g.probes = append(g.probes, p)
		g.lines = p.lines()
		total += g.lines
	}
	return g, load.Notes, nil
}

// Close frees kernel and probe.
func (g *occupancyGauge) Close() error {
	var errs []error
	if g.worker != nil {
		errs = append(errs, g.worker.Close())
	}
	for _, p := range g.probes {
		errs = append(errs, p.Close())
	}
	if g.load.Close != nil {
		errs = append(errs, g.load.Close())
	}
	return errors.Join(errs...)
}

// The samples of one level: as many as fit into occupancyDwell, and a few at
// least. They come in blocks of one condition, whose first is not counted: what
// a kernel displaces depends on how many of its own lines it still finds, and a
// workload meets it again and again at one level.
const (
	occupancyDwell   = 10 * time.Millisecond
	occupancySamples = 2
	occupancyBlock   = 2
)

// noticed is by how much the recall must be slower after the kernel at 100, for
// a share of it to be distinguishable from noise.
const noticed = 1.1

// What a kernel displaces is settled after some passes over its footprint, and
// for a small one after so many lines: instruction walks need all their orders.
const (
	occupancyPasses = 3
	occupancyLines  = 16 << 10
)

// impact is the share that the kernel displaces at a knob, of what it displaces
// at 100. Nothing, the knob and all take turns, so that a drift of the machine
// changes the three alike.
func (g *occupancyGauge) impact(ctx context.Context, knobPercent float64) (float64, error) {
	return g.displaced(ctx, g.walked(knobPercent/100), g.walked(1))
}

// reach is the share that the kernel displaces at 100, of what one with twice
// the capacity displaces.
func (g *occupancyGauge) reach(ctx context.Context) (percent float64, err error) {
	double := g.setup
	double.Calibration.CapacityBytes *= 2
	flood := &occupancyGauge{descriptor: g.descriptor, setup: double, lines: 2 * g.lines}
	if flood.load, err = g.descriptor.New(ctx, double); err != nil {
		return 0, err
	}
	flood.worker, err = flood.load.Worker(0)
	if err == nil {
		percent, err = g.displaced(ctx, g.walked(1), flood.walked(1))
	}
	return min(100, max(0, percent)), errors.Join(err, flood.Close())
}

// displaced compares the recall after some pressure with those after none and
// after all: the mean over the probe sets.
func (g *occupancyGauge) displaced(ctx context.Context, some, all func() error) (percent float64, err error) {
	conditions := []func() error{func() error { return nil }, some, all}
	times := make([][][]float64, len(g.probes)) // of each probe, by condition
	for i := range times {
		times[i] = make([][]float64, len(conditions))
	}
	last := times[len(times)-1]
	for begin := time.Now(); len(last[0]) < occupancySamples || time.Since(begin) < occupancyDwell; {
		for p, probe := range g.probes {
			for i, pressure := range conditions {
				took, err := recallBlock(ctx, probe, pressure)
				if err != nil {
					return 0, err
				}
				times[p][i] = append(times[p][i], took...)
			}
		}
	}
	var low, mid, high float64 // sums over the probes
	for _, t := range times {
		low, mid, high = low+midmean(t[0]), mid+midmean(t[1]), high+midmean(t[2])
	}
	if high < noticed*low {
		return 0, errUnnoticed
	}
	return 100 * (mid - low) / (high - low), nil
}

// recallBlock returns the times of some recalls after the pressure.
func recallBlock(ctx context.Context, probe probeSet, pressure func() error) ([]float64, error) {
	var out []float64
	for i := range occupancyBlock + 1 {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		took, err := recallAfter(probe, pressure)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, float64(took))
		}
	}
	return out, nil
}

// recallAfter returns how long the recall takes after the pressure.
func recallAfter(probe probeSet, pressure func() error) (time.Duration, error) {
	probe.prime()
	if err := pressure(); err != nil {
		return 0, err
	}
	if s, ok := probe.(screened); ok {
		s.screen()
	}
	begin := time.Now()
	probe.recall()
	return time.Since(begin), nil
}

// walked lets the kernel walk over its footprint at a knob, 0..1.
func (g *occupancyGauge) walked(knob float64) func() error {
	return func() error {
		if knob <= 0 {
			return nil
		}
		g.worker.Tune(knob, 0)
		lines := max(occupancyPasses*knob*float64(g.lines), occupancyLines)
		for done := 0.0; done < lines; {
			n, err := g.worker.Work(lines - done)
			if err != nil {
				return err
			}
			done += n
		}
		return nil
	}
}
