package provisioning

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestDemandsOf(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.Integer, interference.LLCCapacity}
	score := func(percent float64, o interference.Origin) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(percent), Origin: o}
	}
	for name, c := range map[string]struct {
		scores interference.Scores
		want   []uint8
	}{
		"nothing":          {nil, nil},
		"all is assumed":   {interference.Scores{interference.Integer: score(50, interference.Assumed), interference.LLCCapacity: score(50, interference.Assumed)}, nil},
		"one was measured": {interference.Scores{interference.Integer: score(90, interference.Measured), interference.LLCCapacity: score(50, interference.Assumed)}, []uint8{10, 50}},
		"one is not known": {interference.Scores{interference.Integer: score(90, interference.Predicted)}, []uint8{10, 99}},
	} {
		if got := demandsOf(c.scores, columns); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
