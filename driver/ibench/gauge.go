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
	g := &rigGauge{descriptor: d, rig: r, peak: setup.Calibration.PeakOpsPerSec}
	err = f(g, slices.Concat(r.load.Notes, unnoticed))
	return errors.Join(err, r.end())
}

func withOccupancy(ctx context.Context, d Descriptor, setup Setup, f func(g gauge, notes []string) error) error {
	return onPinnedThread(setup.CPUs, func() error {
		g, notes, err := openOccupancy(ctx, d, setup)
		if err != nil {
			return err
		}
		if _, err = g.impact(ctx, 100); err == nil {
			err = f(g, notes)
		}
		return errors.Join(err, g.Close())
	})
}

// rigGauge measures a kernel as it runs.
type rigGauge struct {
	descriptor Descriptor
	rig        *rig
	peak       float64 // operations per second
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
	done, err := g.rig.measure(ctx, knobPercent/100, g.descriptor.Dwell)
	if err != nil {
		return 0, 0, err
	}
	if g.descriptor.Knob != Footprint {
		return 100 * done.opsPerSec(g.rig.load.Threads) / g.peak, done.wall, nil
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

// probeSet is a working set as large as the capacity that a footprint kernel
// presses on. Walking it shows how much of it the kernel has displaced, as a
// workload of that size would notice.
type probeSet interface {
	// lines is its size.
	lines() int
	// prime fetches every line, in one order.
	prime()
	// recall touches every line in the opposite order: so no line that it has
	// to fetch again displaces one that it has yet to touch.
	recall()
	Close() error
}

// occupancyGauge measures a footprint kernel by what a probe set loses: the
// share of its lines that the kernel displaces, as the time to recall them
// tells. Kernel and probe take turns on one pinned thread.
type occupancyGauge struct {
	descriptor Descriptor
	setup      Setup
	worker     Worker
	probe      probeSet
	load       *Load
}

func openOccupancy(ctx context.Context, d Descriptor, setup Setup) (g *occupancyGauge, notes []string, err error) {
	load, err := d.New(ctx, setup)
	if err != nil {
		return nil, nil, err
	}
	g = &occupancyGauge{descriptor: d, setup: setup, load: load}
	if g.worker, err = load.Worker(0); err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	if g.probe, err = d.Probe(setup); err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	return g, load.Notes, nil
}

// Close frees kernel and probe.
func (g *occupancyGauge) Close() error {
	var errs []error
	if g.worker != nil {
		errs = append(errs, g.worker.Close())
	}
	if g.probe != nil {
		errs = append(errs, g.probe.Close())
	}
	if g.load.Close != nil {
		errs = append(errs, g.load.Close())
	}
	return errors.Join(errs...)
}

// The samples of one level: as many as fit into the kernel's dwell, and a few
// at least.
const occupancySamples = 3

// noticed is by how much the recall must be slower after the kernel at 100, for
// a share of it to be told from noise.
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

// reach is the share that the kernel displaces at 100, of what a walk over
// twice the capacity displaces.
func (g *occupancyGauge) reach(ctx context.Context) (percent float64, err error) {
	double := g.setup
	double.Calibration.CapacityBytes *= 2
	flood, err := g.descriptor.Probe(double)
	if err != nil {
		return 0, err
	}
	defer closeQuietly(flood)
	percent, err = g.displaced(ctx, g.walked(1), func() error { flood.prime(); return nil })
	return min(100, max(0, percent)), err
}

// displaced compares the recall after some pressure with those after none and
// after all.
func (g *occupancyGauge) displaced(ctx context.Context, some, all func() error) (percent float64, err error) {
	conditions := []func() error{func() error { return nil }, some, all}
	times := make([][]float64, len(conditions))
	for begin := time.Now(); len(times[0]) < occupancySamples || time.Since(begin) < g.descriptor.Dwell; {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for i, press := range conditions {
			took, err := g.recallAfter(press)
			if err != nil {
				return 0, err
			}
			times[i] = append(times[i], float64(took))
		}
	}
	low, mid, high := midmean(times[0]), midmean(times[1]), midmean(times[2])
	if high < noticed*low {
		return 0, errUnnoticed
	}
	return 100 * (mid - low) / (high - low), nil
}

// recallAfter returns how long the recall takes after the pressure.
func (g *occupancyGauge) recallAfter(press func() error) (time.Duration, error) {
	g.probe.prime()
	if err := press(); err != nil {
		return 0, err
	}
	begin := time.Now()
	g.probe.recall()
	return time.Since(begin), nil
}

// walked lets the kernel walk over its footprint at a knob, 0..1.
func (g *occupancyGauge) walked(knob float64) func() error {
	return func() error {
		if knob <= 0 {
			return nil
		}
		g.worker.Tune(knob, 0)
		lines := max(occupancyPasses*knob*float64(g.probe.lines()), occupancyLines)
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
