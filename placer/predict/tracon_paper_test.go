package predict

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/regress"
)

func close2(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// §3.1, WMM: neighbours at distances 1, 2 and 4 with 10, 20 and 40 give 30/1.75.
func TestWMMWeighsByDistance(t *testing.T) {
	t.Parallel()
	close2(t, "three nearest", nearestMean([]float64{4, 1, 9, 2}, []float64{40, 10, 1000, 20}, 3), 30/1.75)
	close2(t, "on a point, and its twin", nearestMean([]float64{0, 1, 0, 2}, []float64{40, 10, 20, 20}, 3), 30)
}

// §3.1, equation 2: 1 + 8 + 16 + 6 + 6 + 4 + 4 = 45 coefficients; with the own
// characteristics constant 15 are left.
func TestNLMHas45Coefficients(t *testing.T) {
	t.Parallel()
	if n := 1 + len(quadraticTerms([]int{0, 1, 2, 3, 4, 5, 6, 7})); n != 45 {
		t.Errorf("%d coefficients", n)
	}
	all := observations(1, 126, func(o Observation) float64 { return o.CoRunners[0] })
	for i := range all {
		all[i].Own = []float64{1, 2, 3, 4}
	}
	if n := 1 + len(quadraticTerms(standardise(all).varying())); n != 15 {
		t.Errorf("%d coefficients with constant own characteristics", n)
	}
}

// §3.1, AIC with n = 126: three more terms for SSE 100 → 95 are worth it, for 96 not.
func TestAICOfThreeTerms(t *testing.T) {
	t.Parallel()
	change := func(sse float64) float64 { return regress.AIC(126, sse, 10) - regress.AIC(126, 100, 7) }
	close2(t, "95", change(95), 126*math.Log(0.95)+6)
	if change(95) >= 0 || change(96) <= 0 {
		t.Errorf("changes %v and %v", change(95), change(96))
	}
}

// observations of random characteristics.
func observations(seed uint64, n int, y func(Observation) float64) []Observation {
	random := rand.New(rand.NewPCG(seed, 2))
	var out []Observation
	for range n {
		var o Observation
		for range 4 {
			o.Own, o.CoRunners = append(o.Own, 100*random.Float64()), append(o.CoRunners, 100*random.Float64())
		}
		o.Response = y(o)
		out = append(out, o)
	}
	return out
}

// quadratic is a response that only NLM can express.
func quadratic(o Observation) float64 {
	return 5 + 0.02*o.Own[0]*o.CoRunners[0] + 0.01*o.CoRunners[1]*o.CoRunners[1] + o.CoRunners[2]
}

// §4.2: of a response with products and squares NLM is exact where LM and WMM are not.
func TestNLMFitsWhatLMCannot(t *testing.T) {
	t.Parallel()
	train, test := observations(1, 300, quadratic), observations(2, 100, quadratic)
	for i := range test { // inside of what was seen
		for k := range test[i].Own {
			test[i].Own[k], test[i].CoRunners[k] = 10+0.8*test[i].Own[k], 10+0.8*test[i].CoRunners[k]
		}
		test[i].Response = quadratic(test[i])
	}
	mean := map[string]float64{}
	for _, l := range Learners() {
		r, err := l.Learn(train)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		for _, o := range test {
			mean[l.Name] += RelativeError(r.Predict(o.Own, o.CoRunners), o.Response) / 100
		}
	}
	if mean["nlm"] > 1e-6 || mean["lm"] < 0.02 || mean["wmm"] < 0.02 {
		t.Errorf("mean errors %v", mean)
	}
}

// The fit of NLM is the least-squares solution of the terms it chose.
func TestNLMIsLeastSquares(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	all := observations(3, 126, func(o Observation) float64 { return quadratic(o) + random.NormFloat64() })
	r, err := nlmLearner.Learn(all)
	if err != nil {
		t.Fatal(err)
	}
	p := r.(*polynomial)
	var rows [][]float64
	var y []float64
	for _, o := range all {
		z, row := p.standard.of(o.Own, o.CoRunners), []float64{1}
		for _, term := range p.terms {
			row = append(row, term.of(z))
		}
		rows, y = append(rows, row), append(y, o.Response)
	}
	fit, err := regress.LeastSquares(rows, y)
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range append([]float64{p.intercept}, p.coefficients...) {
		close2(t, "coefficient", c, fit.Coefficients[j])
	}
}

// Beyond the range of the observations the edge counts.
func TestPolynomialsDoNotExtrapolate(t *testing.T) {
	t.Parallel()
	r, err := nlmLearner.Learn(observations(1, 300, quadratic))
	if err != nil {
		t.Fatal(err)
	}
	own := []float64{50, 50, 50, 50}
	edge := r.Predict(own, []float64{1e3, 1e3, 1e3, 1e3})
	close2(t, "far beyond", r.Predict(own, []float64{1e9, 1e9, 1e9, 1e9}), edge)
}

// More neighbours than one are summed; one is itself, which is the paper's pair.
func TestCoRunnersAreSummed(t *testing.T) {
	t.Parallel()
	one, three := SumOfCoRunners(2, []float64{1, 2}), SumOfCoRunners(2, []float64{1, 2}, []float64{3, 4}, []float64{5, 6})
	if one[0] != 1 || one[1] != 2 || three[0] != 9 || three[1] != 12 || SumOfCoRunners(2)[0] != 0 {
		t.Errorf("%v, %v", one, three)
	}
}

func TestLearnersRefuse(t *testing.T) {
	t.Parallel()
	good := observations(4, 20, quadratic)
	constant, infinite, ragged, flat := observations(4, 20, func(Observation) float64 { return 3 }), observations(4, 20, quadratic), observations(4, 20, quadratic), observations(4, 20, quadratic)
	infinite[7].CoRunners[2] = math.Inf(1)
	ragged[5].Own = ragged[5].Own[:2]
	for i := range flat {
		flat[i].Own, flat[i].CoRunners = good[0].Own, good[0].CoRunners
	}
	for _, l := range Learners() {
		for name, c := range map[string]struct {
			all  []Observation
			want error
		}{
			"few": {good[:4], ErrObservations}, "constant": {constant, ErrResponse}, "infinite": {infinite, ErrObservations},
			"ragged": {ragged, ErrObservations}, "nothing varies": {flat, ErrObservations},
		} {
			if _, err := l.Learn(c.all); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", l.Name, name, err, c.want)
			}
		}
	}
	if _, err := LookupLearner("x"); err == nil {
		t.Error("an unknown learner was found")
	}
}

