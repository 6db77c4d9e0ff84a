package dist_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/dist"
)

func families() []dist.Distribution {
	return []dist.Distribution{
		dist.Exponential{Average: 40},
		dist.Weibull{Shape: 0.7, Scale: 90},
		dist.Weibull{Shape: 4, Scale: 90},
		dist.Lognormal{Mu: 3, Sigma: 1.2},
		dist.TruncatedNormal{Mu: 2600, Sigma: 400},
		dist.TruncatedNormal{Mu: -1, Sigma: 3},
	}
}

// draw inverts the CDF by bisection.
func draw(d dist.Distribution, random *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		want := math.Log(1 - random.Float64())
		low, high := 0.0, d.Mean()
		for d.LogSurvival(high) > want {
			high *= 2
		}
		for range 60 {
			if mid := (low + high) / 2; d.LogSurvival(mid) > want {
				low = mid
			} else {
				high = mid
			}
		}
		out[i] = math.Nextafter((low+high)/2, math.Inf(1))
	}
	return out
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, tolerance)
	}
}

// The published points of the first pool agree: 60 % freed within 2,700 s of
// assignment, 60 % chance of a free server at 56 s (Delimitrou 2015, §6.4), for
// a pool of 42 whose ages are unknown.
func TestPublishedPool(t *testing.T) {
	t.Parallel()
	d := dist.TruncatedNormal{Mu: 2600, Sigma: 400}
	near(t, "F(2700)", d.CDF(2700), 0.60, 0.005)
	p := dist.NewTable(d).EndsAtUnknownAge(56)
	near(t, "F_e(56)", p, 0.0215, 1e-4)
	near(t, "Pr", dist.AtLeast([]dist.Group{{N: 42, P: p}}, 1), 0.60, 0.005)
}

func TestFitFindsTheFamily(t *testing.T) {
	t.Parallel()
	for i, d := range families() {
		random := rand.New(rand.NewPCG(uint64(i), 9))
		samples := draw(d, random, 500)
		got, err := dist.Fit(samples)
		if err != nil {
			t.Fatal(err)
		}
		near(t, d.Name()+" fitted as "+got.Distribution.Name()+": distance", got.Distance, 0, 0.05)
		near(t, d.Name()+": mean", got.Distribution.Mean()/d.Mean(), 1, 0.15)
		fresh := draw(d, random, 2000)
		slices.Sort(fresh)
		near(t, d.Name()+": distance of new samples", dist.Distance(fresh, got.Distribution), 0, 0.06)
	}
}

func TestFitOfOddSamples(t *testing.T) {
	t.Parallel()
	for name, samples := range map[string][]float64{
		"negative": {1, -1}, "zero": {0, 1}, "infinite": {1, math.Inf(1)}, "NaN": {1, math.NaN()},
	} {
		if _, err := dist.Fit(samples); !errors.Is(err, dist.ErrSample) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := dist.Fit(nil); !errors.Is(err, dist.ErrNoSamples) {
		t.Errorf("nothing: %v", err)
	}
	for _, samples := range [][]float64{{5}, {5, 5, 5, 5}, {1e-9, 1e9}} {
		got, err := dist.Fit(samples)
		if err != nil || got.Distribution == nil || math.IsNaN(got.Distance) || got.Distance > 1 {
			t.Fatalf("%v: %+v, %v", samples, got, err)
		}
		table := dist.NewTable(got.Distribution)
		for _, age := range []float64{0, 1, 1e12} {
			if p := table.Ends(age, 10); !(p >= 0 && p <= 1) {
				t.Errorf("%v: ends at age %v with %v", samples, age, p)
			}
		}
	}
}

// Samples that no family fits describe themselves.
func TestEmpirical(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	two := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 10 + random.Float64()
			if i%3 == 0 {
				out[i] = 1000 + 50*random.Float64()
			}
		}
		return out
	}
	samples := two(500)
	fit, err := dist.Fit(samples)
	if err != nil || fit.Distance < 0.1 {
		t.Fatalf("two kinds are fitted by one family: %+v, %v", fit, err)
	}
	d, err := dist.NewEmpirical(samples)
	if err != nil {
		t.Fatal(err)
	}
	fresh := two(2000)
	slices.Sort(fresh)
	near(t, "distance", dist.Distance(fresh, d), 0, 0.05)
	table := dist.NewTable(d)
	for _, x := range []float64{5, 10.5, 500, 1020} {
		near(t, "table", math.Exp(table.LogSurvival(x)), math.Exp(d.LogSurvival(x)), 0.01)
	}
	near(t, "beyond all samples", table.Ends(1e4, 1e4), 1, 1e-3)
	if _, err := dist.NewEmpirical(nil); !errors.Is(err, dist.ErrNoSamples) {
		t.Error(err)
	}
	if _, err := dist.NewEmpirical([]float64{0}); !errors.Is(err, dist.ErrSample) {
		t.Error(err)
	}
	one, err := dist.NewEmpirical([]float64{5})
	if err != nil || !(one.CDF(5) > 0 && one.CDF(100) <= 1) {
		t.Errorf("one sample: %v, %v", one.CDF(5), err)
	}
}

