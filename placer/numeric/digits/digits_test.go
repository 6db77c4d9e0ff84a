package digits_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// §7.2.2, Eq. 7.1 and 7.2: [84, 31] becomes 8431 of 9999, whatever the order of
// the columns, and another vector is read in the same order.
func TestPublishedExample(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scores []float64
		want   float64
	}{
		{[]float64{84, 31}, 8431.0 / 9999},
		{[]float64{31, 84}, 8431.0 / 9999},
		{[]float64{0, 0, 0}, 0},
		{[]float64{99, 99, 99}, 1},
		{[]float64{100, math.NaN(), 99}, 1},
		{[]float64{-3, 49.6}, 5000.0 / 9999},
		{nil, 0},
	} {
		if got := digits.Sorted(digits.Number{}, c.scores).Value; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v is %v, want %v", c.scores, got, c.want)
		}
	}
	n := digits.Sorted(digits.Number{Order: []int{7, 8, 9}}, []float64{31, 84})
	if got := n.Read([]float64{20, 5}); math.Abs(got-520.0/9999) > 1e-12 || !slices.Equal(n.Order, []int{1, 0}) {
		t.Errorf("read %v in the order %v", got, n.Order)
	}
}

// Numbers compare as the sorted digits do.
func TestOrderIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "columns") // 12 digits: exact in a float64
		scores := rapid.SliceOfN(rapid.Float64Range(0, 99), n, n)
		x, y := scores.Draw(rt, "x"), scores.Draw(rt, "y")
		sorted := func(v []float64) []float64 {
			var out []float64
			for _, c := range v {
				out = append(out, digits.Of(c))
			}
			slices.Sort(out)
			slices.Reverse(out)
			return out
		}
		want := slices.Compare(sorted(x), sorted(y))
		vx, vy := digits.Sorted(digits.Number{}, x).Value, digits.Sorted(digits.Number{}, y).Value
		got := 0
		switch {
		case vx < vy-1e-13:
			got = -1
		case vx > vy+1e-13:
			got = 1
		}
		if got != want {
			rt.Fatalf("%v and %v compare %d, as numbers %v and %v", x, y, want, vx, vy)
		}
	})
}
