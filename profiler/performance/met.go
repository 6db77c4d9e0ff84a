package performance

import "time"

// RateTolerance is the part by which a rate may read below its target and still meet
// it: what is in flight at the two edges of a window is counted in neither of the two
// (chosen by us; decision 0023). Times have no tolerance: a finish time and a tail
// latency are read exactly.
const RateTolerance = 0.02

// Met is the one rule of whether a measurement reaches the target: value in the unit of
// Value, over the whole group, and the latency at the target's percentile, which is 0
// where it is not known. Best effort has no target to meet.
func (t Target) Met(value float64, tail time.Duration) bool {
	if t.Latency != nil && !(tail > 0 && tail <= t.Latency.Max) {
		return false
	}
	switch t.Kind {
	case QPS, Rate:
		want, _, _ := t.Value()
		return t.RateMet(value, want)
	case FinishWithin:
		return value > 0 && value <= t.FinishWithin.Seconds()
	default:
		return false
	}
}

// RateMet is Met for a rate that was read, of which a part of the target is wanted: of
// one allocation, or of a job with a finish time, whose work has to be done at some rate.
func (t Target) RateMet(rate, want float64) bool {
	if t.Kind == FinishWithin {
		return rate >= want
	}
	return rate >= want*(1-RateTolerance)
}

// PredictedMet is RateMet for a rate that is predicted. A service is predicted to serve
// what it was sent when it was profiled, which is a reading, too; any other rate is what
// the workload could do, which must be all of the target.
func (t Target) PredictedMet(rate, want float64) bool {
	if t.Kind == QPS {
		return t.RateMet(rate, want)
	}
	return rate >= want
}

// Rate is the rate that the whole group must reach; false where none follows from the
// target: for best effort, or a finish time without the amount of work.
func (s Spec) Rate() (perSec float64, ok bool) {
	value, _, ok := s.Target.Value()
	if !ok || !(value > 0) {
		return 0, false
	}
	if s.Target.Kind != FinishWithin {
		return value, true
	}
	if s.Probe == nil || !(s.Probe.Work > 0) {
		return 0, false
	}
	return s.Probe.Work / value, true
}

// RequiredFraction is the part of its performance in isolation that the target needs of
// each of count allocations of which each would do speed: 0 for best effort, 1 where
// even that is too little, nil where it is not known.
func (s Spec) RequiredFraction(count int, speed float64) *float64 {
	if s.Target.Kind == BestEffort {
		return new(float64)
	}
	rate, ok := s.Rate()
	if !ok || count < 1 || !(speed > 0) {
		return nil
	}
	fraction := min(1, rate/float64(count)/speed)
	return &fraction
}
