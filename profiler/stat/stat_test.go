package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

const rounding = 1e-12 // float arithmetic of a few dozen operations

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestMedianAndMAD(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		x           []float64
		median, mad float64
	}{
		{"one", []float64{3}, 3, 0},
		{"even", []float64{4, 1, 3, 2}, 2.5, madToSigma},
		{"outlier", []float64{1, 2, 3, 4, 1e9}, 3, madToSigma},
		{"infinite", []float64{1, 2, math.Inf(1)}, 2, madToSigma},
	}
	for _, tt := range tests {
		near(t, tt.name+" median", Median(tt.x), tt.median, rounding)
		near(t, tt.name+" MAD", MAD(tt.x), tt.mad, rounding)
	}
	for _, x := range [][]float64{nil, {1, math.NaN()}} {
		if !math.IsNaN(Median(x)) || !math.IsNaN(MAD(x)) {
			t.Errorf("%v: want NaN", x)
		}
	}
}

// The ranks are those of Conover, table A3: for n = 6 the range has 96.9 %, for
// n = 9 ranks 2 and 8 have 96.1 %, for n = 15 ranks 4 and 12 have 96.5 %.
func TestMedianIntervalRanks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n, low, high int
		confidence   float64
	}{{6, 1, 6, 0.96875}, {9, 2, 8, 0.9609375}, {15, 4, 12, 0.96484375}}
	for _, tt := range tests {
		s := MedianInterval(upTo(tt.n), 0.95)
		if s.Low != float64(tt.low) || s.High != float64(tt.high) || len(s.Warnings) != 0 {
			t.Errorf("n=%d: [%v, %v] %v, want [%d, %d]", tt.n, s.Low, s.High, s.Warnings, tt.low, tt.high)
		}
		near(t, "confidence", s.Confidence, tt.confidence, 1e-9)
	}
}

func upTo(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func TestWarningsAreValues(t *testing.T) {
	t.Parallel()
	few := []float64{1, 2, 3}
	for name, s := range map[string]Summary{
		"median": MedianInterval(few, 0.95),
		"shift":  HodgesLehmann(few, 0.95),
	} {
		if len(s.Warnings) == 0 || !errors.Is(s.Warnings[0], ErrTooFew) {
			t.Errorf("%s: warnings %v, want too few", name, s.Warnings)
		}
	}
	if s := MedianInterval(nil, 0.95); !math.IsNaN(s.Center) || !errors.Is(s.Warnings[0], ErrNoSamples) {
		t.Errorf("nothing: %+v", s)
	}
}

// Coverage is checked by simulation: 95 % intervals of 2,000 seeded samples of
// a skewed distribution with a known median. The tolerance is four standard
// deviations of a proportion of 2,000.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	const runs, n = 2000, 15
	slack := 4 * math.Sqrt(0.95*0.05/runs)
	random := rand.New(rand.NewPCG(7, 7))
	var median, shift int
	for range runs {
		skewed, symmetric := make([]float64, n), make([]float64, n)
		for i := range n {
			skewed[i] = random.ExpFloat64() - math.Ln2
			symmetric[i] = random.NormFloat64()
		}
		if s := MedianInterval(skewed, 0.95); s.Low <= 0 && 0 <= s.High {
			median++
		}
		if s := HodgesLehmann(symmetric, 0.95); s.Low <= 0 && 0 <= s.High {
			shift++
		}
	}
	for name, hits := range map[string]int{"median": median, "shift": shift} {
		if share := float64(hits) / runs; share < 0.95-slack {
			t.Errorf("%s interval covers %.3f of %d runs", name, share, runs)
		}
	}
}

// signedRank is the p-values of Wilcoxon's signed-rank test by enumeration of
// all signs, for samples without zeros and ties: less is small where x lies below
// zero (Conover, §5.7).
func signedRank(x []float64) (less, greater float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return math.Abs(x[order[i]]) < math.Abs(x[order[j]]) })
	positive := 0
	for rank, i := range order {
		if x[i] > 0 {
			positive += rank + 1
		}
	}
	for signs := range 1 << len(x) {
		sum := 0
		for rank := range x {
			if signs>>rank&1 == 1 {
				sum += rank + 1
			}
		}
		if sum <= positive {
			less++
		}
		if sum >= positive {
			greater++
		}
	}
	all := float64(int(1) << len(x))
	return less / all, greater / all
}

