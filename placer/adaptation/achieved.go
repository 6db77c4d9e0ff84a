package adaptation

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// reached is the performance of a workload, to be compared with the rate wanted of it;
// NaN where it is unknown. served is the most goodput that one of its allocations was
// seen to give inside its latency bound.
//
// A rate of work is what the workload can do. Requests are not: fewer of them than
// the target may mean that fewer came. So a service is judged by its latency: above
// its bound it falls short in proportion; inside it reaches its target, and as much
// more as its allocations served before. One without a latency cannot be judged
// when it is below its target.
func reached(s performance.Spec, readings []cluster.Observation, served float64) float64 {
	sum, tail := 0.0, 0.0
	for _, o := range readings {
		if o.Unavailable != "" || o.FinishedIn > 0 {
			return math.NaN()
		}
		sum += o.Measure.Goodput
		tail = max(tail, o.Measure.LatencyTail.Seconds())
	}
	want, _ := s.Rate()
	if len(readings) == 0 || !(want > 0) {
		return math.NaN()
	}
	if s.Target.Kind != performance.QPS {
		return sum
	}
	switch {
	case s.Target.Latency == nil && sum < want, s.Target.Latency != nil && tail == 0:
		return math.NaN()
	case s.Target.Latency == nil:
		return want
	case tail > s.Target.Latency.Max.Seconds():
		return want * s.Target.Latency.Max.Seconds() / tail
	}
	capacity := served * float64(len(readings))
	if !(capacity > sum) {
		return want
	}
	return want * capacity / max(sum, capacity/10)
}

// bestServed is the new value of what one allocation served inside its bound.
func bestServed(s performance.Spec, readings []cluster.Observation, served float64) float64 {
	if s.Target.Latency == nil {
		return 0
	}
	for _, o := range readings {
		if o.Unavailable == "" && o.Measure.LatencyTail > 0 && o.Measure.LatencyTail <= s.Target.Latency.Max {
			served = max(served, o.Measure.Goodput)
		}
	}
	return served
}
