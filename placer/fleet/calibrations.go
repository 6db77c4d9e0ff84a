package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// calibrateSeconds is what the driver takes where it is not told.
const calibrateSeconds = 80

// Calibrations are units that calibrate each of the nodes; seconds is how long, 0 as long as the
// driver likes.
func Calibrations(w *nomadapi.World, nodes []*cluster.Node, seconds int) []Unit {
	var out []Unit
	for _, n := range nodes {
		out = append(out, Unit{
			Kind: nomadapi.DriverCalibrate, Name: n.Name, Node: n.ID,
			Says: struct {
				Seconds int `json:"seconds"`
			}{seconds},
			Seconds: float64(cmp.Or(seconds, calibrateSeconds)),
			Job:     func(m nomadapi.Measuring) (map[string]any, error) { return w.CalibrationJob(m, seconds) },
			File:    profiler.ResultDir + "/" + profiler.CalibratedFile,
			Check: func(_ *cluster.Node, result []byte) error {
				_, err := calibrated(result)
				return err
			},
			// A node that was set up anew, or has another kernel, has lost what is kept here.
			Outdated: func(n *cluster.Node, result []byte) bool {
				c, err := calibrated(result)
				return err != nil || c.ID != n.Attributes.Text(nomadapi.DriverCalibration)
			},
		})
	}
	return out
}

func calibrated(result []byte) (profiler.Calibrated, error) {
	var c profiler.Calibrated
	if err := json.Unmarshal(result, &c); err != nil {
		return c, fmt.Errorf("the calibration: %w", err)
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("the calibration %w", err)
	}
	return c, nil
}

// NodeCalibration is what is known of a node.
type NodeCalibration struct {
	Node          string              `json:"node"`
	Configuration string              `json:"configuration"`
	Calibration   profiler.Calibrated `json:"calibration"`
}

// Spread is how far the nodes of one configuration are apart in one kernel.
type Spread struct {
	Configuration string              `json:"configuration"`
	Source        interference.Source `json:"source"`
	Unit          string              `json:"unit"`
	Nodes         int                 `json:"nodes"` // on which it was measured
	Low           float64             `json:"low_ops_per_sec"`
	LowNode       string              `json:"low_node"`
	High          float64             `json:"high_ops_per_sec"`
	HighNode      string              `json:"high_node"`
	ApartPercent  float64             `json:"apart_percent"` // highest less lowest, of the median
}

// Compare reads the calibrations of a report, and compares the peaks of kernels within each
// configuration that has more than one node: the widest apart first.
func Compare(r *Report) ([]NodeCalibration, []Spread, error) {
	var all []NodeCalibration
	for _, o := range r.Outcomes {
		if o.Kept == nil {
			continue
		}
		c, err := calibrated(o.Kept.Result)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.Unit, err)
		}
		all = append(all, NodeCalibration{o.Node, o.Configuration, c})
	}
	return all, spreads(all), nil
}

// peak is the peak of a kernel on a node.
type peak struct {
	node, unit string
	opsPerSec  float64
}

func spreads(all []NodeCalibration) []Spread {
	type of struct {
		configuration string
		source        interference.Source
	}
	peaks := map[of][]peak{}
	for _, n := range all {
		for _, k := range n.Calibration.Kernels {
			if k.PeakOpsPerSec > 0 {
				at := of{n.Configuration, k.Source}
				peaks[at] = append(peaks[at], peak{n.Node, k.Unit, k.PeakOpsPerSec})
			}
		}
	}
	var out []Spread
	for at, list := range peaks {
		if len(list) < 2 {
			continue
		}
		slices.SortFunc(list, func(a, b peak) int {
			return cmp.Or(cmp.Compare(a.opsPerSec, b.opsPerSec), strings.Compare(a.node, b.node))
		})
		values := make([]float64, len(list))
		for i, p := range list {
			values[i] = p.opsPerSec
		}
		low, high := list[0], list[len(list)-1]
		out = append(out, Spread{
			Configuration: at.configuration, Source: at.source, Unit: low.unit, Nodes: len(list),
			Low: low.opsPerSec, LowNode: low.node, High: high.opsPerSec, HighNode: high.node,
			ApartPercent: tenth(100 * (high.opsPerSec - low.opsPerSec) / stat.Median(values)),
		})
	}
	slices.SortFunc(out, func(a, b Spread) int {
		return cmp.Or(strings.Compare(a.Configuration, b.Configuration), cmp.Compare(b.ApartPercent, a.ApartPercent), strings.Compare(string(a.Source), string(b.Source)))
	})
	return out
}

func tenth(v float64) float64 { return math.Round(10*v) / 10 }
