package figures

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/sim/consolidation"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// blocStudied is BLOC's evaluation on 40 nodes with real load over time. Its rows:
//
//	losses × 1: bloc       a scheme, where pairs lose so much
//	at most 10 % lost      BLOC that lets an application lose so much, losses × 0.5
//	bloc, …                BLOC with what was mended, and without, losses × 0.5
//	volumes, median        the load of volumes
//	forecast, as now, …    predictions of the sixth day of volumes
var blocStudied = &Computation{
	Name: "BLOC's evaluation", Source: volumesFile,
	Metrics: []string{
		"savings", "performance", "worst", "loss95", "broken", "active", "moved", "of_bound", "peak", "idle", "error", "error90", "excess", "trusted",
	},
	run: runBLOC,
}

// blocCurves are twins of volumes on the reference disk.
var blocCurves = &Computation{Name: "latency against bandwidth", Source: volumesFile, Metrics: []string{"most", "busy", "sequential", "size"}, run: runBlocCurves}

// blocSeeds say which volumes are drawn, their sizes, and what pairs lose.
var blocSeeds = []uint64{1, 2, 3, 4, 5, 6, 7}

// blocTolerances are what an application of a mix may lose, parts of its performance.
var blocTolerances = []float64{0.01, 0.02, 0.05, 0.10, 0.20, 0.40}

func blocTolerance(loss float64) string { return fmt.Sprintf("at most %g %% lost", 100*loss) }

// Rows of BLOC with and without what was mended.
const (
	blocMended     = "bloc, as mended"
	blocNoShrink   = "bloc, nothing empties a node"
	blocSumOfMeans = "bloc, sum of means bounded"
)

// blocVariants are schemes of one part of the page: BLOC with other rules.
func blocVariants() ([]consolidate.Scheme, error) {
	bloc, err := consolidate.LookupScheme("bloc")
	if err != nil {
		return nil, err
	}
	var out []consolidate.Scheme
	add := func(name string, change func(*consolidate.Rules)) {
		s := bloc
		s.Name, s.Rules = name, func() consolidate.Rules {
			r := bloc.Rules()
			change(&r)
			return r
		}
		out = append(out, s)
	}
	for _, loss := range blocTolerances {
		add(blocTolerance(loss), func(r *consolidate.Rules) { r.MostLoss = loss })
	}
	add(blocMended, func(*consolidate.Rules) {})
	add(blocNoShrink, func(r *consolidate.Rules) { r.NoShrink = true })
	add(blocSumOfMeans, func(r *consolidate.Rules) { r.SumOfMeans = true })
	return out, nil
}

func runBLOC(ctx context.Context, env environment) (*Table, error) {
	path, err := dataFile(env, volumesFile)
	if err != nil {
		return nil, err
	}
	volumes, left, err := readVolumes(path)
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: len(blocSeeds), Notes: []string{fmt.Sprintf("40 of %d volumes for each seed; %d without six days were left out; the sixth day is judged", len(volumes), left)}, pictures: map[string]template.HTML{}}
	all, variants := consolidate.Schemes(), []consolidate.Scheme(nil)
	if variants, err = blocVariants(); err != nil {
		return nil, err
	}
	for i, loss := range blocLosses {
		study, err := blocStudy(ctx, env, path, volumes, all, loss.factor)
		if err != nil {
			return nil, err
		}
		t.addBloc(loss.name+": ", study)
		t.pictures[blocPicture(i)] = drawBloc(study)
	}
	study, err := blocStudy(ctx, env, path, volumes, variants, blocLosses[blocMiddle].factor)
	if err != nil {
		return nil, err
	}
	t.addBloc("", study)
	t.addUse(volumes)
	return t, t.addForecasts(volumes)
}

func readVolumes(path string) ([]consolidation.Volume, int, error) {
	windows, err := trace.OpenWindows(path)
	if err != nil {
		return nil, 0, fmt.Errorf("figures: bloc: %w", err)
	}
	defer func() { _ = windows.Close() }() // it was only read: nothing can be lost
	volumes, left, err := consolidation.ReadVolumes(windows)
	if err != nil {
		return nil, 0, fmt.Errorf("figures: bloc: %w", err)
	}
	return volumes, left, nil
}

