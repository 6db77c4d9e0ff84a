package fleet

import (
	"math"
	"math/rand/v2"
	"time"
)

// Outside is the load of a provider's other customers: the share of their part of a machine that
// they use, which stays within Swing of Mean (§8.2.1: 25 % on average, fluctuating by 10 %).
type Outside struct {
	Mean, Swing float64
	Correlation time.Duration // chosen by us: minutes
	Step        time.Duration // how often it changes
}

// DefaultOutside is that of §8.2.1.
func DefaultOutside() Outside {
	return Outside{Mean: 0.25, Swing: 0.10, Correlation: 5 * time.Minute, Step: 10 * time.Second}
}

func (o Outside) bounded(load float64) float64 {
	return min(1, o.Mean+o.Swing, max(0, o.Mean-o.Swing, load))
}

// begin is the load at a random moment.
func (o Outside) begin(random *rand.Rand) float64 {
	return o.bounded(o.Mean + o.Swing/2*random.NormFloat64())
}

// next is the load a step later: a random walk that returns to the mean, of a deviation of half
// the swing.
func (o Outside) next(load float64, random *rand.Rand) float64 {
	kept := 0.0
	if o.Correlation > 0 {
		kept = math.Exp(-float64(o.Step) / float64(o.Correlation))
	}
	return o.bounded(o.Mean + kept*(load-o.Mean) + math.Sqrt(1-kept*kept)*o.Swing/2*random.NormFloat64())
}
