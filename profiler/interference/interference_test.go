package interference_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestUnknownIsNotZero(t *testing.T) {
	t.Parallel()
	var s interference.Score
	if v, ok := s.Percent(); ok || !math.IsNaN(v) {
		t.Errorf("the zero score has the value %v, %v", v, ok)
	}
	if s != interference.Unknown || s.Known() || s.Or(7) != 7 || s.String() != "unknown" {
		t.Errorf("the zero score is not Unknown: %v", s)
	}
	if interference.Percent(0) == interference.Unknown {
		t.Error("zero percent equals Unknown")
	}
}

func TestPercentIsClippedAndNeverNaN(t *testing.T) {
	t.Parallel()
	for in, want := range map[float64]float64{-5: 0, 0: 0, 42.5: 42.5, 100: 100, 250: 100, math.Inf(1): 100, math.Inf(-1): 0} {
		if got := interference.Percent(in).Or(-1); got != want {
			t.Errorf("Percent(%v) = %v, want %v", in, got, want)
		}
	}
	if interference.Percent(math.NaN()).Known() {
		t.Error("NaN became a score")
	}
}

func TestScoreJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []interference.Score{interference.Unknown, interference.Percent(0), interference.Percent(33.25)} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back interference.Score
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%v became %s and then %v, %v", s, b, back, err)
		}
	}
	for _, bad := range []string{"-1", "101", `"x"`, "{}"} {
		var s interference.Score
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s was read as %v", bad, s)
		}
	}
}

func TestSourcesAreListedOnce(t *testing.T) {
	t.Parallel()
	seen := map[interference.Source]bool{}
	for _, i := range interference.Sources() {
		if seen[i.Source] || i.Title == "" || i.Scope == "" || i.SoI == "" {
			t.Errorf("incomplete or double: %+v", i)
		}
		seen[i.Source] = true
	}
	// Delimitrou 2015, §5.3 describes fifteen sources and two L2 variants.
	if len(seen) != 17 {
		t.Errorf("%d sources, want 17", len(seen))
	}
	if _, err := interference.ParseSource("llc"); err == nil || !strings.Contains(err.Error(), "llc_cap") {
		t.Errorf("an unknown name must list the known ones, got %v", err)
	}
}

func TestVectorKeepsColumnsAndGaps(t *testing.T) {
	t.Parallel()
	s := interference.Scores{interference.TLB: {Score: interference.Percent(12)}}
	v := s.Vector([]interference.Source{interference.L1Data, interference.TLB})
	if !math.IsNaN(v[0]) || v[1] != 12 {
		t.Errorf("got %v", v)
	}
}
