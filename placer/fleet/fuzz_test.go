package fleet

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// FuzzCompare: whatever nodes leave as calibrations is refused, or compared in numbers.
func FuzzCompare(f *testing.F) {
	good, err := json.Marshal(calibrationOf("c", 100, 50))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, good)
	f.Add(good, []byte(`{"format":2,"id":"c","kernels":[{"source":"int","peak_ops_per_sec":1e308}]}`))
	f.Add(good, []byte(`{"format":2,"id":"c","kernels":[{"source":"int","peak_ops_per_sec":5e-324},{"source":"int","peak_ops_per_sec":1e18}]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		report := &Report{Outcomes: []Outcome{{Node: "a", Kept: &Kept{Result: a}}, {Node: "b", Kept: &Kept{Result: b}}}}
		_, apart, err := Compare(report)
		if err != nil {
			return
		}
		for _, s := range apart {
			if !(s.ApartPercent >= 0) || math.IsInf(s.ApartPercent, 0) || s.Low > s.High {
				t.Errorf("%+v", s)
			}
		}
	})
}

// FuzzKept: a kept result is whole, or torn.
func FuzzKept(f *testing.F) {
	good, err := json.Marshal(Kept{Receipt: profiler.NewReceipt("b", []byte("x")), Result: []byte("x")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"result":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "k.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		k, err := load(folder, "k")
		if (k == nil) == (err == nil) || err != nil && !errors.Is(err, profiler.ErrTorn) || k != nil && k.Receipt.Check(k.Result) != nil {
			t.Errorf("%+v, %v", k, err)
		}
	})
}
