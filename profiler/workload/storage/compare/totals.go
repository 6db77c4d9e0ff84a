package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/generate"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// Volume is what is known of one volume by statistics.
type Volume struct {
	Name       string
	Intervals  []model.Totals // those of which something is known, in order
	RangeBytes int64
	from, to   int64 // the intervals that the volume, or its part, is of
}

// Model is the volume's model without states.
func (v *Volume) Model() (*model.Model, error) {
	return model.FromTotals(v.Intervals, max(v.RangeBytes, model.PageBytes), trace.WindowsName)
}

// Volumes reads statistics, volume by volume.
func Volumes(w *trace.Windows, do func(*Volume) error) error {
	var v Volume
	var next trace.Window
	for {
		err := w.Next(&next)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if next.Volume != v.Name && len(v.Intervals) > 0 {
			if err := do(&v); err != nil {
				return err
			}
			v = Volume{}
		}
		if len(v.Intervals) == 0 {
			v.from = next.Number
		}
		v.Name, v.to = next.Volume, next.Number+1
		v.RangeBytes = max(v.RangeBytes, next.RangeBytes)
		v.Intervals = append(v.Intervals, model.Totals{
			Interval: next.Number, IOs: [storage.Ops]int64{next.Reads, next.Writes}, Bytes: [storage.Ops]int64{next.ReadBytes, next.WriteBytes},
			Sequential: [storage.Ops]int64{next.SequentialReads, next.SequentialWrites},
		})
	}
	if len(v.Intervals) == 0 {
		return nil
	}
	return do(&v)
}

// TotalsReport is a comparison of statistics: of every feature, in how many volumes the
// model of the first part tells the rest, and whether a walk has the rates it is told.
type TotalsReport struct {
	Seed    uint64         `json:"seed"`
	Split   float64        `json:"split"`
	Volumes []VolumeReport `json:"volumes"`
	// Skipped volumes have too little in one of the parts.
	Skipped  int              `json:"skipped"`
	Features []FeatureSummary `json:"features"`
}

// VolumeReport is the comparison of one volume.
type VolumeReport struct {
	Volume string `json:"volume"`
	// Parts compares the two parts: the features that the text takes as common to all times.
	Parts []Row `json:"parts"`
	// Rates compares a walk over the model of the whole with the whole.
	Rates []Row `json:"rates"`
}

// FeatureSummary is a row over all volumes.
type FeatureSummary struct {
	Name   string   `json:"name"`
	Met    int      `json:"met"`
	Judged int      `json:"judged"`
	Median *float64 `json:"median_difference,omitempty"`
	Unit   string   `json:"unit"`
}

// totalsIOs is about how many I/Os a walk of a volume has: its time is compressed to that.
const totalsIOs = 50_000

// leastTotals is how many I/Os a part must have to be compared.
const leastTotals = 1000

// Totals compares statistics.
func Totals(ctx context.Context, w *trace.Windows, o Options) (*TotalsReport, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	out := &TotalsReport{Seed: o.Seed, Split: o.Split, Volumes: []VolumeReport{}}
	err = Volumes(w, func(v *Volume) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, ok, err := compareVolume(v, o)
		switch {
		case err != nil:
			return fmt.Errorf("volume %s: %w", v.Name, err)
		case !ok:
			out.Skipped++
		default:
			out.Volumes = append(out.Volumes, r)
		}
		return nil
	})
	out.Features = summaries(out.Volumes)
	return out, err
}

