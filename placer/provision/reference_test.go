package provision_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var resources = []string{"a", "b", "c"}

func speeds(v ...float64) map[string]float64 {
	out := map[string]float64{}
	for i, x := range v {
		out[resources[i]] = x
	}
	return out
}

// What others press is by how much a kernel is slower than on a quiet node of the type,
// by which U of equation 7.3 is made.
func TestPressureFromTheSpeedsOfKernels(t *testing.T) {
	t.Parallel()
	r := provision.NewReference(nil)
	r.Add("one", speeds(100, 200, 50))
	if got := r.Pressure(resources, speeds(100, 200, 50)); got != nil {
		t.Errorf("the first node is compared with itself: %v", got)
	}
	r.Add("two", speeds(60, 200))
	for _, c := range []struct {
		speeds []float64
		want   provision.Digits
	}{
		{[]float64{100, 200}, provision.Digits{0, 0, 0}},
		{[]float64{60, 180}, provision.Digits{40, 10, 40}}, // what is not comparable counts as the worst
		{[]float64{120, 100, 50}, provision.Digits{0, 50, 50}},
		{[]float64{1, 200}, provision.Digits{99, 0, 99}},
		{nil, nil},
	} {
		if got := r.Pressure(resources, speeds(c.speeds...)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.speeds, got, c.want)
		}
	}
}

// One node that is faster than all others is no measure for a hundred.
func TestTheReferenceIsNoOddNode(t *testing.T) {
	t.Parallel()
	r := provision.NewReference(nil)
	for i := range 100 {
		r.Add(fmt.Sprint(i), speeds(100))
	}
	r.Add("odd", speeds(1000))
	if got := r.Pressure(resources[:1], speeds(100)); got[0] != 0 {
		t.Errorf("%v", got)
	}
	if n := len(r.Nodes()); n != 40 {
		t.Errorf("%d nodes are kept", n)
	}
}

func TestWhatNoKernelDoesIsNotTakenOver(t *testing.T) {
	t.Parallel()
	r := provision.NewReference([]provision.KernelSpeeds{{Node: "", Speeds: speeds(9)}, {Node: "one", Speeds: speeds(math.Inf(1), -1, 5)}, {Node: "two", Speeds: speeds(10, 10, math.NaN())}})
	if got := r.Pressure(resources, speeds(10, 10, 10)); got != nil {
		t.Errorf("%v", got)
	}
	again := provision.NewReference(r.Nodes())
	again.Add("three", speeds(10, 10))
	if got := again.Pressure(resources[:2], speeds(5, 10)); !slices.Equal(got, provision.Digits{50, 0}) {
		t.Errorf("%v", got)
	}
}