// Predictions are bounded by what the workload does alone.
func TestPredictionsAreBounded(t *testing.T) {
	t.Parallel()
	runtime, iops := RuntimeOf(fixed(-5), 10), IOPSOf(fixed(1e9), 100)
	close2(t, "runtime", runtime.Predict(nil, nil), 9)
	close2(t, "iops", iops.Predict(nil, nil), 110)
	close2(t, "iops below nothing", IOPSOf(fixed(-1), 100).Predict(nil, nil), 0)
}

type fixed float64

func (f fixed) Predict(_, _ []float64) float64 { return float64(f) }

// §4.6: a change of the world is seen, and after rebuilds every 160 points the error
// is what it was; without a change nothing is rebuilt.
func TestRelearningFollowsTheWorld(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	noisy := func(factor float64) func(Observation) float64 {
		return func(o Observation) float64 { return factor * quadratic(o) * (1 + 0.05*random.NormFloat64()) }
	}
	r, err := NewRelearning(observations(5, 500, noisy(1)), RelearnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range observations(6, 600, noisy(1)) {
		if e := r.Add(o); e != Quiet {
			t.Fatalf("observation %d of the same world: event %v", i, e)
		}
	}
	var seen, learnt []int
	changed := observations(8, 640, noisy(2))
	for i, o := range changed {
		switch r.Add(o) {
		case Drift:
			seen = append(seen, i)
		case Relearned:
			learnt = append(learnt, i)
		}
	}
	if len(seen) != 1 || seen[0] >= driftErrors || len(learnt) != 3 || learnt[0]-seen[0] != defaultRelearnEvery-1 {
		t.Fatalf("drift seen at %v, learnt at %v", seen, learnt)
	}
	mean := 0.0
	for _, o := range observations(9, 100, noisy(2)) {
		mean += RelativeError(r.Predict(o.Own, o.CoRunners), o.Response) / 100
	}
	if mean > 0.1 {
		t.Errorf("the error after three rebuilds is %v", mean)
	}
}

func BenchmarkLearn(b *testing.B) {
	all := observations(1, 500, quadratic)
	for _, l := range Learners() {
		b.Run(l.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Learn(all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	all := observations(1, 500, quadratic)
	for _, l := range Learners() {
		r, err := l.Learn(all)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(l.Name, func(b *testing.B) {
			for b.Loop() {
				r.Predict(all[0].Own, all[1].CoRunners)
			}
		})
	}
}