func compareVolume(v *Volume, o Options) (VolumeReport, bool, error) {
	first, rest := v.split(o.Split)
	if first.ios() < leastTotals || rest.ios() < leastTotals {
		return VolumeReport{}, false, nil
	}
	a, b := rest.features(), first.features()
	out := VolumeReport{Volume: v.Name, Parts: []Row{
		shareRow("reads, % of the I/Os", a.ReadShare, b.ReadShare),
		shareRow("not sequential, % of the I/Os", a.RandomShare, b.RandomShare),
		newRow("mean size, bytes", "%", featureLimit).of(a.MeanBytes, b.MeanBytes, relative(a.MeanBytes, b.MeanBytes)),
		newRow("mean gap, ms", "%", featureLimit).of(a.MeanGapMilliseconds, b.MeanGapMilliseconds, relative(a.MeanGapMilliseconds, b.MeanGapMilliseconds)),
	}}
	rates, err := v.rates(o.Seed)
	out.Rates = rates
	return out, true, err
}

// split divides the intervals by time; a part of 1 is compared with itself.
func (v *Volume) split(part float64) (first, rest *Volume) {
	if part == 1 {
		return v, v
	}
	border := v.from + int64(part*float64(v.to-v.from))
	at, _ := slices.BinarySearchFunc(v.Intervals, border, func(t model.Totals, n int64) int { return int(t.Interval - n) })
	return &Volume{Intervals: v.Intervals[:at], from: v.from, to: border}, &Volume{Intervals: v.Intervals[at:], from: border, to: v.to}
}

func (v *Volume) ios() int64 {
	n := int64(0)
	for _, t := range v.Intervals {
		n += t.IOs[storage.Read] + t.IOs[storage.Write]
	}
	return n
}

func (v *Volume) features() Features {
	var sum model.Totals
	for _, t := range v.Intervals {
		for op := range storage.Ops {
			sum.IOs[op] += t.IOs[op]
			sum.Bytes[op] += t.Bytes[op]
			sum.Sequential[op] += t.Sequential[op]
		}
	}
	n := float64(sum.IOs[storage.Read] + sum.IOs[storage.Write])
	seconds := float64(v.to-v.from) * rateInterval.Seconds()
	return Features{
		ReadShare: float64(sum.IOs[storage.Read]) / n, RandomShare: 1 - float64(sum.Sequential[storage.Read]+sum.Sequential[storage.Write])/n,
		MeanBytes: float64(sum.Bytes[storage.Read]+sum.Bytes[storage.Write]) / n, MeanGapMilliseconds: seconds / n * 1e3,
	}
}

// rates walks over the model of the whole volume in compressed time, and compares its rates
// with those it was made of (§A.4.4).
func (v *Volume) rates(seed uint64) ([]Row, error) {
	m, err := v.Model()
	if err != nil {
		return nil, err
	}
	compression := max(1, float64(m.IOs())/totalsIOs)
	w, err := generate.NewWalk(m, generate.Options{Seed: seed, Compression: compression})
	if err != nil {
		return nil, err
	}
	intervals := m.Types[0].Intervals
	original, synthetic := make([]float64, len(intervals)), make([]float64, len(intervals))
	for i, t := range intervals {
		original[i] = float64(t.IOs)
	}
	err = model.Each(w, -1, func(r *storage.Record) error {
		i := min(int(r.At.Seconds()*compression/rateInterval.Seconds()), len(synthetic)-1)
		synthetic[i] += compression
		return nil
	})
	return rateRows(original, synthetic), err
}

// summaries count, of every row, how many volumes meet it.
func summaries(volumes []VolumeReport) []FeatureSummary {
	var out []FeatureSummary
	if len(volumes) == 0 {
		return out
	}
	rowsOf := func(v VolumeReport) []Row { return slices.Concat(v.Parts, v.Rates) }
	for i, first := range rowsOf(volumes[0]) {
		s := FeatureSummary{Name: first.Name, Unit: first.Unit}
		var all []float64
		for _, v := range volumes {
			r := rowsOf(v)[i]
			if r.Met == nil {
				continue
			}
			s.Judged++
			if *r.Met {
				s.Met++
			}
			all = append(all, *r.Difference)
		}
		slices.Sort(all)
		if len(all) > 0 {
			s.Median = &all[len(all)/2]
		}
		out = append(out, s)
	}
	return out
}
