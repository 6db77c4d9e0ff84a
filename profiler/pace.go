package profiler

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const (
	// minDwell is the shortest window (chosen by us, as the specification of
	// the kernels asks: 125 windows of the kernels' own 2 ms).
	minDwell = 250 * time.Millisecond
	// finestDwell is the shortest window of a workload that counts finely and says
	// when it counted (chosen by us on measured machines, see the package comment:
	// what other guests of a host do to one comes in bursts of some 100 ms, and the
	// clock of its cores drifts within as much, so windows much shorter and next to
	// each other have less noise at equal time).
	finestDwell = 25 * time.Millisecond
	// fineSteps a window of fine counts must hold: what it loses at its ends is
	// part of a step.
	fineSteps = 10
	// fineTick is the longest step that counts as fine.
	fineTick = 10 * time.Millisecond
	// minRequests a window of a service must hold, or its count is too coarse.
	minRequests = 20
	// minTicks a window of any other workload must hold.
	minTicks = 2
	// minGrains a window must hold, or counting whole ones makes noise of its own
	// (chosen by us: one in 25 is less than the usual 5 % bound).
	minGrains = 25
	// settleShare of a dwell passes after every switch before a window begins.
	settleShare = 4
	minSettle   = 20 * time.Millisecond
	// coarseShare: a workload whose steps are longer than this part of a dwell
	// is measured from step to step.
	coarseShare = 20
	// edgePolls per step, and the bounds of their distance.
	edgePolls = 50
	minPoll   = 5 * time.Millisecond
	maxPoll   = 50 * time.Millisecond
	// edgeSteps is how many steps' time an edge is waited for.
	edgeSteps = 3
)

// pace is how long things take for one workload.
type pace struct {
	dwell  time.Duration // length of a window
	settle time.Duration // after every switch
	tick   time.Duration // between two steps of the workload's count; 0: not seen apart
	rates  bool          // the probe gives present rates, not a count
	exact  bool          // the probe says when it counted
	fine   bool          // exact, in short steps: short windows hold enough of them
	perSec float64       // units a second, as learned
}

// paceOf chooses windows for a workload that steps every tick and does
// ratePerSec units a second. A window between exact readings begins with the
// first step in it and ends with the last, so it needs one more.
func paceOf(tick time.Duration, ratePerSec float64, t performance.Target, last performance.Reading) pace {
	p := pace{dwell: max(minDwell, minTicks*tick), tick: tick, rates: math.IsNaN(last.Work), exact: last.Exact, perSec: ratePerSec}
	if p.exact {
		p.dwell = max(minDwell, (minTicks+1)*tick)
	}
	if t.Kind == performance.QPS && ratePerSec > 0 {
		p.dwell = max(p.dwell, time.Duration(minRequests/ratePerSec*float64(time.Second)))
	}
	p.settle = max(minSettle, p.dwell/settleShare)
	if p.rates {
		// A rate read now is the average of a step that began before it.
		p.settle = max(p.settle, 2*tick)
	}
	return p
}

// withGrain takes a closer look into account: steps every tick, of a whole
// number of grains.
func (p pace) withGrain(tick time.Duration, grain float64) pace {
	if tick <= minDwell/coarseShare {
		tick = 0
	}
	p.tick = tick
	p.dwell = max(p.dwell, minTicks*tick)
	if p.perSec > 0 {
		p.dwell = max(p.dwell, time.Duration(minGrains*grain/p.perSec*float64(time.Second)))
	}
	p.settle = max(minSettle, p.dwell/settleShare)
	return p
}

// withSteps takes a closer look at exact readings into account: steps every tick.
// What a service has not answered in one window it answers in the next, so its
// windows stay long.
func (p pace) withSteps(tick time.Duration, t performance.Target) pace {
	if tick > fineTick || t.Kind == performance.QPS {
		return p
	}
	p.fine, p.dwell = true, max(finestDwell, fineSteps*tick)
	p.settle = max(minSettle, p.dwell/settleShare)
	return p
}

// coarse: the steps are so long that windows must begin and end on one.
func (p pace) coarse() bool { return !p.rates && !p.exact && p.tick > p.dwell/coarseShare }

// poll is the distance of two looks for a step; a step that says when it was needs
// no close look.
func (p pace) poll() time.Duration {
	switch {
	case p.fine:
		return minPoll
	case p.exact:
		return maxPoll / 2
	}
	return min(maxPoll, max(minPoll, p.tick/edgePolls))
}

// edgeLimit is how long a step is waited for. An exact count may also come late,
// as lines do that are collected.
func (p pace) edgeLimit() time.Duration {
	if p.exact {
		return max(2*minDwell, edgeSteps*p.tick)
	}
	return edgeSteps * p.tick
}

// edgeWait is how long an edge takes on average, times two.
func (p pace) edgeWait() time.Duration {
	if !p.coarse() {
		return 0
	}
	return p.tick
}
