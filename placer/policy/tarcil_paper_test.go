package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/numeric/digits"
)

// §7.2.2, Eq. 7.5: the ideal unit has U = T; better ones are wasted, worse ones
// violate and rank below, the worst last.
func TestTargetQuality(t *testing.T) {
	t.Parallel()
	const target = 0.6
	if q := targetQuality(target, target); q != 1 {
		t.Errorf("Q of the ideal unit is %v", q)
	}
	rapid.Check(t, func(rt *rapid.T) {
		encoded := rapid.IntRange(0, 9999) // of two columns
		target := float64(encoded.Draw(rt, "T")) / 9999
		x, y := float64(encoded.Draw(rt, "x"))/9999, float64(encoded.Draw(rt, "y"))/9999
		qx, qy := targetQuality(x, target), targetQuality(y, target)
		switch {
		case x >= target && y < target && qx <= qy:
			rt.Fatalf("a violating unit of U %v ranks above one of %v at T %v", y, x, target)
		case x < target && y < target && x < y && qx >= qy:
			rt.Fatalf("the worse of two violating units ranks above: %v, %v at T %v", x, y, target)
		case x >= target && y >= target && x < y && qx <= qy:
			rt.Fatalf("the more wasteful of two units ranks above: %v, %v at T %v", y, x, target)
		}
	})
}

// §7.2.2, Eq. 7.4: the mean over the other units, and π from the workload: a
// node whose contention is on another resource stays free for it.
func TestContentionAndPermutation(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(2), []string{"c"})
	n := b.Add(boardtest.Node("n", 5))
	place := func(handle board.Handle, cores int, caused ...float64) {
		b.Place(n, board.Resident{Handle: handle, Size: boardtest.Cores(cores), Tolerated: []float64{100, 100}, Caused: caused})
	}
	place(1, 1, 80, 0)
	place(2, 2, 20, 8)
	got := make([]float64, 2)
	b.Contention(n, got)
	if want := []float64{(80 + 2*20) / 4.0, 2 * 8 / 4.0}; !slices.Equal(got, want) {
		t.Errorf("C %v, want %v", got, want)
	}
	first := digits.Sorted(digits.Number{}, []float64{50, 10})
	second := digits.Sorted(digits.Number{}, []float64{10, 50})
	if u1, u2 := 1-first.Read(got), 1-second.Read(got); u1 >= first.Value+0.25 || u2 <= 0.9 {
		t.Errorf("U %v for work on the contended resource, %v for work on the other", u1, u2)
	}
	one := b.Add(boardtest.Node("one", 1)) // C is 0 where a node has one unit
	b.Contention(one, got)
	if !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("C of a single unit %v", got)
	}
}

// §7.3.3: the published and derived sizes.
func TestSampleSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		good, failure, want float64
	}{
		{0.2, 1e-3, 31},  // Pr(Q < .8) = 1e-3; the text rounds to 32
		{0.2, 1e-6, 62},  // 64 in the text
		{0.08, 1e-3, 83}, // 82 in the text, 82.8 exactly
		{0.58, 1e-3, 8},
		{0.194, 1e-3, 33}, // a little above reaches 32
		{0.195, 1e-3, 32},
		{0, 1e-3, math.Inf(1)},
		{1, 1e-3, 1},
	} {
		if got := sampleSize(c.good, c.failure); got != c.want {
			t.Errorf("R for a = %v, p = %v is %v, want %v", c.good, c.failure, got, c.want)
		}
	}
}

// tarcilScene is a cluster at 70 % load.
func tarcilScene(seed uint64, nodes int) (*board.Board, boardtest.Shape, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 4))
	s := boardtest.Shape{Nodes: nodes, Cores: 8, Configurations: 1, Columns: 10, Load: 0.7, Caused: 90}
	return boardtest.Random(rng, s), s, rng
}

// §7.3.2, figures 7.3 and 7.4: the rank of the best of R candidates follows x^R.
// The bound is the published deviation for 800 units and 5,000 decisions.
func TestSampledRankFollowsPower(t *testing.T) {
	t.Parallel()
	const decisions, bound = 5000, 0.05
	for _, r := range []int{8, 16, 32, 64} {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			t.Parallel()
			b, shape, rng := tarcilScene(uint64(r), 134) // 804 units
			s := tarcilSelector.New(b, Options{}).(*tarcil)
			var ranks []float64
			for range decisions / 50 {
				a := boardtest.Ask(rng, shape)
				a.Late = true // busy units are of interest, too
				s.tentative.begin(b, &a, 0)
				s.scratch = resized(s.scratch, len(b.Columns))
				s.demand = digits.Sorted(s.demand, a.Caused)
				drawn := func(n int) []unitCandidate {
					s.draw(n, math.NaN(), rng)
					return slices.SortedFunc(slices.Values(slices.Concat(s.free, s.busy)), byQuality)
				}
				all := drawn(len(s.table.ofUnit)) // ascending rank is from the end
				for range 50 {
					ranks = append(ranks, rankOf(all, drawn(r)[0].quality, rng))
				}
			}
			if d := powerDistance(ranks, float64(r)); d > bound {
				t.Errorf("Kolmogorov distance from x^%d is %.3f", r, d)
			}
		})
	}
}

// rankOf is the rank quality i/(n−1) of a unit among all, best last, ties by lot.
func rankOf(all []unitCandidate, quality float64, rng *rand.Rand) float64 {
	above, same := 0, 0
	for _, c := range all {
		switch {
		case c.quality > quality:
			above++
		case c.quality == quality:
			same++
		}
	}
	rank := len(all) - 1 - above - rng.IntN(same)
	return float64(rank) / float64(len(all)-1)
}

