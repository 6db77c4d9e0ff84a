package adaptation

import (
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Bounds on what is believed of an observation, chosen by us.
const (
	longestWindow = 10 * time.Minute // a longer one is not about now
	clockSlack    = time.Minute      // clocks of one cluster agree better than this
)

// trusted lets an observation pass, or takes its numbers away and says why. What
// looks wrong must never become a number: an action would follow from it. last is
// the newest observation of the same allocation; zero where there is none.
func trusted(o, last cluster.Observation, now time.Time) cluster.Observation {
	if u := o.Use; u != nil && !(possible(u.CPUMHz) && possible(u.MemoryBytes) && possible(u.ThrottledTimeNs)) {
		o.Use = nil
	}
	if o.Unavailable != "" || o.FinishedIn > 0 {
		return o
	}
	why := ""
	m := o.Measure
	switch {
	case !possible(m.RatePerSec):
		why = fmt.Sprintf("its rate is %v, which cannot be a measurement", m.RatePerSec)
	case !possible(m.Goodput):
		why = fmt.Sprintf("its goodput is %v, which cannot be a measurement", m.Goodput)
	case m.Goodput > m.RatePerSec*(1+1e-9):
		why = fmt.Sprintf("its goodput of %v is above its rate of %v", m.Goodput, m.RatePerSec)
	case m.LatencyTail < 0:
		why = fmt.Sprintf("its latency is %s, which cannot be a measurement", m.LatencyTail)
	case m.RatePerSec == 0:
		why = "its count of work did not move: the workload, or its probe, is stuck"
	case o.Window <= 0 || o.Window > longestWindow:
		why = fmt.Sprintf("its window is %s long: a clock jumped", o.Window)
	case o.At.After(now.Add(clockSlack)) || o.At.Before(now.Add(-longestWindow)):
		why = fmt.Sprintf("it is of %s, now is %s: a clock jumped", o.At.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case !last.At.IsZero() && o.At.Before(last.At):
		why = "it is older than the one before: a clock jumped"
	default:
		return o
	}
	return cluster.Observation{Allocation: o.Allocation, Node: o.Node, At: now, Unavailable: why, Use: o.Use}
}

// possible: a number that a rate of work can be.
func possible(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