// blocStudy takes the kept study, or makes it. What one seed gives is part of the key: it says
// whether schemes still do what they did.
func blocStudy(ctx context.Context, env environment, path string, volumes []consolidation.Volume, schemes []consolidate.Scheme, loss float64) (*consolidation.Study, error) {
	o := consolidation.DefaultOptions()
	o.LossFactor = loss
	data, err := fileMark(path)
	if err != nil {
		return nil, err
	}
	sample, err := consolidation.Compare(ctx, volumes, schemes, o, blocSeeds[:1], func(float64, string) {})
	if err != nil {
		return nil, fmt.Errorf("figures: bloc: %w", err)
	}
	mark, err := json.Marshal(sample)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	key := keyOf("bloc", string(mark), data, fmt.Sprint(blocSeeds))
	out := &consolidation.Study{}
	if env.store.get(key, out) && len(out.Schemes) == len(schemes) {
		return out, nil
	}
	out, err = consolidation.Compare(ctx, volumes, schemes, o, blocSeeds, func(done float64, what string) {
		env.tell(fmt.Sprintf("BLOC, losses × %g, %s: %.0f %%", loss, what, 100*done))
	})
	if err != nil {
		return nil, fmt.Errorf("figures: bloc: %w", err)
	}
	return out, env.store.put(key, out)
}

// addBloc puts a study into rows.
func (t *Table) addBloc(prefix string, study *consolidation.Study) {
	bound := slices.IndexFunc(study.Schemes, func(c consolidation.Compared) bool { return c.Name == "oracle" })
	for i := range study.Schemes {
		c := &study.Schemes[i]
		s := samples{}
		for seed, o := range c.Outcomes {
			s.add("savings", o.Savings)
			if bound >= 0 {
				s.add("of_bound", 100*o.Savings/study.Schemes[bound].Outcomes[seed].Savings)
			}
			if d := o.Day; d != nil {
				s.add("performance", 100*d.Performance)
				s.add("worst", 100*d.WorstApplication)
				s.add("loss95", 100*d.LossP95)
				s.add("broken", 100*d.Broken)
				s.add("active", 100*d.ActiveTime)
				s.add("moved", 100*d.MovedShare)
			}
		}
		t.Rows = append(t.Rows, s.row(prefix+c.Name, len(c.Outcomes)))
	}
}

// addUse says how uneven the load of volumes is.
func (t *Table) addUse(volumes []consolidation.Volume) {
	var peak, idle []float64
	for _, v := range volumes {
		rates := slices.Sorted(slices.Values(v.BytesPerSec))
		none, _ := slices.BinarySearch(rates, math.SmallestNonzeroFloat64)
		peak = append(peak, stat.Quantile(rates, 0.95)/gonum.Mean(rates, nil))
		idle = append(idle, 100*float64(none)/float64(len(rates)))
	}
	slices.Sort(peak)
	slices.Sort(idle)
	for _, q := range []struct {
		name string
		at   float64
	}{{"volumes, 10 %", 0.1}, {"volumes, median", 0.5}, {"volumes, 90 %", 0.9}} {
		t.Rows = append(t.Rows, TableRow{q.name, map[string]report.Figure{"peak": {Mean: stat.Quantile(peak, q.at)}, "idle": {Mean: stat.Quantile(idle, q.at)}}})
	}
}

// addForecasts predicts the last day of volumes: by the forecast, by what is seen now, and by
// the same time of the days before.
func (t *Table) addForecasts(volumes []consolidation.Volume) error {
	names := []string{"forecast", "as now", "as on other days"}
	missed := make([][]float64, len(names)) // by volume, % of the mean
	trusted := 0
	perDay := int(dayOfIntervals / consolidation.Interval)
	for _, v := range volumes {
		f, sums, total := consolidate.NewForecast(consolidation.Interval), make([]float64, len(names)), 0.0
		for i, rate := range v.BytesPerSec {
			if i >= len(v.BytesPerSec)-perDay {
				next, ok := f.Next()
				if !ok {
					return fmt.Errorf("figures: bloc: no forecast of volume %s", v.Name)
				}
				history, n := 0.0, 0.0
				for at := i - perDay; at >= 0; at -= perDay {
					history, n = history+v.BytesPerSec[at], n+1
				}
				for k, predicted := range []float64{next, v.BytesPerSec[i-1], history / n} {
					sums[k] += math.Abs(predicted - rate)
				}
				total += rate
			}
			f.Observe(rate)
		}
		if consolidate.Blend(1, 0, f.Wrong()) > 0 {
			trusted++ // other days count
		}
		for k, sum := range sums {
			if total > 0 { // without I/O that day there is no relative error
				missed[k] = append(missed[k], 100*sum/total)
			}
		}
	}
	median := make([]float64, len(names))
	for k, all := range missed {
		slices.Sort(all)
		median[k] = stat.Quantile(all, 0.5)
		t.Rows = append(t.Rows, TableRow{names[k], map[string]report.Figure{"error": {Mean: median[k]}, "error90": {Mean: stat.Quantile(all, 0.9)}}})
	}
	forecast := t.Rows[len(t.Rows)-len(names)].Figures
	forecast["excess"] = report.Figure{Mean: median[0] - min(median[1], median[2])}
	forecast["trusted"] = report.Figure{Mean: 100 * float64(trusted) / float64(len(volumes))}
	return nil
}

