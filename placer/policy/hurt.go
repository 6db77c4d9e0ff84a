package policy

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// yields says why best-effort work is not placed now: wherever there is room it would
// hurt somebody who is known to have something to lose, and would have to leave again
// (Delimitrou 2015, §4.3.3: best effort uses what is left over). Empty for other work,
// and where some node is spared.
func (v *view) yields() string {
	if v.Workload.Spec.Target.Kind != performance.BestEffort || len(v.options) == 0 {
		return ""
	}
	all := slices.Repeat([]float64{fullPressurePercent}, len(v.caused)) // itself it stands everything
	for i, o := range v.options {
		known := slices.DeleteFunc(v.residents(i), func(r board.Resident) bool { return r.Assumed })
		if o.incumbent || Live().newlyHurt(known, all, v.caused) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("best effort waits: on %s with room somebody would be pressed beyond what their target leaves", plural(len(v.options), "node"))
}

// newlyHurt counts the allocations that keep every bound of theirs without a newcomer
// and would not with it, among residents that press on each other, and the newcomer
// where it is pressed beyond its own. Who is hurt already is not counted: where
// somebody must be hurt, those who come later go where no further one is.
func (o Options) newlyHurt(residents []board.Resident, tolerated, caused []float64) int {
	all := make([]float64, len(caused))
	for _, r := range residents {
		for k, c := range r.Caused {
			all[k] += c
		}
	}
	hurt := 0
	if o.pressedBeyond(tolerated, func(k int) float64 { return all[k] }) {
		hurt++
	}
	for _, r := range residents {
		before := func(k int) float64 { return all[k] - r.Caused[k] }
		after := func(k int) float64 { return before(k) + caused[k] }
		if !o.pressedBeyond(r.Tolerated, before) && o.pressedBeyond(r.Tolerated, after) {
			hurt++
		}
	}
	return hurt
}

// pressedBeyond: some source presses harder than is tolerated.
func (o Options) pressedBeyond(tolerated []float64, pressure func(k int) float64) bool {
	for k, t := range tolerated {
		if o.pressed(pressure(k)) > t+epsilonPoints {
			return true
		}
	}
	return false
}
