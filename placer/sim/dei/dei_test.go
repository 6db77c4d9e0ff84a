package dei_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/dei"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// planted loses slope points of the population per point of error beyond a free
// range, more below 0 than above.
func planted(free, down, up float64) dei.Quality {
	return func(_ context.Context, s dei.Score, points float64) ([]float64, error) {
		lost := max(0, -points-free)*down + max(0, points-free)*up
		if s.Caused {
			lost /= 4
		}
		return []float64{80 - lost, 60 - 1.2*lost}, nil
	}
}

// LSH paper, §II.B: (−Y, X), asymmetric, to the last quarter of a step; a score that
// never costs 5 points has the whole range.
func TestFind(t *testing.T) {
	t.Parallel()
	scores := dei.Scores([]interference.Source{interference.TLB})
	found, err := dei.Find(t.Context(), scores, planted(2, 0.5, 0.2))
	if err != nil {
		t.Fatal(err)
	}
	// The mean loss is 1.1 × slope × (|e| − 2): 5 points at −11.09 and at 24.7.
	if i := found[0]; i.Low != -10 || i.High != 22.5 || i.Width() != 32.5 {
		t.Errorf("tolerated: %+v", i)
	}
	if i := found[1]; i.Low != -37.5 || i.High != 50 {
		t.Errorf("caused: %+v", i)
	}
	for _, i := range found {
		if len(i.LossLow) != 2 || len(i.LossHigh) != 2 || len(i.Widths) != 2 || i.Widths[0] < i.Widths[1] {
			t.Errorf("%+v", i)
		}
	}
	if !found[0].Holds(40, 30) || found[0].Holds(60, 30) || found[0].Holds(15, 30) || !found[0].Holds(20, 30) {
		t.Error("an interval holds what it should not, or the other way round")
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	of := func(s interference.Source, caused bool, low, high float64) dei.Interval {
		return dei.Interval{Score: dei.Score{Source: s, Caused: caused}, Low: low, High: high}
	}
	got := dei.Rank([]dei.Interval{
		of(interference.Integer, false, -50, 50), of(interference.Integer, true, -20, 20),
		of(interference.TLB, false, -5, 10), of(interference.TLB, true, -50, 50),
		of(interference.MemoryBandwidth, false, -20, 20), of(interference.MemoryBandwidth, true, -20, 20),
	})
	if want := []interference.Source{interference.TLB, interference.Integer, interference.MemoryBandwidth}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestFindFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		quality dei.Quality
		want    error
	}{
		"at once": {func(context.Context, dei.Score, float64) ([]float64, error) { return nil, broken }, broken},
		"other seeds": {func(_ context.Context, _ dei.Score, points float64) ([]float64, error) {
			return make([]float64, 2+int(math.Abs(points))), nil
		}, dei.ErrSeeds},
	} {
		if _, err := dei.Find(t.Context(), dei.Scores([]interference.Source{interference.TLB}), c.quality); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// In the simulated world an error of 0 changes nothing, a large one does, and the
// same error twice gives the same.
func TestSimulated(t *testing.T) {
	t.Parallel()
	s, err := scenario.Load("../../../examples/sim/lsh-errors.hcl")
	if err != nil {
		t.Fatal(err)
	}
	s.Seeds = s.Seeds[:2]
	quality := dei.Simulated(s, "paragon")
	score := dei.Score{Source: interference.MemoryBandwidth}
	var all [][]float64
	for _, points := range []float64{0, 0, 40, 40} {
		q, err := quality(t.Context(), score, points)
		if err != nil || len(q) != 2 {
			t.Fatal(q, err)
		}
		all = append(all, q)
	}
	if !slices.Equal(all[0], all[1]) || !slices.Equal(all[2], all[3]) || slices.Equal(all[0], all[2]) {
		t.Errorf("%v", all)
	}
	if _, err := quality(t.Context(), dei.Score{Source: "nonsense"}, 5); err == nil {
		t.Error("an unknown source has a quality")
	}
}
