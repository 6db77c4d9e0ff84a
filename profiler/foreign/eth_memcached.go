package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The course's objective for memcached: p95 below 1 ms.
const (
	memcachedPercentile = 95
	memcachedBound      = time.Millisecond
)

const (
	sweepCopy       = "an exact copy of another sweep"
	sweepNoBaseline = "the capacity without pressure is not known: no such sweep, or p95 does not cross 1 ms in it"
	sweepUnbounded  = "p95 stays within 1 ms at every load of a sweep under this kernel: the capacity is only bounded below"
)

// step is one load level of a sweep.
type step struct{ targetQPS, qps, p95Micros float64 }

// sweepKey is one run of the load generator over rising loads.
type sweepKey struct{ repository, kernel, run string }

func (k sweepKey) less(o sweepKey) int {
	return cmp.Or(cmp.Compare(k.repository, o.repository), cmp.Compare(k.kernel, o.kernel), cmp.Compare(k.run, o.run))
}

// cell is the capacities of memcached under one kernel.
type cell struct {
	known []float64 // requests/s
	// below are capacities under the lowest load measured: only bounded above.
	below []float64
	// above are capacities over the highest load measured. Leaving only them out
	// would make the others look typical, so they take the cell with them.
	above []float64
	rows  int
}

// readMemcached makes one profile per group: the load memcached serves within
// the latency bound, in isolation and under each kernel.
func readMemcached(r *reading, nodes map[ethNode]string) {
	t := r.table("memcached_under_ibench")
	sweeps := map[sweepKey][]step{}
	for _, row := range t.rows {
		k := sweepKey{ethRepository(row), ethInterference(row), row.Text("run")}
		sweeps[k] = append(sweeps[k], step{row.Positive("target_qps"), row.Positive("qps"), row.Positive("p95_us")})
	}
	if r.problems.Err() != nil {
		return
	}
	groups := map[string]map[string]*cell{}
	seen := map[string]bool{}
	for _, k := range slices.SortedFunc(maps.Keys(sweeps), sweepKey.less) {
		steps := sweeps[k]
		id := fmt.Sprint(k.repository, k.kernel, steps)
		if seen[id] {
			t.skip(len(steps), sweepCopy)
			continue
		}
		seen[id] = true
		if groups[k.repository] == nil {
			groups[k.repository] = map[string]*cell{}
		}
		if groups[k.repository][k.kernel] == nil {
			groups[k.repository][k.kernel] = &cell{}
		}
		groups[k.repository][k.kernel].add(steps)
	}
	for _, repository := range slices.Sorted(maps.Keys(groups)) {
		memcachedProfile(r, t, repository, groups[repository], nodes)
	}
}

func (c *cell) add(steps []step) {
	c.rows += len(steps)
	switch qps, side := capacity(steps); side {
	case capacityKnown:
		c.known = append(c.known, qps)
	case capacityBelow:
		c.below = append(c.below, qps)
	case capacityAbove:
		c.above = append(c.above, qps)
	}
}

// capacitySide says how a capacity lies to the number given with it.
type capacitySide int

const (
	capacityKnown capacitySide = iota
	capacityBelow              // at most that number
	capacityAbove              // at least that number
)

// capacity is the load at which p95 first crosses the bound as the load rises,
// on the line between the two steps around it. Loads are those achieved.
func capacity(steps []step) (float64, capacitySide) {
	steps = slices.Clone(steps)
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.targetQPS, b.targetQPS) })
	bound := float64(memcachedBound.Microseconds())
	for i, s := range steps {
		if s.p95Micros < bound {
			continue
		}
		if i == 0 {
			return s.qps, capacityBelow
		}
		last := steps[i-1]
		return last.qps + (s.qps-last.qps)*(bound-last.p95Micros)/(s.p95Micros-last.p95Micros), capacityKnown
	}
	return steps[len(steps)-1].qps, capacityAbove
}

func memcachedProfile(r *reading, t *table, repository string, cells map[string]*cell, nodes map[ethNode]string) {
	isolated := cells[tables.NoKernel]
	if isolated == nil || len(isolated.below)+len(isolated.above) > 0 {
		for _, c := range cells {
			t.skip(c.rows, sweepNoBaseline)
		}
		return
	}
	p := ethProfile(repository, "memcached", ethGroup(repository), "memcached")
	machine, warning := ethMachine(nodes, ethNode{repository, "part1", "memcached"})
	if warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
	p.Machine = machine
	m := measurement(isolated.known, "requests/s")
	p.Isolated[machine.Configuration] = m
	p.Target = performance.Target{
		Kind: performance.QPS, QPS: m.Value, // what it serves alone
		Latency: &performance.Latency{Percentile: memcachedPercentile, Max: memcachedBound},
	}
	t.take(isolated.rows)
	for _, name := range slices.Sorted(maps.Keys(ethKernels)) {
		switch c := cells[name]; {
		case c == nil:
		case len(c.above) > 0:
			t.skip(c.rows, sweepUnbounded)
		default:
			memcachedUnder(&p, ethKernels[name], *c, isolated.known)
			t.take(c.rows)
		}
	}
	ethFinish(&p, len(isolated.known))
	r.add(p)
}

// memcachedUnder records one kernel. A capacity below the lowest load measured
// has no number, so neither has the ratio; that it is a loss is known.
func memcachedUnder(p *profile.Profile, k ethKernel, c cell, isolated []float64) {
	if len(c.below) == 0 {
		found := compare(c.known, isolated)
		p.Ramp = append(p.Ramp, point(k.source, fullPressure, found, k.placement))
		p.Sensitivity.Tolerated[k.source] = k.tolerated(found)
		return
	}
	most, least := slices.Max(c.below), slices.Min(isolated)
	e := interference.Estimate{Origin: interference.Measured}
	notes := []string{fmt.Sprintf("breaks its latency bound at the lowest load measured, in %d of %d sweeps: no ratio", len(c.below), len(c.below)+len(c.known))}
	if len(c.known) == 0 && most/least < keeps*(1-usualNoise) {
		e.Low, e.High = interference.Percent(0), interference.Percent(fullPressure)
		notes = append(notes, "keeps at most "+strconv.FormatFloat(100*most/least, 'f', 1, 64)+" % of its load in isolation: the score is below 100")
	}
	if k.note != "" {
		notes = append(notes, k.note)
	}
	e.Note = strings.Join(notes, "; ")
	p.Sensitivity.Tolerated[k.source] = e
}
