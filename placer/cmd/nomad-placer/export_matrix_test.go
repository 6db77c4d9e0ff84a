package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/profiler/foreign"
	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// TestExportedMatrixIsWhatEvaluateReads: a matrix is, cell for cell, what evaluate makes of the
// profiles themselves. The shipped rows were measured on fewer configurations than it takes.
func TestExportedMatrixIsWhatEvaluateReads(t *testing.T) {
	t.Parallel()
	shipped, err := training.Load()
	if err != nil {
		t.Fatal(err)
	}
	fast := []profile.Profile{{Key: "a", Workload: "team/a/g"}, {Key: "b", Workload: "team/b/g"}}
	for i := range fast {
		fast[i].Isolated = map[string]profile.Measurement{}
		for j, configuration := range []string{"small", "big, with \"comma\"", "slow"} {
			v := 1e3/float64(3+i) + float64(j)
			fast[i].Isolated[configuration] = profile.Measurement{Value: v, Low: 0.9 * v, High: 1.1 * v, Unit: "frames/s"}
		}
		fast[i].Isolated["stood still"] = profile.Measurement{}
	}
	for _, c := range []struct {
		kind, set string
		cells     tables.Cells
		profiles  []profile.Profile
		least     int // cells
	}{
		{"tolerated", "tolerated scores", tables.PointCells, shipped, 400},
		{"caused", "caused scores", tables.PointCells, shipped, 400},
		{"speed", "speed by configuration", tables.SpeedCells, fast, 6},
	} {
		all := make([]knownRecord, len(c.profiles))
		for i, p := range c.profiles {
			all[i].Profile = p
		}
		sets := dataset.FromProfiles(c.profiles)
		i := slices.IndexFunc(sets, func(s dataset.Set) bool { return s.Name == c.set })
		if i < 0 {
			t.Fatalf("the profiles have no %s", c.set)
		}
		got, err := dataset.ReadMatrix(exported(t, all, c.kind), c.cells)
		if err != nil {
			t.Fatal(err)
		}
		want, is := cellsOf(sets[i]), cellsOf(got)
		if len(is) < c.least || len(is) != len(want) {
			t.Errorf("%s: %d cells, and the profiles have %d", c.kind, len(is), len(want))
		}
		for name, cell := range is {
			if w, ok := want[name]; !ok || cell != w {
				t.Errorf("%s: %v is %v, want %v", c.kind, name, cell, w)
			}
		}
	}
}

func exported(t *testing.T, all []knownRecord, kind string) (path string) {
	t.Helper()
	var out bytes.Buffer
	if err := writeMatrix(&out, all, kind); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), kind+".csv")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cellOf a set: its value, and its deviation in thousandths; -1 where it has none.
type cellOf struct{ value, deviation float64 }

func cellsOf(s dataset.Set) map[[3]string]cellOf {
	out := map[[3]string]cellOf{}
	for _, row := range s.Rows {
		for j, cell := range row.Cells {
			if len(cell) == 0 {
				continue
			}
			c := cellOf{value: cell[0], deviation: -1}
			if s.Kind == dataset.Interference && j < len(row.Deviation) && !math.IsNaN(row.Deviation[j]) {
				c.deviation = math.Round(1000 * row.Deviation[j])
			}
			out[[3]string{row.Name, row.Group, s.Columns[j]}] = c
		}
	}
	return out
}

// TestExportedMatrixHasWhatProductionTaught: a score that was never profiled, and whose
// workload has a name with a comma, comes out as it was learnt and is imported.
func TestExportedMatrixHasWhatProductionTaught(t *testing.T) {
	t.Parallel()
	likelihood := make([]float64, profile.LikelihoodLevels)
	for i := range likelihood {
		likelihood[i] = max(-12, -math.Pow(float64(i)*profile.LikelihoodStepPoints-40, 2)/20)
	}
	said := profile.Production{
		Format: profile.ProductionFormat, Key: "k1", Workload: `team/a, "b"/c`, Updated: dashboardtest.Now, SlowdownMax: 5,
		Caused: profile.Likelihoods{interference.MemoryBandwidth: {Own: likelihood, Experiments: 6}},
	}
	all := []knownRecord{{Profile: profile.Profile{Key: "k1", Workload: said.Workload, Taken: said.Updated, SlowdownMax: 5}, Production: &said}}
	path := exported(t, all, "caused")
	m, err := tables.ReadMatrixFile(path, tables.PointCells)
	if err != nil {
		t.Fatal(err)
	}
	row := all[0].row()
	e := row.Sensitivity.Caused[interference.MemoryBandwidth]
	cell := m.Rows[0].Cells[0][0]
	if len(m.Rows) != 1 || m.Rows[0].Name != "k1" || m.Rows[0].Group != said.Workload || m.Columns[0] != string(interference.MemoryBandwidth) {
		t.Errorf("%+v", m)
	}
	if cell.Value != e.Score.Or(-1) || cell.Low != e.Low.Or(-1) || cell.High != e.High.Or(-1) || math.Abs(cell.Value-40) > 5 {
		t.Errorf("%+v, and %+v was learnt", cell, e)
	}
	r, err := foreign.ReadMatrix(t.Context(), path, "caused")
	if err != nil || len(r.Profiles) != 1 || math.Abs(r.Profiles[0].Sensitivity.Caused[interference.MemoryBandwidth].Score.Or(-1)-cell.Value) > 0.1 {
		t.Errorf("imported: %v, %+v", err, r.Profiles)
	}
	if line := matrixLine(profile.Profile{Key: "c"}, "x", 5, 6, 7); !slices.Equal(line, []string{"c", "x", "5", "", "", "c"}) {
		t.Errorf("without a workload, and with an interval that does not hold the value: %q", line)
	}
	if err := writeMatrix(&bytes.Buffer{}, all, "tolerated"); err == nil || !strings.HasPrefix(err.Error(), "tolerated: no profile") {
		t.Errorf("without a cell: %v", err)
	}
}
