package compare

import (
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// stateLevel is the level whose states are compared: 64 of them.
const stateLevel = 3

// rateInterval is in what steps rates are compared (§A.3.3).
const rateInterval = model.IntervalLength

// Measured is what is known of one stream.
type Measured struct {
	Features Features `json:"features"`
	// States are the parts of the I/Os that begin in each of 64 ranges (0..1).
	States    []float64   `json:"states"`
	MissRatio []MissPoint `json:"miss_ratio"`
	Disk      DiskResult  `json:"disk"`
	// Rates are I/Os per second in each 30 minutes.
	Rates []float64 `json:"rates"`
}

// meter measures a stream.
type meter struct {
	device   model.Device
	features featureCounts
	states   []float64
	reuse    *reuse
	disk     *disk
	rates    []int64
	last     time.Duration
}

// newMeter starts to measure; rate is the part of the pages whose reuse is followed.
func newMeter(d model.Device, rate float64) *meter {
	return &meter{
		device: d, features: featureCounts{sizes: map[int64]int64{}}, states: make([]float64, model.States(stateLevel)),
		reuse: newReuse(rate), disk: newDisk(d.Bytes),
	}
}

func (m *meter) add(r *storage.Record) {
	m.features.add(r)
	m.states[m.device.State(r.Offset, stateLevel)]++
	m.reuse.add(r)
	m.disk.add(r)
	interval := int(r.At / rateInterval)
	for len(m.rates) <= interval {
		m.rates = append(m.rates, 0)
	}
	m.rates[interval]++
	m.last = r.At
}

// measured ends measuring. The sizes of the caches are those of the original; nil takes
// them from this stream.
func (m *meter) measured(caches []int64) Measured {
	if caches == nil {
		caches = cacheSizes(m.reuse.footprint())
	}
	out := Measured{Features: m.features.features(), MissRatio: m.reuse.missRatios(caches), Disk: m.disk.result()}
	for _, n := range m.states {
		out.States = append(out.States, n/float64(m.features.ios))
	}
	for i, n := range m.rates {
		length := min(rateInterval, m.last-time.Duration(i)*rateInterval)
		out.Rates = append(out.Rates, float64(n)/max(length, time.Second).Seconds())
	}
	return out
}

// caches are the sizes at which a stream was measured.
func (m Measured) caches() []int64 {
	var out []int64
	for _, p := range m.MissRatio {
		out = append(out, p.CacheBytes)
	}
	return out
}
