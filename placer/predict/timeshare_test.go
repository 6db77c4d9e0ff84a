package predict_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/predict"
)

func TestTimeShares(t *testing.T) {
	t.Parallel()
	all := math.NaN()
	for name, c := range map[string]struct {
		capacity float64
		demands  []predict.TimeDemand
		want     []float64
	}{
		"nobody":                              {1, nil, []float64{}},
		"alone":                               {1, []predict.TimeDemand{{Amount: 0.4, Weight: 1}}, []float64{0.4}},
		"both would take all":                 {1, []predict.TimeDemand{{Amount: all, Weight: 1}, {Amount: all, Weight: 1}}, []float64{0.5, 0.5}},
		"by weight":                           {1, []predict.TimeDemand{{Amount: all, Weight: 3}, {Amount: all, Weight: 1}}, []float64{0.75, 0.25}},
		"who mostly waits keeps its share":    {1, []predict.TimeDemand{{Amount: 0.2, Weight: 1}, {Amount: all, Weight: 1}}, []float64{0.2, 0.8}},
		"a weight that it does not use":       {1, []predict.TimeDemand{{Amount: 0.2, Weight: 9}, {Amount: all, Weight: 1}}, []float64{0.2, 0.8}},
		"too light for what it wants":         {1, []predict.TimeDemand{{Amount: 0.4, Weight: 1}, {Amount: all, Weight: 3}}, []float64{0.25, 0.75}},
		"a quota":                             {2, []predict.TimeDemand{{Amount: all, Weight: 1, Limit: 0.5}, {Amount: all, Weight: 1}}, []float64{0.5, 1.5}},
		"a quota above what there is":         {1, []predict.TimeDemand{{Amount: all, Weight: 1, Limit: 4}, {Amount: all, Weight: 1}}, []float64{0.5, 0.5}},
		"enough CPUs for all":                 {2, []predict.TimeDemand{{Amount: 1, Weight: 1}, {Amount: 0.7, Weight: 8}}, []float64{1, 0.7}},
		"what one leaves the others divide":   {1, []predict.TimeDemand{{Amount: 0.1, Weight: 1}, {Amount: 0.4, Weight: 1}, {Amount: all, Weight: 1}}, []float64{0.1, 0.4, 0.5}},
		"without weight: what the rest leave": {1, []predict.TimeDemand{{Amount: all, Weight: 0}, {Amount: 0.7, Weight: 1}}, []float64{0.3, 0.7}},
		"no CPU at all":                       {0, []predict.TimeDemand{{Amount: all, Weight: 1}, {Amount: 0.5, Weight: 1}}, []float64{0, 0}},
	} {
		got := predict.TimeShares(c.capacity, c.demands)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-5 }) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Whatever is asked: nobody gets more than it wants, nothing is given twice or left lying,
// and who gets less than it wants gets at least its part by weight.
func TestTimeSharesAreFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Float64Range(0.1, 64).Draw(t, "capacity")
		demands := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) predict.TimeDemand {
			d := predict.TimeDemand{Amount: rapid.Float64Range(0, 80).Draw(t, "amount"), Weight: rapid.Float64Range(0.1, 1000).Draw(t, "weight")}
			if rapid.Bool().Draw(t, "unknown") {
				d.Amount = math.NaN()
			}
			if rapid.Bool().Draw(t, "quota") {
				d.Limit = rapid.Float64Range(0.1, 80).Draw(t, "limit")
			}
			return d
		}), 1, 9).Draw(t, "demands")
		granted := predict.TimeShares(capacity, demands)
		const hair = 1e-9
		given, wanted, weights := 0.0, 0.0, 0.0
		for _, d := range demands {
			weights += d.Weight
		}
		for i, d := range demands {
			wants := capacity
			if d.Limit > 0 {
				wants = min(wants, d.Limit)
			}
			if d.Amount >= 0 {
				wants = min(wants, d.Amount)
			}
			given, wanted = given+granted[i], wanted+wants
			if !(granted[i] <= wants+hair*capacity) {
				t.Fatalf("%d gets %v and wants %v", i, granted[i], wants)
			}
			if granted[i] < wants-hair*capacity && granted[i] < capacity*d.Weight/weights-hair*capacity {
				t.Fatalf("%d gets %v, wants %v, its part is %v", i, granted[i], wants, capacity*d.Weight/weights)
			}
		}
		if math.Abs(given-min(capacity, wanted)) > 1e-6*capacity {
			t.Fatalf("given %v of %v, wanted %v", given, capacity, wanted)
		}
	})
}

// Next to one that takes half of the CPU whenever it works, who works all the time keeps
// half, and who works a fifth of the time five sixths.
func TestStretched(t *testing.T) {
	t.Parallel()
	near(t, "works all the time", predict.Stretched(1, 0.5), 0.5)
	near(t, "works a fifth of it", predict.Stretched(0.2, 0.5), 1/1.2)
	near(t, "never works", predict.Stretched(0, 0.5), 1)
	near(t, "nothing is left", predict.Stretched(0.2, 0), 0)
}
