package foreign_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/foreign"
)

func matrixOf(t *testing.T, cells, text string) (foreign.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return foreign.ReadMatrix(t.Context(), path, cells)
}

// A row is a profile whose application is its group; every profile can be stored.
func TestMatrixProfiles(t *testing.T) {
	t.Parallel()
	for cells, text := range map[string]string{
		"speed":     "row,group,replicate,big,small\na,g,1,4,2\na,g,2,6,\nb,g,1,,1\n",
		"size":      "row,1,2,4 cores\na,1,2,3\n",
		"tolerated": "row,column,value,low,high\na,llc_cap,50,40,60\na,tlb,90,,\n",
		"caused":    "row,column,value,deviation\na,llc_cap,95,5\n",
	} {
		r, err := matrixOf(t, cells, text)
		if err != nil {
			t.Errorf("%s: %v", cells, err)
			continue
		}
		for _, p := range r.Profiles {
			if err := p.Check(); err != nil {
				t.Errorf("%s: %v", cells, err)
			}
		}
		p := r.Profiles[0]
		switch cells {
		case "speed":
			if p.Application() != "g" || p.Isolated["big"].Value != 5 || p.Isolated["big"].Windows != 2 || p.Provenance.Repetitions != 2 || len(r.Profiles) != 2 {
				t.Errorf("%+v", p)
			}
			if c := r.Files[0]; c.Measurements != 4 || c.Taken != 4 {
				t.Errorf("%+v", c)
			}
		case "size":
			if p.Application() != "a" || len(p.ScaleUp) != 3 || p.ScaleUp[2].Cores != 4 || p.ScaleUp[2].Speed.Value != 3 {
				t.Errorf("%+v", p)
			}
		case "tolerated":
			e := p.Sensitivity.Tolerated["llc_cap"]
			if e.Score.Or(-1) != 50 || e.Low.Or(-1) != 40 || e.High.Or(-1) != 60 || p.Sensitivity.Tolerated["tlb"].Low.Known() {
				t.Errorf("%+v", p.Sensitivity)
			}
		case "caused":
			if e := p.Sensitivity.Caused["llc_cap"]; e.High.Or(-1) != 100 || math.Abs(e.Low.Or(-1)-85.2) > 0.01 {
				t.Errorf("%+v", e)
			}
		}
	}
}

func TestMatrixRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cells, text, want string }{
		{"tolerated", "row,llc_cap,magic,other\na,1,2,3\n", "column magic: is no source of interference"},
		{"size", "row,many\na,1\n", "column many: is no number of CPUs (columns of sizes"},
		{"caused", "row,tlb\na,120\n", "m.csv:2: column tlb: 120 is not possible"},
	} {
		if _, err := matrixOf(t, c.cells, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.cells, err, c.want)
		}
	}
	if _, err := matrixOf(t, "magic", "row,a\nx,1\n"); !errors.Is(err, foreign.ErrCells) {
		t.Errorf("%v", err)
	}
	if _, err := foreign.ReadMatrix(t.Context(), "nothing.csv", "speed"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