// The interval holds exactly the shifts the signed-rank test does not reject.
func TestHodgesLehmannInvertsSignedRank(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	x := make([]float64, 11)
	for i := range x {
		x[i] = random.NormFloat64() + 1
	}
	s := HodgesLehmann(x, 0.95)
	for _, tt := range []struct {
		shift    float64
		rejected bool
	}{{s.Low - 1e-6, true}, {s.Low + 1e-6, false}, {s.Center, false}, {s.High - 1e-6, false}, {s.High + 1e-6, true}} {
		moved := make([]float64, len(x))
		for i := range x {
			moved[i] = x[i] - tt.shift
		}
		less, greater := signedRank(moved)
		if rejected := min(less, greater) < 0.025; rejected != tt.rejected {
			t.Errorf("shift %v: rejected %v, want %v", tt.shift, rejected, tt.rejected)
		}
	}
}

// The fast count against enumeration of all choices of positions.
func TestRankSumAgainstEnumeration(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		half := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-4, 4).Draw(t, "v")) / 2 })
		x := rapid.SliceOfN(half, 1, 4).Draw(t, "x")
		reference := rapid.SliceOfN(half, 1, 6).Draw(t, "reference")
		less, greater := RankSum(x, reference)
		ranks, sumOfX := pooledRanks(x, reference)
		var all, wantLess, wantGreater float64
		for chosen := range 1 << len(ranks) {
			size, sum := 0, 0
			for i, r := range ranks {
				if chosen>>i&1 == 1 {
					size, sum = size+1, sum+r
				}
			}
			if size != len(x) {
				continue
			}
			all++
			if sum <= sumOfX {
				wantLess++
			}
			if sum >= sumOfX {
				wantGreater++
			}
		}
		if math.Abs(less-wantLess/all) > 1e-9 || math.Abs(greater-wantGreater/all) > 1e-9 {
			t.Fatalf("%v against %v: %v %v, want %v %v", x, reference, less, greater, wantLess/all, wantGreater/all)
		}
	})
}

func TestRankSumExtremes(t *testing.T) {
	t.Parallel()
	less, greater := RankSum([]float64{11, 12}, upTo(10))
	near(t, "2 beyond 10", greater, 1.0/66, rounding)
	near(t, "2 beyond 10, other side", less, 1, rounding)
	less, greater = RankSum([]float64{1}, nil)
	near(t, "no reference", less*greater, 1, 0)
}

func TestRatios(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ on, off, want float64 }{{9, 10, 0.9}, {0, 10, 1e-6}, {1e-30, 10, 1e-6}} {
		log, ok := LogRatio(tt.on, tt.off)
		if !ok {
			t.Errorf("%v / %v has no ratio", tt.on, tt.off)
		}
		near(t, "ratio", math.Exp(log), tt.want, rounding)
	}
	for _, tt := range [][2]float64{{1, 0}, {math.NaN(), 1}, {-1, 1}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		if _, ok := LogRatio(tt[0], tt[1]); ok {
			t.Errorf("%v / %v has a ratio", tt[0], tt[1])
		}
	}
	on, off := []float64{9, 18, 27, 36, 45, 54}, []float64{10, 20, 30, 40, 50, 60}
	near(t, "median ratio", RatioMedian(on, off, 0.95).Center, 0.9, rounding)
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	x := []float64{1, 2, 4}
	for q, want := range map[float64]float64{-1: 1, 0: 1, 0.5: 2, 0.75: 3, 1: 4, 2: 4} {
		near(t, "quantile", Quantile(x, q), want, rounding)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("no samples: want NaN")
	}
}

func TestNonIncreasing(t *testing.T) {
	t.Parallel()
	got := NonIncreasing([]float64{1, 3, 2, 0, 1}, []float64{1, 1, 2, 1, 3})
	want := []float64{2, 2, 2, 0.75, 0.75}
	for i := range want {
		near(t, "isotonic", got[i], want[i], rounding)
	}
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-5, 5), 0, 20).Draw(t, "y")
		fit := NonIncreasing(y, nil)
		var before, after float64
		for i := range fit {
			before, after = before+y[i], after+fit[i]
			if i > 0 && fit[i] > fit[i-1]+1e-9 {
				t.Fatalf("%v rises", fit)
			}
		}
		if math.Abs(before-after) > 1e-9 {
			t.Fatalf("sum %v became %v", before, after)
		}
	})
}

func BenchmarkHodgesLehmann15(b *testing.B) {
	x := upTo(15)
	for b.Loop() {
		HodgesLehmann(x, 0.95)
	}
}
