package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// Load is what the reference disk does with a model's I/Os at a rate.
type Load struct {
	// Busy is the part of the time that the I/Os take of the disk (0..1).
	Busy float64 `json:"busy"`
	// Intensity is what the gaps of the model are scaled by.
	Intensity   float64    `json:"intensity"`
	Seconds     float64    `json:"seconds"`
	BytesPerSec float64    `json:"bytes_per_second"`
	Disk        DiskResult `json:"disk"`
}

// curveIOs is how many I/Os each point of a curve has.
const curveIOs = 50_000

// ReferenceBytesPerSec is what the reference disk does with sequential reads: its rating.
const ReferenceBytesPerSec = bytesPerSec

// Curve is the latency of the reference disk by the rate of a model's I/Os, at one rate for
// the whole time: how an intensity sweep finds the highest use of a disk at which a workload
// keeps its bound (Delimitrou 2015, §B.4.1). Each point is at a part of what the disk does of
// the model's I/Os when the next one is always there (0..1).
func Curve(ctx context.Context, m *model.Model, busy []float64, seed uint64) ([]Load, error) {
	_, own, err := loadAt(ctx, m, 1, seed)
	if err != nil {
		return nil, err
	}
	var out []Load
	for _, part := range busy {
		if !(part > 0) {
			return nil, fmt.Errorf("%w: a disk that is busy %g of the time", ErrOptions, part)
		}
		l, _, err := loadAt(ctx, m, own/part, seed)
		if err != nil {
			return nil, err
		}
		l.Busy = part
		out = append(out, l)
	}
	return out, nil
}

// loadAt walks at an intensity; busy is the part of the time that the I/Os take, above 1 where
// the disk cannot keep up.
func loadAt(ctx context.Context, m *model.Model, intensity float64, seed uint64) (l Load, busy float64, err error) {
	w, err := generate.NewWalk(m, generate.Options{Seed: seed, IOs: curveIOs, OneRate: true, Intensity: intensity})
	if err != nil {
		return l, 0, err
	}
	d, bytes := newDisk(m.Device.Bytes), 0.0
	err = model.Each(w, -1, func(r *storage.Record) error {
		d.add(r)
		bytes += float64(r.Bytes)
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return l, 0, err
	}
	seconds := d.last.Seconds()
	return Load{Intensity: intensity, Seconds: seconds, BytesPerSec: bytes / seconds, Disk: d.result()}, d.busy.Seconds() / seconds, nil
}

// MostWithin is the last load before the first whose mean latency is above a limit, with the
// lightest first, and false where the first is above it: MB_i of the reference disk.
func MostWithin(curve []Load, limitMilliseconds float64) (Load, bool) {
	n := slices.IndexFunc(curve, func(l Load) bool { return l.Disk.MeanMilliseconds > limitMilliseconds })
	if n < 0 {
		n = len(curve)
	}
	if n == 0 {
		return Load{}, false
	}
	return curve[n-1], true
}