// blocVolumes are rows of volumes by how sequential they are: the least, the one in the
// middle, and the most.
var blocVolumes = []string{"the least sequential volume", "the median volume", "the most sequential volume"}

const (
	dayOfIntervals   = 24 * time.Hour
	blocLimit        = 20.0 // ms
	blocCurvePicture = "Latency of the reference disk by bandwidth, MB marked"
	blocCurveSeed    = 1
)

// blocBusy are the points of a curve.
var blocBusy = []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9}

func runBlocCurves(ctx context.Context, env environment) (*Table, error) {
	path, err := dataFile(env, volumesFile)
	if err != nil {
		return nil, err
	}
	volumes, _, err := readVolumes(path)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(volumes, func(a, b consolidation.Volume) int { return cmp.Compare(a.Sequential, b.Sequential) })
	chosen := []consolidation.Volume{volumes[0], volumes[len(volumes)/2], volumes[len(volumes)-1]}
	t := &Table{Seeds: 1, Notes: []string{fmt.Sprintf("a limit of %g ms on the mean latency; seed %d", blocLimit, blocCurveSeed)}, pictures: map[string]template.HTML{}}
	var series []chart.Series
	windows, err := trace.OpenWindows(path)
	if err != nil {
		return nil, fmt.Errorf("figures: bloc: %w", err)
	}
	defer func() { _ = windows.Close() }() // it was only read: nothing can be lost
	curves := make([][]compare.Load, len(chosen))
	sizes := make([]float64, len(chosen))
	err = compare.Volumes(windows, func(v *compare.Volume) error {
		k := slices.IndexFunc(chosen, func(c consolidation.Volume) bool { return c.Name == v.Name })
		if k < 0 {
			return nil
		}
		env.tell("latency against bandwidth: " + blocVolumes[k])
		m, err := v.Model()
		if err != nil {
			return err
		}
		curves[k], err = compare.Curve(ctx, m, blocBusy, blocCurveSeed)
		if err == nil {
			sizes[k] = curves[k][0].BytesPerSec / (blocBusy[0] * curves[k][0].Disk.IOPS) / 1024
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("figures: bloc: %w", err)
	}
	for k, curve := range curves {
		figures := map[string]report.Figure{"sequential": {Mean: 100 * chosen[k].Sequential}, "size": {Mean: sizes[k]}}
		line := chart.Series{Name: blocVolumes[k], Kind: chart.Colour(k)}
		for _, l := range curve {
			line.Points = append(line.Points, chart.Point{X: 100 * l.BytesPerSec / compare.ReferenceBytesPerSec, Y: l.Disk.MeanMilliseconds})
		}
		series = append(series, line)
		if most, ok := compare.MostWithin(curve, blocLimit); ok {
			use := 100 * most.BytesPerSec / compare.ReferenceBytesPerSec
			figures["most"], figures["busy"] = report.Figure{Mean: use}, report.Figure{Mean: 100 * most.Busy}
			series = append(series, chart.Series{Kind: chart.Colour(k), Style: chart.Dots, Points: []chart.Point{{X: use, Y: most.Disk.MeanMilliseconds, Note: "MB of " + blocVolumes[k]}}})
		}
		t.Rows = append(t.Rows, TableRow{blocVolumes[k], figures})
	}
	t.pictures[blocCurvePicture] = report.Plot(blocCurvePicture, chart.Axis{Title: "bandwidth, % of the rating", Log: true, Tight: true}, chart.Axis{Title: "mean latency, ms", High: 5 * blocLimit}, series)
	return t, nil
}

func blocPicture(loss int) string {
	return "Energy saved by performance, " + blocLosses[loss].name
}

// drawBloc has a dot for each scheme.
func drawBloc(study *consolidation.Study) template.HTML {
	var series []chart.Series
	for i := range study.Schemes {
		c := &study.Schemes[i]
		if c.Day == nil {
			continue // a bound has no performance
		}
		series = append(series, chart.Series{
			Name: c.Name, Kind: chart.Colour(len(series)), Style: chart.Dots,
			Points: []chart.Point{{X: 100 * c.Day.Performance, Y: c.Savings, Note: c.Name}},
		})
	}
	return report.Plot("energy saved by performance", chart.Axis{Title: "performance, %"}, chart.Axis{Title: "energy saved, times"}, series)
}