// powerDistance is the Kolmogorov distance of a sample on [0, 1] from x^r, at
// the ranks that occur: ranks are whole numbers, x^r is not.
func powerDistance(sample []float64, r float64) float64 {
	slices.Sort(sample)
	worst, n := 0.0, float64(len(sample))
	for i, x := range sample {
		if i+1 == len(sample) || sample[i+1] != x {
			worst = max(worst, math.Abs(math.Pow(x, r)-float64(i+1)/n))
		}
	}
	return worst
}

// The counted share of good units is that of a look at every unit, up to the
// width of a band.
func TestGoodShare(t *testing.T) {
	t.Parallel()
	b, shape, rng := tarcilScene(1, 60)
	s := tarcilSelector.New(b, Options{}).(*tarcil)
	all := func(int) bool { return true }
	for range 20 {
		a := boardtest.Ask(rng, shape)
		d := digits.Sorted(digits.Number{}, a.Caused)
		inner, outer := 0, 0
		c := make([]float64, len(b.Columns))
		for i := range b.Len() {
			n := board.Index(i)
			b.Contention(n, c)
			free := b.FreeMHz(n) / boardtest.CoreMHz
			if free > 0 && c[d.Order[0]] < 100*(1-d.Value)-bandPercent {
				inner += free
			}
			if free > 0 && c[d.Order[0]] < 100*(1-d.Value)+bandPercent {
				outer += free
			}
		}
		units := float64(len(s.table.ofUnit))
		if got := s.table.goodShare(d.Order[0], d.Value, all); got < float64(inner)/units || got > float64(outer)/units {
			t.Errorf("good share %v, by scan between %v and %v", got, float64(inner)/units, float64(outer)/units)
		}
	}
}

// §7.3.3 and §7.3.5: few candidates where most are good, more under load; where
// nothing is good it takes nothing, at the last chance the best there is; where
// all is busy it waits at two nodes.
func TestTarcilUnderLoad(t *testing.T) {
	t.Parallel()
	s := boardtest.Shape{Nodes: 50, Cores: 8, Configurations: 1, Columns: 3, Caused: 50}
	rng := rand.New(rand.NewPCG(5, 5))
	b := boardtest.Random(rng, s)
	a := boardtest.Ask(rng, s)
	tarcil := tarcilSelector.New(b, Options{})
	if c := tarcil.Select(b, &a, rng); c.Examined != tarcilFew || len(c.Replicas) != 1 || !c.Reaches {
		t.Errorf("idle: %+v", c)
	}
	for i := range b.Len() { // every node but for one core full of work that presses on all
		b.Place(board.Index(i), board.Resident{
			Handle: board.Handle(i + 1), Size: boardtest.Cores(b.Node(board.Index(i)).Total.Cores - 1),
			Tolerated: boardtest.Same(3, 100), Caused: boardtest.Same(3, 98),
		})
	}
	a.Caused = boardtest.Same(3, 60)
	if c := tarcil.Select(b, &a, rng); c.Examined != tarcilMany || len(c.Replicas) != 0 {
		t.Errorf("nothing good: %+v", c)
	}
	a.Forced = true
	if c := tarcil.Select(b, &a, rng); len(c.Replicas) != 1 {
		t.Errorf("last chance: %+v", c)
	}
	a.Forced, a.Late = false, true
	c := tarcil.Select(b, &a, rng)
	if len(c.Bind) != tarcilBindings || c.Bind[0] == c.Bind[1] || len(c.Replicas) != 0 {
		t.Errorf("late binding: %+v", c)
	}
	if d := tarcil.(board.DecisionTime).DecisionTime(b, &a, board.Choice{Examined: 8}); d != 10500*time.Microsecond {
		t.Errorf("a decision over 8 candidates takes %v, the paper says 10 to 20 ms", d)
	}
}

// §7.3.2: near keeps a group together, apart on distinct nodes.
func TestTarcilLocality(t *testing.T) {
	t.Parallel()
	s := boardtest.Shape{Nodes: 40, Cores: 8, Configurations: 1, Columns: 2, Caused: 20}
	rng := rand.New(rand.NewPCG(6, 6))
	b := boardtest.Random(rng, s)
	a := boardtest.Ask(rng, s)
	a.Count = 4
	nodes := func(l Locality) map[board.Index]bool {
		out := map[board.Index]bool{}
		for _, u := range tarcilSelector.New(b, Options{Locality: l}).Select(b, &a, rng).Replicas {
			out[u.Node] = true
		}
		return out
	}
	if got := nodes(Near); len(got) != 1 {
		t.Errorf("near took %d nodes of 8 cores for 4 allocations", len(got))
	}
	if got := nodes(Apart); len(got) != 4 {
		t.Errorf("apart took %d nodes for 4 allocations", len(got))
	}
}

// A unit on a slower platform is not good below 95 % of the best speed (§7.2.2).
func TestTarcilPlatform(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"slow", "fast"})
	for i := range 30 {
		b.Add(boardtest.Node(fmt.Sprint(i), 4, boardtest.Configuration(i%2)))
	}
	a := board.Request{Handle: 1, Size: boardtest.Cores(1), Count: 1, Tolerated: []float64{50}, Caused: []float64{50}, Speed: []float64{90, 100}}
	tarcil := tarcilSelector.New(b, Options{})
	for seed := range uint64(30) {
		c := tarcil.Select(b, &a, rand.New(rand.NewPCG(seed, 1)))
		if len(c.Replicas) == 1 && b.Node(c.Replicas[0].Node).Configuration != 1 {
			t.Fatalf("seed %d: a unit at 90 %% of the best speed was taken", seed)
		}
	}
}
