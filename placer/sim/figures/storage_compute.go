package figures

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// storageTwins are models of a public trace, judged in every setting under several seeds. Its
// rows:
//
//	whole: walk                 a stream against what judges it
//	whole: original             what judges: latencies only
//	whole: run to run           weights, and how far runs are apart
//	whole: flat, 3 levels       the hierarchical walk against the flat one
//	level 3, chosen, 2 % rule   the levels of the first setting
var storageTwins = &Computation{
	Name: "storage twins", Source: storageTraceFile,
	Metrics: []string{
		"reads", "random", "size", "sizes", "ranges", "gap", "iops", "latency", "hits", "mean_ms", "p50_ms", "p95_ms", "p99_ms",
		"miss1", "miss2", "miss4", "miss8", "miss16", "miss32", "weight", "iops_spread", "latency_spread", "model",
		"levels", "states", "pairs", "flat_pairs", "transitions", "change", "apart",
	},
	run: runStorage,
}

// storageStatistics are volumes of which there are statistics.
var storageStatistics = &Computation{
	Name: "statistics of volumes", Source: volumesFile, Metrics: []string{"median", "within", "volumes"}, run: runStorageStatistics,
}

// The public data, below the folder of data sets.
const (
	storageTraceFile = "block-io-cloudphysics/io_first.csv.gz"
	volumesFile      = "block-io-30min/cloudphysics_30min.csv.gz"
)

const (
	storageShort   = 10 * time.Second
	storageDeepest = 8
	storageRuns    = "run to run"
	storageOf      = "original"
)

// storageSeeds are five runs: the least that run-to-run variance is judged by (§A.4.4).
var storageSeeds = []uint64{1, 2, 3, 4, 5}

// storageCaches are how many caches of a size hold all that is touched, the smallest first.
var storageCaches = []int{32, 16, 8, 4, 2, 1}

func storageCache(part int) string  { return fmt.Sprintf("miss%d", part) }
func storageLevel(level int) string { return fmt.Sprintf("level %d", level) }
func storageFlat(levels int) string { return fmt.Sprintf("flat, %d levels", levels) }

// storageSetting is how a model is fitted and judged.
type storageSetting struct {
	name     string
	split    float64       // of the I/Os that are fitted; 1: the whole judges the whole
	interval time.Duration // 0: 30 minutes
}

// dataFile is a file of the public data; fs.ErrNotExist where it is not here.
func dataFile(env environment, name string) (string, error) {
	if env.data == "" {
		return "", fmt.Errorf("figures: public data: %w", fs.ErrNotExist)
	}
	path := filepath.Join(env.data, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("figures: %w", err)
	}
	return path, nil
}

