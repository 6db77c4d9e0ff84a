package training_test

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

func measured(percent float64) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(percent), Origin: interference.Measured}
}

// A second look fills what was open, keeps what was known and is not now, and is
// not taken a third time.
func TestRefine(t *testing.T) {
	t.Parallel()
	unknown := interference.Estimate{Note: "not told from noise"}
	const known, halfKnown, open, lost = interference.LLCCapacity, interference.Integer, interference.TLB, interference.Vector
	r := row("a")
	r.Sensitivity = interference.Sensitivity{
		Tolerated: interference.Scores{known: measured(30), halfKnown: unknown, open: unknown, lost: measured(80)},
		Caused:    interference.Scores{known: measured(10), halfKnown: measured(20), open: unknown, lost: unknown},
	}
	r.Ramp = []profile.RampPoint{{Source: known, IntensityPercent: 50}, {Source: open, IntensityPercent: 50}, {Source: lost, IntensityPercent: 25}}
	sources := training.Open(r)
	if want := []interference.Source{open, halfKnown, lost}; !slices.Equal(sorted(sources), sorted(want)) {
		t.Fatalf("open are %v", sources)
	}
	training.Refine(&r, profile.Profile{
		Sensitivity: interference.Sensitivity{
			Tolerated: interference.Scores{halfKnown: measured(40), open: measured(60), lost: unknown},
			Caused:    interference.Scores{halfKnown: measured(22), open: unknown, lost: measured(5)},
		},
		Ramp: []profile.RampPoint{{Source: open, IntensityPercent: 40}, {Source: open, IntensityPercent: 80}},
	}, sources)
	for _, c := range []struct {
		name   string
		scores interference.Scores
		source interference.Source
		want   interference.Estimate
	}{
		{"was known", r.Sensitivity.Tolerated, known, measured(30)},
		{"known now", r.Sensitivity.Tolerated, halfKnown, measured(40)},
		{"the longer run counts", r.Sensitivity.Caused, halfKnown, measured(22)},
		{"still unknown", r.Sensitivity.Caused, open, unknown},
		{"not known any more", r.Sensitivity.Tolerated, lost, measured(80)},
	} {
		if got := c.scores[c.source]; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	var levels []float64
	for _, p := range r.Ramp {
		if p.Source == open {
			levels = append(levels, p.IntensityPercent)
		}
	}
	if !slices.Equal(levels, []float64{40, 80}) || len(r.Ramp) != 4 {
		t.Errorf("curve %v of %+v", levels, r.Ramp)
	}
	if left := training.Open(r); len(left) != 0 {
		t.Errorf("%v would be measured a third time", left)
	}
}

func sorted(s []interference.Source) []interference.Source { return slices.Sorted(slices.Values(s)) }
