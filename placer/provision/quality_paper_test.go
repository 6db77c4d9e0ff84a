package provision_test

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// §7.2.2, eq. 7.1: [84, 31] is 8431 of 9999.
func TestTheNumberOfAJob(t *testing.T) {
	t.Parallel()
	for _, job := range []provision.Digits{{84, 31}, {31, 84}} {
		if got := job.Number(); math.Abs(got-8431.0/9999) > 1e-12 {
			t.Errorf("%v is %v", job, got)
		}
	}
}

// §8.3.3: a job whose highest demand is 80 tolerates pressures up to 19 (99 − 80), by the first
// digit; what comes after it decides where they are level.
func TestANodeSufficesWhereItsPressureIsTolerated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		job, node provision.Digits
		want      bool
	}{
		{provision.Digits{80, 10}, provision.Digits{18, 0}, true},
		{provision.Digits{80, 10}, provision.Digits{20, 0}, false},
		{provision.Digits{80, 10}, provision.Digits{19, 0}, true},
		{provision.Digits{80, 10}, provision.Digits{19, 89}, false},
		{provision.Digits{80, 10}, provision.Digits{0, 19}, true}, // which resource is forgotten
		{provision.Digits{99, 99}, provision.Digits{0, 0}, false}, // U > Q_T, not U ≥ Q_T
		{provision.Digits{99, 98}, provision.Digits{0, 0}, true},
		{provision.Digits{0, 0}, provision.Digits{99, 98}, true},
	} {
		if got := provision.Offer(c.node).Suffices(provision.Demand(c.job)); got != c.want {
			t.Errorf("%v on a node pressed by %v: %v", c.job, c.node, got)
		}
	}
}

// encoded is Σ c_(r)·10^(2(N−r)), with all its digits.
func encoded(d provision.Digits) *big.Int {
	s := slices.Sorted(slices.Values(d))
	slices.Reverse(s)
	out := new(big.Int)
	for _, c := range s {
		out.Add(out.Mul(out, big.NewInt(100)), big.NewInt(int64(c)))
	}
	return out
}

func drawDigits(n int) *rapid.Generator[[]uint8] {
	return rapid.SliceOfN(rapid.OneOf(rapid.Uint8Range(0, 99), rapid.Uint8Range(48, 51)), n, n)
}

// U > Q_T is enc(job) + enc(node) < 10^(2N) − 1, exactly: N = 10 is beyond float64 and int64.
func TestSufficesIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(rt, "resources")
		job := provision.Digits(drawDigits(n).Draw(rt, "job"))
		node := provision.Digits(drawDigits(n).Draw(rt, "node"))
		if rapid.Bool().Draw(rt, "level") { // the case that floats get wrong
			for i, c := range job {
				node[i] = 99 - c
			}
			if k := rapid.IntRange(0, n-1).Draw(rt, "but"); node[k] > 0 {
				node[k]--
			}
		}
		top := new(big.Int).Sub(new(big.Int).Exp(big.NewInt(100), big.NewInt(int64(n)), nil), big.NewInt(1))
		want := new(big.Int).Add(encoded(job), encoded(node)).Cmp(top) < 0
		if got := provision.Offer(node).Suffices(provision.Demand(job)); got != want {
			rt.Fatalf("%v on %v: %v, by numbers %v", job, node, got, want)
		}
	})
}

// §5.3 of our reading: what suffices by the first digit is tolerated resource by resource.
func TestAScalarPassByTheFirstDigitIsAVectorPass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		job := provision.Digits(drawDigits(4).Draw(rt, "job"))
		node := provision.Digits(drawDigits(4).Draw(rt, "node"))
		if slices.Max(node) < 99-slices.Max(job) && !provision.Tolerates(job, node) {
			rt.Fatalf("%v does not tolerate %v", job, node)
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	h := provision.NewHistory(time.Hour, 200)
	if _, ok := h.Quality(at, 0.9, provision.ReachedByMost); ok || !h.Sufficed(at, provision.Digits{90}, 0.9, provision.Scalar, provision.ReachedByMost) {
		t.Error("of a type without samples nothing is known, and it is tried")
	}
	for i := range 10 { // pressures 0, 10 ... 90
		h.Add(at.Add(time.Duration(i)*time.Minute), provision.Digits{uint8(10 * i)})
	}
	now := at.Add(10 * time.Minute)
	most, _ := h.Quality(now, 0.9, provision.ReachedByMost)
	few, _ := h.Quality(now, 0.9, provision.ReachedByFew)
	if most[0] != 99-80 || few[0] != 99-0 {
		t.Errorf("nine of ten offer %d, one of ten %d", most[0], few[0])
	}
	for _, c := range []struct {
		job  uint8
		want bool
	}{{18, true}, {20, false}} {
		for _, m := range []provision.Mode{provision.Scalar, provision.Vector} {
			if got := h.Sufficed(now, provision.Digits{c.job}, 0.9, m, provision.ReachedByMost); got != c.want {
				t.Errorf("%s, demand %d: %v", m, c.job, got)
			}
		}
	}
	if n := h.Samples(at.Add(65 * time.Minute)); n != 5 {
		t.Errorf("%d samples of the last hour", n)
	}
	for i := range 300 {
		h.Add(now, provision.Digits{uint8(i % 100)})
	}
	if n := h.Samples(now); n != 200 {
		t.Errorf("%d samples are kept", n)
	}
}

// A resource on which one node is pressed, and another on which another is: the vector tells
// them apart, the number does not.
func TestTheVectorTellsResourcesApart(t *testing.T) {
	t.Parallel()
	h := provision.NewHistory(time.Hour, 200)
	at := time.Unix(0, 0)
	for range 20 {
		h.Add(at, provision.Digits{60, 0})
	}
	job := provision.Digits{10, 80} // demands the second, and the first is pressed
	if h.Sufficed(at, job, 0.9, provision.Scalar, provision.ReachedByMost) {
		t.Error("as one number it does not suffice")
	}
	if !h.Sufficed(at, job, 0.9, provision.Vector, provision.ReachedByMost) {
		t.Error("by resource it does")
	}
}
