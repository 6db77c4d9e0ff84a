package predict

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Share is the part of its performance in isolation that a workload keeps, 0..1.
type Share struct {
	Value  float64
	Low    float64
	High   float64
	Source interference.Source // the scarcest; "" where nothing presses
	Known  bool                // false: no pressed source has a known response
}

// Predictor answers for one workload. It may be used concurrently.
type Predictor interface {
	// Share under pressure[k] percent on column k; above 100 counts as 100.
	Share(pressure []float64) Share
}

// Model prepares predictors.
type Model interface {
	// Prepare compiles what is known of a workload. slowdownPercent is the QoS
	// bound its scores were measured at.
	Prepare(k *cluster.Knowledge, columns []interference.Source, slowdownPercent float64) Predictor
}

// Descriptor is one line of the model table.
type Descriptor struct {
	Name    string
	Summary string
	Paper   string
	New     func() Model
}

// Models lists every performance model, sorted by name.
func Models() []Descriptor {
	return []Descriptor{
		bottleneckDescriptor,
		compoundDescriptor,
	}
}

// Default is the name of the model used where none is named.
const Default = "bottleneck"

// New returns the default model.
func New() Model { return bottleneckDescriptor.New() }

// Lookup returns the model of that name, or an error that lists the known ones.
func Lookup(name string) (Descriptor, error) {
	all := Models()
	names := make([]string, len(all))
	for i, d := range all {
		if d.Name == name {
			return d, nil
		}
		names[i] = d.Name
	}
	return Descriptor{}, fmt.Errorf("unknown performance model %q; known: %s", name, strings.Join(names, ", "))
}

// Performance is the prediction for one allocation on a node configuration that
// keeps share of its speed in isolation. It is not Known where the speed is not. A
// speed without a usable interval is bracketed by nothing and twice itself.
func Performance(k *cluster.Knowledge, configuration, unit string, share Share) cluster.Prediction {
	alone, ok := k.Speed[configuration]
	if !ok || !share.Known || !(alone.Value > 0) || !finite(alone.Value) {
		return cluster.Prediction{Unit: unit}
	}
	low, high := alone.Low, alone.High
	if !(low >= 0 && low <= alone.Value) || !(high >= alone.Value) || !finite(high) {
		low, high = 0, 2*alone.Value
	}
	return cluster.Prediction{
		Known: true, Unit: unit,
		RatePerSec: alone.Value * share.Value, Low: low * share.Low, High: high * share.High,
	}
}
