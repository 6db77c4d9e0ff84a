package policy

import "github.com/nomad-placer/nomad-placer/placer/board"

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
