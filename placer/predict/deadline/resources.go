package deadline

import (
	"math"
	"time"
)

// Need is what a task must hold to end in time (equations 10 to 13): for the work
// that is left, in the time that is left, against a slowdown.
type Need struct {
	Rate  float64 // r: effective, W/T
	Extra float64 // Δr: on top, r·β
}

// Held is the sum: what is reserved of the node.
func (n Need) Held() float64 { return n.Rate + n.Extra }

// Needed applies the rules; false where the task cannot end in time at its full
// speed (equation 13). left is in units of work, fullRate in units per second; moving
// is taken off the time that is left. A negative slowdown counts as none.
func Needed(left, fullRate float64, now, deadline, moving time.Duration, slowdown float64) (Need, bool) {
	seconds := (deadline - now - moving).Seconds()
	if !(seconds > 0) || !(left >= 0) || math.IsNaN(slowdown) {
		return Need{}, false
	}
	r := left / seconds
	if !(r <= fullRate*(1+rounding)) {
		return Need{}, false
	}
	return Need{Rate: r, Extra: r * max(0, slowdown)}, true
}

// rounding lets a task of exactly its full speed pass.
const rounding = 1e-9

// ForMigration is the slowdown to expect of a task elsewhere: its own, or the mean of
// the residents there, whichever is larger (equation 10).
func ForMigration(own, residents float64) float64 { return max(own, residents) }

// MeanOf is the slowdown to expect of a new task: the mean of those that are there; 0
// of none.
func MeanOf(residents []float64) float64 { return mean(residents) }

// Slack is how much later than at full speed from now on a task may end: negative is
// too late already.
func Slack(left, fullRate float64, now, deadline time.Duration) time.Duration {
	if !(fullRate > 0) {
		return -Never
	}
	return deadline - now - after(0, left/fullRate)
}
