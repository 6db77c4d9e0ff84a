package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// rows are places with given pressures, and what the newcomer stands at each.
type rows struct {
	tolerated, caused, tolerance [][]float64
	exerts                       []float64 // the newcomer, anywhere
}

func (r rows) pressure(i int) (tolerated, caused []float64, bonus float64) {
	return r.tolerated[i], r.caused[i], 0
}

func (r rows) residents(i int) []board.Resident {
	return []board.Resident{{Tolerated: r.tolerated[i], Caused: r.caused[i]}}
}

func (r rows) newcomer(i int) board.Resident {
	return board.Resident{Tolerated: r.tolerance[i], Caused: r.exerts}
}

func (r rows) exerted(int) []float64 { return r.exerts }

// plainFilter is the filter by its definition, without the two remembered bounds.
func plainFilter(n int, p places, tolerated, caused []float64) (chain []bound, alive []bool) {
	f := &chainFilter{chain: chainOf(tolerated, caused), places: p}
	holds := func(i, step int) bool { return f.missing(i, int32(step)) <= epsilonPoints }
	brokenUpTo := func(i, last int) []int {
		var out []int
		for step := 0; step <= last; step++ {
			if !holds(i, step) {
				out = append(out, step)
			}
		}
		return out
	}
	alive = make([]bool, n)
	for step := range f.chain {
		left := 0
		for i := range alive {
			alive[i] = len(brokenUpTo(i, step)) == 0
			if alive[i] {
				left++
			}
		}
		if left > 0 {
			continue
		}
		need := slices.Repeat([]float64{math.Inf(1)}, step+1)
		for i := range n {
			if broken := brokenUpTo(i, step); len(broken) == 1 {
				need[broken[0]] = min(need[broken[0]], f.missing(i, int32(broken[0])))
			}
		}
		best := step
		for j := range step {
			if stepsOf(need[j]) < stepsOf(need[best]) || stepsOf(need[j]) == stepsOf(need[best]) && (best == step || j > best) {
				best = j
			}
		}
		f.chain[best].relaxed += stepsOf(need[best]) * relaxStepPoints
		for i := range alive {
			alive[i] = len(brokenUpTo(i, step)) == 0
		}
	}
	return f.chain, alive
}

// The fast filter relaxes and keeps exactly what the plain one does.
func TestChainFilterAgainstPlain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, k := 1+rng.IntN(12), 1+rng.IntN(6)
		draw := func(high float64) []float64 {
			out := make([]float64, k)
			for i := range out {
				out[i] = math.Round(high * rng.Float64())
			}
			return out
		}
		var p rows
		for range n {
			p.tolerated, p.caused, p.tolerance = append(p.tolerated, draw(100)), append(p.caused, draw(130)), append(p.tolerance, draw(100))
		}
		tolerated, caused := draw(100), draw(80)
		p.exerts = caused
		var f chainFilter
		f.run(n, p, tolerated, caused)
		chain, alive := plainFilter(n, p, tolerated, caused)
		if !slices.Equal(f.chain, chain) {
			t.Fatalf("seed %d: relaxed\n%v, plainly\n%v", seed, f.chain, chain)
		}
		for i := range n {
			if f.alive(i) != alive[i] {
				t.Fatalf("seed %d: place %d alive %v, plainly %v", seed, i, f.alive(i), alive[i])
			}
		}
	}
}

// §3.4.1: D1 in the order of decreasing caused score, D2 of increasing tolerated
// score; without backtracking the order does not matter.
func TestChainOrder(t *testing.T) {
	t.Parallel()
	var columns []int
	for _, b := range chainOf([]float64{30, 10, 20}, []float64{5, 50, 9}) {
		columns = append(columns, b.column)
	}
	if want := []int{1, 2, 0, 1, 2, 0}; !slices.Equal(columns, want) {
		t.Errorf("order %v, want %v", columns, want)
	}
}
