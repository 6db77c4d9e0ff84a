package profiler

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// usage is the CPU time that the workload had used at a moment.
type usage struct {
	at    time.Time
	used  time.Duration
	known bool
}

func (r *run) used() usage {
	meter, ok := r.subject.(UsageMeter)
	if !ok {
		return usage{}
	}
	used, err := meter.Usage()
	return usage{r.clock.Now(), used, err == nil}
}

// cpusSince is the CPU time used since then, in CPUs; NaN where it is not known.
func (r *run) cpusSince(then usage) float64 {
	now := r.used()
	if !then.known || !now.known || !now.at.After(then.at) || now.used < then.used {
		return math.NaN()
	}
	return (now.used - then.used).Seconds() / now.at.Sub(then.at).Seconds()
}

// leastFreedom: with fewer degrees of freedom the visits do not tell their own noise.
const leastFreedom = 3

// perCPU summarises the ratios of progress per second of CPU time at one level. Much of
// the noise of a speed is in the CPU time that the workload got, so theirs is their own:
// that of the deviations within levels, or where there are too few of the speeds' fit.
func (s *side) perCPU(percent int) (stat.Summary, bool) {
	if s == nil {
		return stat.Summary{}, false
	}
	byLevel := map[int][]float64{}
	for _, v := range s.visits {
		if !math.IsNaN(v.cpus) {
			byLevel[v.percent] = append(byLevel[v.percent], s.steadied.steady(v)-v.cpus)
		}
	}
	logs := byLevel[percent]
	if len(logs) == 0 {
		return stat.Summary{}, false
	}
	half := s.fit.HalfWidth(len(logs))
	if own, ok := halfWidthWithin(byLevel, len(logs)); ok {
		half = own
	}
	center := stat.Pseudomedian(logs)
	return stat.Exp(stat.Summary{Center: center, Low: center - half, High: center + half, Confidence: confidence, N: len(logs)}), true
}

// halfWidthWithin is half of the interval of the mean of n values that vary as those of
// each level do around their own mean.
func halfWidthWithin(byLevel map[int][]float64, n int) (float64, bool) {
	squares, freedom := 0.0, 0
	for _, logs := range byLevel {
		mean := 0.0
		for _, v := range logs {
			mean += v / float64(len(logs))
		}
		for _, v := range logs {
			squares += (v - mean) * (v - mean)
		}
		freedom += len(logs) - 1
	}
	if freedom < leastFreedom {
		return 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(1 - tail)
	sigma := max(leastNoise, math.Sqrt(squares/float64(freedom)))
	return t * sigma / math.Sqrt(float64(n)), true
}
