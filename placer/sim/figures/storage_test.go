package figures

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/sim/consolidation"
)

// writeData puts a file of public data below a folder.
func writeData(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// blockTrace is one of two phases, in the form of the public one.
func blockTrace(ios int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("version,time,op,size,lbn\n")
	for i := range ios {
		op := []string{"28", "2a"}[rng.IntN(2)]
		fmt.Fprintf(&b, "1,%d,%s,4096,%d\n", 100+i/20, op, int64(i*2/ios)<<20+rng.Int64N(1<<16)*8)
	}
	return b.String()
}

// blockStatistics are those of volumes that do more by day.
func blockStatistics(volumes int) string {
	var b strings.Builder
	b.WriteString("volume,window,read_block_req_count,write_block_req_count,read_io_request_size_sum,write_io_request_size_sum,read_seq_count,write_seq_count,range\n")
	for v := range volumes {
		for w := range 6 * 48 {
			reads := int(1000 * (1.5 + math.Sin(2*math.Pi*float64(w+v)/48)))
			fmt.Fprintf(&b, "v%02d,%d,%d,100,%d,819200,%d,0,1099511627776\n", v, w, reads, reads*8192, reads*v/volumes)
		}
	}
	return b.String()
}

func tinyEnvironment(t *testing.T) environment {
	t.Helper()
	data := t.TempDir()
	writeData(t, data, storageTraceFile, blockTrace(4000))
	writeData(t, data, volumesFile, blockStatistics(5))
	return environment{data: data, store: &store{folder: t.TempDir()}, tell: func(string) {}}
}

// checkTable looks for every row that experiments over a computation speak of, but for those
// that hold what was published, and for their pictures.
func checkTable(t *testing.T, all []Experiment, of *Computation, table *Table) {
	t.Helper()
	known := map[string]bool{}
	for _, r := range table.Rows {
		known[r.Name] = true
	}
	for _, e := range all {
		if e.Compute != of {
			continue
		}
		own := append(slices.Clone(e.Rows), e.Headline)
		for _, q := range e.Requires {
			for _, u := range q.uses {
				own = append(own, u.at)
				if _, ok := u.quantity.of(&results{table: table}, u.at); !ok {
					t.Errorf("%s: %q speaks of %s of %s, which is not known", e.ID, q.Text, u.quantity.Name, u.at)
				}
			}
		}
		for _, a := range own {
			if !known[a.Policy] && e.Quantities[0].Published[a.Policy] == (Number{}) && a.Policy != messenger {
				t.Errorf("%s speaks of %s, which is not computed", e.ID, a)
			}
		}
		for _, p := range e.Plots {
			if p.rows == nil && table.pictures[p.Title] == "" {
				t.Errorf("%s has no picture %q", e.ID, p.Title)
			}
		}
	}
}

func TestStorageTable(t *testing.T) {
	t.Parallel()
	env := tinyEnvironment(t)
	first, err := storageTable(t.Context(), env, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, storageExperiments, storageTwins, first)
	kept, err := os.ReadDir(env.store.folder)
	if err != nil || len(kept) != len(storageSettings) {
		t.Errorf("%d reports are kept, %v", len(kept), err)
	}
	again, err := storageTable(t.Context(), env, []uint64{1})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("what is kept gives another table: %v", err)
	}
	replay, ok := first.figure("whole: replay", "ranges")
	if !ok || replay.Mean != 0 {
		t.Errorf("a replay of the whole differs from it by %v", replay)
	}
	// The halves are in different ranges: nothing that was fitted to one tells the other.
	if half, _ := first.figure("second half: walk", "ranges"); half.Mean < 90 {
		t.Errorf("the second half differs by %g %%", half.Mean)
	}
	if d := string(first.pictures[storageDiagramPicture]); strings.Count(d, "state ") < 4 {
		t.Errorf("the diagram: %s", d)
	}
}

func TestStorageStatisticsAndCurves(t *testing.T) {
	t.Parallel()
	env := tinyEnvironment(t)
	statistics, err := runStorageStatistics(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, storageExperiments, storageStatistics, statistics)
	curves, err := runBlocCurves(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, blocExperiments, blocCurves, curves)
}

// Without the data nothing is made up.
func TestWithoutStorageData(t *testing.T) {
	t.Parallel()
	for _, c := range []*Computation{storageTwins, storageStatistics, blocStudied, blocCurves} {
		for _, data := range []string{"", t.TempDir()} {
			env := environment{data: data, store: &store{}, tell: func(string) {}}
			if _, err := c.run(context.Background(), env); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// The table of BLOC's page, from a study of one seed in which every scheme has a number of its
// own.
func TestBlocTable(t *testing.T) {
	t.Parallel()
	variants, err := blocVariants()
	if err != nil {
		t.Fatal(err)
	}
	table := &Table{}
	studyOf := func(schemes []consolidate.Scheme) *consolidation.Study {
		s := &consolidation.Study{}
		for i, scheme := range schemes {
			o := &consolidation.Outcome{Scheme: scheme.Name, Savings: float64(i + 1)}
			if !scheme.Bound {
				o.Day = &consolidation.Day{Performance: 1 / float64(i+1)}
			}
			s.Schemes = append(s.Schemes, consolidation.Compared{Name: scheme.Name, Savings: o.Savings, Day: o.Day, Outcomes: []*consolidation.Outcome{o}})
		}
		return s
	}
	for i, loss := range blocLosses {
		study := studyOf(consolidate.Schemes())
		table.addBloc(loss.name+": ", study)
		table.pictures = map[string]template.HTML{}
		for j := range blocLosses {
			table.pictures[blocPicture(j)] = drawBloc(study)
		}
		if bound, _ := table.figure(blocLosses[i].name+": oracle", "of_bound"); bound.Mean != 100 {
			t.Errorf("the bound is %g %% of itself", bound.Mean)
		}
	}
	table.addBloc("", studyOf(variants))
	// History is right in every interval of a volume whose days are alike, and of no use where
	// they are not.
	var volumes []consolidation.Volume
	rng := rand.New(rand.NewPCG(1, 2))
	for v := range 4 {
		rates := make([]float64, 6*48)
		for i := range rates {
			rates[i] = 2 + math.Sin(2*math.Pi*float64(i)/48)
			if v == 3 {
				rates[i] = rng.ExpFloat64()
			}
		}
		volumes = append(volumes, consolidation.Volume{Name: fmt.Sprint(v), BytesPerSec: rates})
	}
	table.addUse(volumes)
	if err := table.addForecasts(volumes); err != nil {
		t.Fatal(err)
	}
	checkTable(t, blocExperiments, blocStudied, table)
	for metric, want := range map[string]float64{"error": 0, "trusted": 75} {
		if got, _ := table.figure("forecast", metric); math.Abs(got.Mean-want) > 1e-9 {
			t.Errorf("%s of the forecast: %g instead of %g", metric, got.Mean, want)
		}
	}
	if now, _ := table.figure("as now", "error"); now.Mean <= 1 {
		t.Errorf("the present tells the next interval of a sine to %g %%", now.Mean)
	}
}
