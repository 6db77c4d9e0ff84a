package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestEvenScheduleNeverDrifts(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	for _, rate := range []float64{0.5, 1, 333, 999.9, 1000, 12345.6, 20_000} {
		s := newSchedule(start, rate, Even, 1)
		for total, last := 0, start.Add(-1); total < 5000; {
			b := s.next()
			if b.count < 1 || !b.due.After(last) {
				t.Fatalf("rate %g: batch of %d at %v after %v", rate, b.count, b.due, last)
			}
			total, last = total+b.count, b.due
			// All requests up to the end of the tick, within one.
			if due := b.due.Add(tick).Sub(start).Seconds() * rate; math.Abs(due-float64(total)) > 1+1e-6*due {
				t.Fatalf("rate %g: %d requests after %v, want %g", rate, total, b.due.Sub(start), due)
			}
		}
	}
}

func TestPoissonMeanAndVariance(t *testing.T) {
	t.Parallel()
	const draws = 20_000
	for _, mean := range []float64{0.1, 3, 29.9, 100} {
		rng := rand.New(rand.NewPCG(1, 2))
		var sum, squares float64
		for range draws {
			n := float64(poisson(rng, mean))
			sum, squares = sum+n, squares+n*n
		}
		got := sum / draws
		variance := squares/draws - got*got
		// Five standard errors of the mean; the seed is fixed, so it cannot flake.
		if math.Abs(got-mean) > 5*math.Sqrt(mean/draws) {
			t.Errorf("mean %g, want %g", got, mean)
		}
		if math.Abs(variance/mean-1) > 0.1 {
			t.Errorf("variance %g, want the mean %g", variance, mean)
		}
	}
}

func TestScheduleReplays(t *testing.T) {
	t.Parallel()
	a, b := newSchedule(time.Unix(0, 0), 700, Poisson, 9), newSchedule(time.Unix(0, 0), 700, Poisson, 9)
	for range 1000 {
		if x, y := a.next(), b.next(); x != y {
			t.Fatalf("%v and %v from one seed", x, y)
		}
	}
}

func TestDealSplitsFairlyAndReportsTheRest(t *testing.T) {
	t.Parallel()
	queues := []chan batch{make(chan batch, 10), make(chan batch, 10), make(chan batch, 10)}
	turn, got := 0, [3]int{}
	for _, n := range []int{1, 1, 1, 7, 5} {
		var left int
		if turn, left = deal(t.Context(), queues, batch{count: n}, turn); left != 0 {
			t.Fatalf("%d left of %d", left, n)
		}
	}
	for i, q := range queues {
		close(q)
		for b := range q {
			got[i] += b.count
		}
	}
	if got != [3]int{5, 5, 5} {
		t.Errorf("dealt %v, want 5 each", got)
	}
}
