package compare

import (
	"errors"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

const (
	// levelIOPS is the stopping rule of the text: the first level at which the next one
	// changes the IOPS by less than 2 % (§A.4.4), here those of the reference disk.
	levelIOPS = 2.0
	// levelIOs bounds the I/Os that a level is judged by.
	levelIOs = 1_000_000
)

// Level is one depth of the diagram.
type Level struct {
	Levels      int   `json:"levels"`
	States      int   `json:"states"`
	Pairs       int64 `json:"pairs"`       // that there can be
	Transitions int   `json:"transitions"` // that there are, with their categories
	// IOPS of the reference disk, and their change to the next level; nil at the last.
	IOPS       float64  `json:"iops"`
	IOPSChange *float64 `json:"iops_change_percent,omitempty"`
	// MissApart is the largest difference between the miss ratios of the walk and of the
	// trace, in points.
	MissApart float64 `json:"miss_apart_points"`
	Chosen    bool    `json:"chosen,omitempty"`
}

// ChooseLevels walks over the diagrams of all depths. It takes the first to which the next
// adds little, as the text does, or a deeper one whose miss ratios are nearer to those of
// the trace: on a device without a head, IOPS depend little on addresses, and what a cache
// does is what is left of them (chosen by us). Where the rule never holds, as in a trace of
// few I/Os, the depth is that of the nearest miss ratios. A depth whose model is too large for a
// file ends the search. The trace is measured over its first
// I/Os, as many as a walk has.
func ChooseLevels(f *model.Fitted, trace *Measured, o generate.Options, progress func(done float64)) ([]Level, *model.Model, error) {
	var levels []Level
	var models []*model.Model
	o.IOs = trace.Features.IOs
	for depth := 1; depth <= f.Levels(); depth++ {
		m, err := f.Model(depth)
		if errors.Is(err, model.ErrTooLarge) && depth > 1 {
			break // deeper ones are larger still
		}
		if err != nil {
			return nil, nil, err
		}
		w, err := generate.NewWalk(m, o)
		if err != nil {
			return nil, nil, err
		}
		seen, err := measureStream(w, m.Device, sampleRate(trace.Features.MeanBytes*float64(o.IOs)), trace.caches(), nil)
		if err != nil {
			return nil, nil, err
		}
		models = append(models, m)
		levels = append(levels, Level{
			Levels: depth, States: model.States(depth), Pairs: model.HierarchicalPairs(depth), Transitions: m.Rows(),
			IOPS: seen.Disk.IOPS, MissApart: missApart(trace.MissRatio, seen.MissRatio),
		})
		progress(float64(depth) / float64(f.Levels()))
	}
	chosen := choose(levels)
	levels[chosen].Chosen = true
	return levels, models[chosen], nil
}

// choose applies the rule, and says how much each next level changes.
func choose(levels []Level) int {
	first := 0 // until the rule holds somewhere
	for i := len(levels) - 2; i >= 0; i-- {
		change := relative(levels[i].IOPS, levels[i+1].IOPS)
		levels[i].IOPSChange = &change
		if change < levelIOPS {
			first = i
		}
	}
	chosen := first
	for i := first; i < len(levels); i++ {
		if levels[i].MissApart < levels[chosen].MissApart {
			chosen = i
		}
	}
	return chosen
}

// missApart is the largest difference of two miss-ratio curves, in points.
func missApart(a, b []MissPoint) float64 {
	largest := 0.0
	for i := range a {
		largest = max(largest, 100*math.Abs(a[i].MissRatio-b[i].MissRatio))
	}
	return largest
}

// meanBytes is the mean size of a model's I/Os.
func meanBytes(m *model.Model) float64 {
	sum, n := 0.0, 0.0
	for i := range m.Types {
		for _, x := range m.Types[i].Transitions {
			sum += float64(x.IOs) * float64(m.Categories[x.Category].Bytes)
			n += float64(x.IOs)
		}
	}
	return sum / n
}

// measureStream measures a stream to its end; each is called for every I/O, and may be nil.
func measureStream(r storage.Reader, d model.Device, rate float64, caches []int64, each func(*storage.Record) error) (Measured, error) {
	m := newMeter(d, rate)
	err := model.Each(r, -1, func(record *storage.Record) error {
		m.add(record)
		if each != nil {
			return each(record)
		}
		return nil
	})
	if err != nil {
		return Measured{}, err
	}
	return m.measured(caches), nil
}
