package consolidation

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// Interval is between two decisions, and the step of the demand (§B.5.1).
const Interval = 30 * time.Minute

const (
	dayIntervals = int(24 * time.Hour / Interval)
	// allIntervals are taken of a volume, six days: of seven most volumes of CloudPhysics lack
	// the end.
	allIntervals = 6 * dayIntervals
)

// Volume is the load of a real volume over six days.
type Volume struct {
	Name        string
	BytesPerSec []float64 // by interval
	// Sequential is the part of its I/Os that are sequential (0..1).
	Sequential float64
}

// Windows gives statistics by 30 minutes, volume by volume.
type Windows interface {
	Next(*trace.Window) error
}

// ErrVolumes: the statistics are not enough.
var ErrVolumes = errors.New("too little demand")

// ReadVolumes reads volumes; an interval that is missing had no I/O. Those that are shorter
// than six days, or do nothing, are left out and counted.
func ReadVolumes(from Windows) (volumes []Volume, left int, err error) {
	var now *volumeCounts
	end := func() {
		if now == nil {
			return
		}
		if v, ok := now.volume(); ok {
			volumes = append(volumes, v)
		} else {
			left++
		}
	}
	for {
		var w trace.Window
		err := from.Next(&w)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if now == nil || now.name != w.Volume {
			end()
			now = &volumeCounts{name: w.Volume, rates: make([]float64, allIntervals)}
		}
		now.add(&w)
	}
	end()
	if len(volumes) == 0 {
		return nil, left, fmt.Errorf("%w: none of %d volumes has six days", ErrVolumes, left)
	}
	return volumes, left, nil
}

// volumeCounts is a volume while it is read.
type volumeCounts struct {
	name            string
	rates           []float64
	ios, sequential int64
	last            int64
}

func (v *volumeCounts) add(w *trace.Window) {
	v.ios += w.Reads + w.Writes
	v.sequential += w.SequentialReads + w.SequentialWrites
	v.last = w.Number
	if w.Number < int64(allIntervals) {
		v.rates[w.Number] = float64(w.ReadBytes+w.WriteBytes) / Interval.Seconds()
	}
}

func (v *volumeCounts) volume() (Volume, bool) {
	if v.last < int64(allIntervals)-1 || v.ios == 0 {
		return Volume{}, false
	}
	return Volume{v.name, v.rates, float64(v.sequential) / float64(v.ios)}, true
}