func TestTableAgainstTheDistribution(t *testing.T) {
	t.Parallel()
	for _, d := range families() {
		table := dist.NewTable(d)
		for _, x := range []float64{0, 0.001, 0.1, 0.5, 1, 1.5, 3} {
			x *= d.Mean()
			if d.LogSurvival(x) > -9 {
				near(t, d.Name()+": S", math.Exp(table.LogSurvival(x)), math.Exp(d.LogSurvival(x)), 2e-3)
			}
		}
		integral, step := 0.0, d.Mean()/2000
		for i := range 2000 {
			integral += step * math.Exp(d.LogSurvival((float64(i)+0.5)*step))
		}
		near(t, d.Name()+": F_e(mean)", table.EndsAtUnknownAge(d.Mean()), integral/d.Mean(), 2e-3)
		last := -1.0
		for _, within := range []float64{0, 1, 10, 1e3, 1e5, 1e9} {
			p := table.Ends(1e7, within)
			if p < last || p < 0 || p > 1 {
				t.Errorf("%s: beyond the grid, within %v: %v after %v", d.Name(), within, p, last)
			}
			last = p
		}
		near(t, d.Name()+": everything ends", last, 1, 1e-6)
	}
}

// Fast against naive: every branch against the exact recurrence.
func TestAtLeastAgainstExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for range 400 {
		var groups []dist.Group
		total := 0
		top := math.Pow(random.Float64(), 3)
		for range 1 + random.IntN(20) {
			g := dist.Group{N: random.IntN(60), P: top * random.Float64()}
			groups = append(groups, g)
			total += g.N
		}
		r := random.IntN(total + 2)
		near(t, "tail", dist.AtLeast(groups, r), naive(groups, r), 0.01)
	}
}

func naive(groups []dist.Group, r int) float64 {
	chance := []float64{1}
	for _, g := range groups {
		for range g.N {
			next := make([]float64, len(chance)+1)
			for k, p := range chance {
				next[k] += p * (1 - g.P)
				next[k+1] += p * g.P
			}
			chance = next
		}
	}
	sum := 0.0
	for k := max(0, r); k < len(chance); k++ {
		sum += chance[k]
	}
	return sum
}

func BenchmarkFit500(b *testing.B) {
	samples := draw(dist.Lognormal{Mu: 5, Sigma: 1}, rand.New(rand.NewPCG(1, 1)), 500)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dist.Fit(samples); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	table := dist.NewTable(dist.Lognormal{Mu: 5, Sigma: 1})
	sum := 0.0
	for i := 0; b.Loop(); i++ {
		sum += table.LogLasts(float64(i%1000), 30)
	}
	_ = sum
}
