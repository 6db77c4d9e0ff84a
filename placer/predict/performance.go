package predict

import (
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Share is the part of its performance in isolation that a workload keeps, 0..1.
type Share struct {
	Value  float64
	Low    float64
	High   float64
	Source interference.Source // the scarcest; "" where there is no pressure
	Known  bool                // false: no source under pressure has a known response
}

// Performance is the prediction for one allocation on a node configuration that
// keeps share of its speed in isolation. It is not Known where the speed is not. A
// speed without a usable interval is bracketed by nothing and twice itself.
func Performance(k *cluster.Knowledge, configuration, unit string, share Share) cluster.Prediction {
	isolated, ok := k.Speed[configuration]
	if !ok || !share.Known || !(isolated.Value > 0) || !finite(isolated.Value) {
		return cluster.Prediction{Unit: unit}
	}
	low, high := isolated.Low, isolated.High
	if !(low >= 0 && low <= isolated.Value) || !(high >= isolated.Value) || !finite(high) {
		low, high = 0, 2*isolated.Value
	}
	return cluster.Prediction{
		Known: true, Unit: unit,
		RatePerSec: isolated.Value * share.Value, Low: low * share.Low, High: high * share.High,
	}
}
