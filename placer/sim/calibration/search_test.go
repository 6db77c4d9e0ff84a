package calibration

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

func ofGroup(g Group) []knob {
	var out []knob
	for _, k := range knobs() {
		if k.group == g {
			out = append(out, k)
		}
	}
	return out
}

func quiet(float64, float64) {}

func TestSearchFindsTheLeastMisfit(t *testing.T) {
	t.Parallel()
	off := func(p truth.Parameters) (float64, error) {
		a, b := math.Log(p.PlatformStrength[0]/0.47), math.Log(p.PlatformResidual/0.011)
		return a*a + 2*b*b + a*b, nil
	}
	found, err := search(Start(), ofGroup(Speeds), off, quiet)
	if err != nil || !found.converged {
		t.Fatalf("%+v, %v", found, err)
	}
	if s, r := found.at.PlatformStrength[0]/0.47, found.at.PlatformResidual/0.011; math.Abs(s-1) > 0.07 || math.Abs(r-1) > 0.14 {
		t.Errorf("strength and residual are off by %v and %v", s, r)
	}
	// What two cells cannot tell keeps its proportions.
	if ratio := found.at.PlatformStrength[1] / found.at.PlatformResidual; math.Abs(ratio-0.012/0.007) > 0.01 {
		t.Errorf("the second factor is %v of the residual", ratio)
	}
}

func TestSearchStaysWithinBounds(t *testing.T) {
	t.Parallel()
	found, err := search(Start(), ofGroup(Scores), func(p truth.Parameters) (float64, error) { return -p.MemoryShare - p.ScoreResidual, nil }, quiet)
	if err != nil || !found.converged || found.at.MemoryShare != 0.95 || found.at.ScoreResidual != 0.05 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestSearchSaysWhenItDoesNotEnd(t *testing.T) {
	t.Parallel()
	calls := 0.0
	found, err := search(Start(), ofGroup(Speeds), func(truth.Parameters) (float64, error) { calls++; return -calls, nil }, quiet)
	if err != nil || found.converged {
		t.Errorf("%+v, %v", found, err)
	}
}

// No parameter is fitted twice, and every one that is begins within its bounds.
func TestKnobs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range knobs() {
		p := Start()
		if v := k.get(&p); seen[k.name] || v < k.low || v > k.high || !(k.step > 0) {
			t.Errorf("%s begins at %v, in %v to %v", k.name, v, k.low, k.high)
		}
		seen[k.name] = true
		moved := k.moved(p, k.step/8)
		if k.get(&moved) == k.get(&p) {
			moved = k.moved(p, -k.step/8)
		}
		if k.get(&moved) == k.get(&p) {
			t.Errorf("%s does not move", k.name)
		}
	}
}
