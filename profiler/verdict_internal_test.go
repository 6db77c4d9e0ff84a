package profiler

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The errors of all looks add up to at most 5 %, and every look can be passed.
func TestLooksSpendFivePercent(t *testing.T) {
	t.Parallel()
	sum, last := 0.0, 0
	for _, l := range append(append([]look(nil), earlyLooks[:]...), lateLooks[:]...) {
		sum += l.error
		if l.pairs <= last {
			t.Errorf("looks are not ascending at %d", l.pairs)
		}
		last = l.pairs
	}
	if sum > 0.05+1e-12 || last != maxPairs {
		t.Errorf("errors add up to %v, last look at %d of %d", sum, last, maxPairs)
	}
	for _, l := range lateLooks {
		if least := math.Pow(2, -float64(l.pairs)); least > l.error {
			t.Errorf("%d pairs cannot reach %v", l.pairs, l.error)
		}
	}
}

// A level exactly at the bound is judged wrongly on either side in at most 5 %
// of 4,000 seeded runs; the tolerance is four standard deviations.
func TestVerdictErrorAtTheBound(t *testing.T) {
	t.Parallel()
	const runs, sigma = 4000, 0.03
	allowed := 0.05 + 4*math.Sqrt(0.05*0.95/runs)
	random := rand.New(rand.NewPCG(5, 5))
	logBound := math.Log(0.95)
	count := map[verdict]int{}
	for range runs {
		equal := &noise{}
		for range 10 {
			equal.logs = append(equal.logs, sigma*random.NormFloat64())
		}
		var logs []float64
		v := undecided
		for len(logs) < maxPairs && v == undecided {
			logs = append(logs, logBound+sigma*random.NormFloat64())
			v = judge(logs, logBound, equal)
		}
		count[v]++
	}
	for v, name := range map[verdict]string{clean: "clean", loss: "loss"} {
		if share := float64(count[v]) / runs; share > allowed {
			t.Errorf("judged %s in %.3f of the runs, at most %.3f", name, share, allowed)
		}
	}
}

// The bracket keeps its invariant for whatever verdicts and ratios there are.
func TestBracketInvariant(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	for range 2000 {
		s := &search{levels: map[int]*level{}, logBound: math.Log(0.95), noise: &noise{}}
		for range random.IntN(8) {
			l := s.at(gridStep * (1 + random.IntN(topLevel/gridStep)))
			l.verdict = verdict(random.IntN(3))
			for range random.IntN(4) {
				l.logs = append(l.logs, random.NormFloat64()/10)
			}
		}
		b := s.bracket()
		if !(0 <= b.clean && b.clean <= b.crossing && b.crossing < b.loss && b.loss <= beyondTop) {
			t.Fatalf("bracket %+v", b)
		}
		if next := s.narrow(); next != nil && (next.percent < gridStep || next.percent > topLevel || next.spent()) {
			t.Fatalf("narrow to %+v", next)
		}
	}
}

func TestAGrossLossNeedsOnePair(t *testing.T) {
	t.Parallel()
	quiet := &noise{logs: []float64{0.02, -0.03, 0.01, 0, -0.01, 0.04}}
	loud := &noise{logs: []float64{0.2, -0.3, 0.1, 0, -0.1, 0.4}}
	few := &noise{logs: []float64{0.01}}
	bound := math.Log(0.95)
	for name, c := range map[string]struct {
		n    *noise
		log  float64
		want verdict
	}{
		"standstill":              {quiet, math.Log(1e-6), loss},
		"a third is left":         {quiet, math.Log(0.33), loss},
		"a fifth is lost":         {quiet, math.Log(0.8), undecided},
		"half, among loud noise":  {loud, math.Log(0.45), undecided},
		"half, and no noise seen": {few, math.Log(0.45), undecided},
	} {
		if got := judge([]float64{c.log}, bound, c.n); got != c.want {
			t.Errorf("%s: verdict %d, want %d", name, got, c.want)
		}
	}
}
