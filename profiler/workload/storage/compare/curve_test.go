package compare_test

import (
	"context"
	"errors"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// volume is a model of statistics, with a part of sequential I/Os.
func volume(t *testing.T, sequential float64) *model.Model {
	t.Helper()
	const ios = 100_000
	var totals []model.Totals
	for i := range int64(4) {
		totals = append(totals, model.Totals{
			Interval: i, IOs: [storage.Ops]int64{ios}, Bytes: [storage.Ops]int64{ios * 8192}, Sequential: [storage.Ops]int64{int64(ios * sequential)},
		})
	}
	m, err := model.FromTotals(totals, 1<<40, "test")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// §B.4.1: latency rises with the rate, and a more sequential workload keeps the same bound up
// to more bandwidth.
func TestPaperCurvesRise(t *testing.T) {
	t.Parallel()
	busy := []float64{0.1, 0.3, 0.5, 0.7, 0.9}
	most := 0.0
	for _, sequential := range []float64{0, 0.5, 0.9} {
		curve, err := compare.Curve(t.Context(), volume(t, sequential), busy, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range curve {
			if seconds := float64(50_000) / l.Disk.IOPS / l.Seconds; seconds < 0.97*busy[i] || seconds > 1.03*busy[i] {
				t.Errorf("%g sequential: busy %g instead of %g", sequential, seconds, busy[i])
			}
			if i > 0 && (l.BytesPerSec <= curve[i-1].BytesPerSec || l.Disk.MeanMilliseconds <= curve[i-1].Disk.MeanMilliseconds) {
				t.Errorf("%g sequential: %+v behind %+v", sequential, l, curve[i-1])
			}
		}
		l, ok := compare.MostWithin(curve, 20)
		if !ok || l.BytesPerSec <= most || l.BytesPerSec > compare.ReferenceBytesPerSec {
			t.Errorf("%g sequential: 20 ms up to %+v, %v; before %g B/s", sequential, l, ok, most)
		}
		most = l.BytesPerSec
		if _, ok := compare.MostWithin(curve, 0.001); ok {
			t.Error("within a microsecond")
		}
		if l, ok := compare.MostWithin(curve, 1e9); !ok || l.Busy != 0.9 {
			t.Errorf("without a bound: %+v", l)
		}
	}
}

func TestBadCurves(t *testing.T) {
	t.Parallel()
	m := volume(t, 0.5)
	if _, err := compare.Curve(t.Context(), m, []float64{0.5, 0}, 1); !errors.Is(err, compare.ErrOptions) {
		t.Errorf("never busy: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := compare.Curve(ctx, m, []float64{0.5}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