// fileMark is what a file has in it, for keys.
func fileMark(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("figures: %w", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

func runStorage(ctx context.Context, env environment) (*Table, error) {
	return storageTable(ctx, env, storageSeeds)
}

func storageTable(ctx context.Context, env environment, seeds []uint64) (*Table, error) {
	path, err := dataFile(env, storageTraceFile)
	if err != nil {
		return nil, err
	}
	reports, err := storageReports(ctx, env, path, seeds)
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: len(seeds), Notes: []string{"a walk, and what judges it; " + storageTraceFile + "; the exact replay has no seed"}, pictures: map[string]template.HTML{}}
	for i, s := range storageSettings {
		t.addStorage(s, reports[i])
		first := reports[i][0]
		t.pictures[storageMissPicture(i)] = first.MissPicture()
		t.pictures[storageStatesPicture(i)] = first.StatePicture()
	}
	t.addLevels(reports[0][0].Levels)
	m, _, err := compare.Fit(ctx, openTrace(path), compare.Options{Levels: 1})
	if err != nil {
		return nil, fmt.Errorf("figures: storage: %w", err)
	}
	t.pictures[storageDiagramPicture] = storageDiagram(m.Between(1))
	return t, nil
}

func openTrace(path string) compare.Source {
	return func() (storage.Trace, error) { return trace.Open(path, "") }
}

// storageReports takes kept reports, or makes them: by setting and seed. What the beginning of
// the trace gives is part of the key: it says whether models still are what they were.
func storageReports(ctx context.Context, env environment, path string, seeds []uint64) ([][]*compare.Report, error) {
	data, err := fileMark(path)
	if err != nil {
		return nil, err
	}
	beginning := func() (storage.Trace, error) {
		t, err := trace.Open(path, "")
		return &beginningOf{t, storageSample}, err
	}
	sample, err := compare.Trace(ctx, beginning, compare.Options{Split: 0.5, Seed: 1, Weights: storageSample})
	if err != nil {
		return nil, fmt.Errorf("figures: storage: %w", err)
	}
	mark, err := json.Marshal(sample)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	out := make([][]*compare.Report, len(storageSettings))
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var told sync.Mutex
	done := 0
	for i, s := range storageSettings {
		out[i] = make([]*compare.Report, len(seeds))
		for j, seed := range seeds {
			group.Go(func() error {
				r, err := storageReport(running, env, path, s, seed, keyOf("storage", string(mark), data, fmt.Sprint(s, seed)))
				out[i][j] = r
				told.Lock()
				defer told.Unlock()
				done++
				env.tell(fmt.Sprintf("storage twins: %d of %d", done, len(storageSettings)*len(seeds)))
				return err
			})
		}
	}
	return out, group.Wait()
}

// storageSample is how many I/Os say whether models are what they were.
const storageSample = 2000

func storageReport(ctx context.Context, env environment, path string, s storageSetting, seed uint64, key string) (*compare.Report, error) {
	r := &compare.Report{}
	if env.store.get(key, r) && len(r.Streams) > 0 {
		return r, nil
	}
	r, err := compare.Trace(ctx, openTrace(path), compare.Options{Split: s.split, Interval: s.interval, Seed: seed})
	if err != nil {
		return nil, fmt.Errorf("figures: storage: %w", err)
	}
	return r, env.store.put(key, r)
}

// beginningOf is the begin of a trace.
type beginningOf struct {
	storage.Trace
	left int
}

// Next fills the next I/O.
func (b *beginningOf) Next(r *storage.Record) error {
	if b.left == 0 {
		return io.EOF
	}
	b.left--
	return b.Trace.Next(r)
}

// comparedBy are the metrics of the rows of a comparison, in their order (compare.judge).
var comparedBy = []struct{ metric, row string }{
	{"reads", "reads, % of the I/Os"}, {"random", "random, % of the I/Os"}, {"size", "mean size, bytes"}, {"sizes", "mix of sizes"},
	{"ranges", "64 ranges of addresses"}, {"gap", "mean gap, ms"}, {"iops", "IOPS of the reference disk"}, {"latency", "mean latency of the reference disk, ms"},
	{"hits", "hits of a cache, mean of six sizes, %"},
}

// samples are the values of metrics, one per seed.
type samples map[string][]float64

func (s samples) add(metric string, v float64) { s[metric] = append(s[metric], v) }

// differences adds what rows of a comparison differ by.
func (s samples) differences(rows []compare.Row) {
	for _, by := range comparedBy {
		i := slices.IndexFunc(rows, func(r compare.Row) bool { return r.Name == by.row })
		if i >= 0 && rows[i].Difference != nil {
			s.add(by.metric, *rows[i].Difference)
		}
	}
}

func (s samples) latencies(d compare.DiskResult) {
	s.add("mean_ms", d.MeanMilliseconds)
	s.add("p50_ms", d.P50Milliseconds)
	s.add("p95_ms", d.P95Milliseconds)
	s.add("p99_ms", d.P99Milliseconds)
}

// misses adds how far miss ratios are apart, in points.
func (s samples) misses(original, synthetic []compare.MissPoint) {
	for i, part := range storageCaches {
		s.add(storageCache(part), 100*max(original[i].MissRatio-synthetic[i].MissRatio, synthetic[i].MissRatio-original[i].MissRatio))
	}
}

// row has the means over seeds with their intervals; a metric that a seed has not is left out.
func (s samples) row(name string, seeds int) TableRow {
	out := TableRow{name, map[string]report.Figure{}}
	for metric, values := range s {
		switch {
		case len(values) != seeds:
		case slices.Min(values) == slices.Max(values):
			out.Figures[metric] = report.Figure{Mean: values[0]} // what no seed changes has no interval
		default:
			out.Figures[metric] = report.Interval("", values)
		}
	}
	return out
}

// addStorage puts the reports of a setting, one per seed, into rows.
func (t *Table) addStorage(setting storageSetting, reports []*compare.Report) {
	first := reports[0]
	name := func(stream string) string { return setting.name + ": " + stream }
	add := func(stream string, fill func(r *compare.Report, into samples)) {
		s := samples{}
		for _, r := range reports {
			fill(r, s)
		}
		t.Rows = append(t.Rows, s.row(name(stream), len(reports)))
	}
	add(storageOf, func(r *compare.Report, into samples) { into.latencies(r.Original.Disk) })
	for i := range first.Streams {
		add(first.Streams[i].Name, func(r *compare.Report, into samples) {
			into.differences(r.Streams[i].Rows)
			into.misses(r.Original.MissRatio, r.Streams[i].Measured.MissRatio)
			into.latencies(r.Streams[i].Measured.Disk)
		})
	}
	for i := range first.Flat {
		add(storageFlat(first.Flat[i].Levels), func(r *compare.Report, into samples) { into.differences(r.Flat[i].Rows) })
	}
	runs := samples{}
	var iops, latency []float64
	for _, r := range reports {
		if r.Weights.Difference != nil {
			runs.add("weight", ppmOfPercent**r.Weights.Difference)
		}
		runs.add("model", float64(r.ModelBytes)/1024)
		disk := r.Streams[0].Measured.Disk // the walk
		iops, latency = append(iops, disk.IOPS), append(latency, disk.MeanMilliseconds)
	}
	row := runs.row(name(storageRuns), len(reports))
	row.Figures["iops_spread"], row.Figures["latency_spread"] = runsApart(iops), runsApart(latency)
	t.Rows = append(t.Rows, row)
}

// ppmOfPercent are parts per million in a percent: tables have one digit behind the point.
const ppmOfPercent = 1e4

// runsApart is how much more the largest is than the least, in percent.
func runsApart(values []float64) report.Figure {
	return report.Figure{Mean: 100 * (slices.Max(values)/slices.Min(values) - 1)}
}

// addLevels puts the levels that were tried into rows, and which the rules say.
func (t *Table) addLevels(levels []compare.Level) {
	rule, chosen := 0, 0
	for _, l := range levels {
		figures := map[string]report.Figure{
			"levels": {Mean: float64(l.Levels)}, "states": {Mean: float64(l.States)}, "pairs": {Mean: float64(l.Pairs)}, "flat_pairs": {Mean: float64(model.FlatPairs(l.Levels))},
			"transitions": {Mean: float64(l.Transitions)}, "apart": {Mean: l.MissApart},
		}
		if l.IOPSChange != nil {
			figures["change"] = report.Figure{Mean: *l.IOPSChange}
			if rule == 0 && *l.IOPSChange < 2 {
				rule = l.Levels
			}
		}
		if l.Chosen {
			chosen = l.Levels
		}
		t.Rows = append(t.Rows, TableRow{storageLevel(l.Levels), figures})
	}
	if rule > 0 {
		t.Rows = append(t.Rows, TableRow{"2 % rule", map[string]report.Figure{"levels": {Mean: float64(rule)}}})
	}
	t.Rows = append(t.Rows, TableRow{"chosen", map[string]report.Figure{"levels": {Mean: float64(chosen)}}})
}

func runStorageStatistics(ctx context.Context, env environment) (*Table, error) {
	path, err := dataFile(env, volumesFile)
	if err != nil {
		return nil, err
	}
	windows, err := trace.OpenWindows(path)
	if err != nil {
		return nil, fmt.Errorf("figures: storage: %w", err)
	}
	defer func() { _ = windows.Close() }() // it was only read: nothing can be lost
	env.tell("statistics of volumes")
	r, err := compare.Totals(ctx, windows, compare.Options{Split: 0.5, Seed: 1})
	if err != nil {
		return nil, fmt.Errorf("figures: storage: %w", err)
	}
	t := &Table{Seeds: 1, Notes: []string{fmt.Sprintf("%d volumes, and %d with too few I/Os in one of the halves; the first half of the time against the second", len(r.Volumes), r.Skipped)}}
	for _, f := range r.Features {
		if f.Median == nil {
			continue
		}
		name, median := cmp.Or(statisticsRows[f.Name], f.Name), *f.Median
		if f.Unit == "" {
			median *= 100 // a correlation
		}
		t.Rows = append(t.Rows, TableRow{name, map[string]report.Figure{
			"median": {Mean: median}, "within": {Mean: 100 * float64(f.Met) / float64(f.Judged)}, "volumes": {Mean: float64(f.Judged)},
		}})
	}
	return t, nil
}

// statisticsRows are the names of rows here, by those of package compare.
var statisticsRows = map[string]string{
	"reads, % of the I/Os": "reads", "not sequential, % of the I/Os": "not sequential", "mean size, bytes": "mean size", "mean gap, ms": "mean gap",
	"correlation of the rates of 30 minutes": "rates of a walk: correlation", "rates of 30 minutes, mean deviation": "rates of a walk: mean deviation",
}
