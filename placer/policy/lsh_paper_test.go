package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// hashResident has sensitivity s1 and cause s2 on one source.
func hashResident(handle board.Handle, s1, s2 float64) board.Resident {
	return board.Resident{Handle: handle, Size: boardtest.Cores(1), Tolerated: []float64{100 * (1 - s1)}, Caused: []float64{100 * s2}}
}

func hashAsk(s1, s2 float64) board.Request {
	r := hashResident(1000, s1, s2)
	return board.Request{Handle: r.Handle, Size: r.Size, Count: 1, Tolerated: r.Tolerated, Caused: r.Caused}
}

// §III.B, one source: residents (.3, .2) and (.5, .1) give S = .3 and the point
// (.70, .30). A newcomer (.6, .25) fits; then S = .55, the point is (.45, .05), and
// a second newcomer (.4, .06) is refused by the second bound. An idle server is
// (1, 1).
func TestServerPoint(t *testing.T) {
	t.Parallel()
	residents := []board.Resident{hashResident(1, .3, .2), hashResident(2, .5, .1)}
	point := make([]float64, 2)
	check := func(first, second float64) {
		t.Helper()
		if serverPoint(point, residents, nil, 0); math.Abs(point[0]-first) > 1e-12 || math.Abs(point[1]-second) > 1e-12 {
			t.Errorf("%v, want (%v, %v)", point, first, second)
		}
	}
	check(.70, .30)
	request := hashAsk(.6, .25)
	if !dominates(point, newcomerPoint(nil, &request)) {
		t.Error("(.6, .25) does not fit")
	}
	residents = append(residents, hashResident(3, .6, .25))
	check(.45, .05)
	for _, second := range []struct {
		s1, s2 float64
		fits   bool
	}{{.4, .06, false}, {.4, .05, true}, {.46, .05, false}} {
		request := hashAsk(second.s1, second.s2)
		if dominates(point, newcomerPoint(nil, &request)) != second.fits {
			t.Errorf("(%v, %v): fits is not %v", second.s1, second.s2, second.fits)
		}
	}
	residents = nil
	check(1, 1)
}

// The same by the selector: the second newcomer waits, is placed on an idle server
// once there is one, and at its last chance goes where the violation is smallest.
func TestSecondNewcomerWaits(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"a"})
	n := b.Add(boardtest.Node("n", 8))
	s := lshSelector.New(b, Options{})
	for i, r := range [][2]float64{{.3, .2}, {.5, .1}, {.6, .25}} {
		request := hashAsk(r[0], r[1])
		c := s.Select(b, &request, Draws(1))
		if len(c.Replicas) != 1 || c.Indexed != 1 || c.Scans != 0 {
			t.Fatalf("resident %d: %+v", i, c)
		}
		b.Place(n, hashResident(board.Handle(i), r[0], r[1]))
	}
	request := hashAsk(.4, .06)
	if c := s.Select(b, &request, Draws(1)); len(c.Replicas) > 0 || c.Scans != 1 {
		t.Fatalf("it should wait: %+v", c)
	}
	request.Forced = true
	if c := s.Select(b, &request, Draws(1)); len(c.Replicas) != 1 || c.Replicas[0].Node != n {
		t.Fatalf("its last chance: %+v", c)
	}
	request.Forced = false
	idle := b.Add(boardtest.Node("idle", 8))
	if c := s.Select(b, &request, Draws(1)); len(c.Replicas) != 1 || c.Replicas[0].Node != idle || c.Indexed != 1 {
		t.Fatalf("an idle server: %+v", c)
	}
}

// §2.7: whatever comes and goes, s1_j + Σ over others of s2 ≤ 1 holds for every
// resident and source; and "dominated" says the same as Paragon's D2 and as that
// no resident experiences more than it tolerates.
func TestInvariantAndEquivalence(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		b := board.New(boardtest.Columns(1+random.IntN(4)), []string{"a", "b"})
		for i := range 6 {
			b.Add(boardtest.Node(fmt.Sprint(i), 16, boardtest.Configuration(i%2)))
		}
		shape := boardtest.Shape{Columns: len(b.Columns), Caused: 50, Configurations: 2}
		s := lshSelector.New(b, Options{})
		for handle := range board.Handle(150) {
			a := boardtest.Ask(random, shape)
			a.Handle = handle
			checkEquivalence(t, b, &a)
			for _, u := range s.Select(b, &a, random).Replicas {
				b.Place(u.Node, board.Resident{Handle: handle, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused})
			}
			if n := board.Index(random.IntN(b.Len())); len(b.Residents(n)) > 0 && random.IntN(2) == 0 {
				if err := b.Remove(n, b.Residents(n)[0].Handle); err != nil {
					t.Fatal(err)
				}
			}
			checkInvariant(t, b)
		}
	}
}

func checkInvariant(t *testing.T, b *board.Board) {
	t.Helper()
	for i := range b.Len() {
		n := board.Index(i)
		for _, r := range b.Residents(n) {
			for k := range b.Columns {
				if others := b.Caused(n)[k] - r.Caused[k]; others > r.Tolerated[k]+1e-6 {
					t.Fatalf("node %d, source %d: %v presses on one who stands %v", n, k, others, r.Tolerated[k])
				}
			}
		}
	}
}

func checkEquivalence(t *testing.T, b *board.Board, a *board.Request) {
	t.Helper()
	newcomer, server := newcomerPoint(nil, a), make([]float64, 2*len(b.Columns))
	for i := range b.Len() {
		n := board.Index(i)
		fits := true
		for k := range b.Columns {
			fits = fits && a.Tolerated[k]-b.Caused(n)[k] >= 0
			for _, r := range b.Residents(n) {
				fits = fits && a.Caused[k]+b.Caused(n)[k]-r.Caused[k] <= r.Tolerated[k]
			}
		}
		serverPoint(server, b.Residents(n), nil, 0)
		if got := dominates(server, newcomer); got != fits {
			t.Fatalf("node %d: dominated %v, in Paragon's terms %v", n, got, fits)
		}
	}
}

// Algorithm 3 starts just above the newcomer: an occupied server that accepts it is
// taken before an idle one (best fit), and an idle one is always found. The check of
// the specification: 50 random servers of 1 to 5 residents, 10 sources.
func TestBestFit(t *testing.T) {
	t.Parallel()
	packed, possible, waste := 0, 0, 0.0
	const trials = 300
	for seed := range uint64(trials) {
		random := rand.New(rand.NewPCG(seed, 4))
		shape := boardtest.Shape{Nodes: 50, Cores: 32, Configurations: 1, Columns: 10, Caused: 12}
		b := boardtest.Random(random, shape)
		for i := range 45 {
			for r := range 1 + random.IntN(5) {
				b.Place(board.Index(i), boardtest.Resident(random, board.Handle(100*i+r), 1, shape))
			}
		}
		a := boardtest.Ask(random, shape)
		c := lshSelector.New(b, Options{}).Select(b, &a, random)
		if len(c.Replicas) != 1 {
			t.Fatalf("seed %d: idle servers, and nothing found: %+v", seed, c)
		}
		tightest := tightestFit(b, &a)
		if len(b.Residents(tightest)) == 0 {
			continue
		}
		possible++
		if len(b.Residents(c.Replicas[0].Node)) > 0 {
			packed++
		}
		newcomer := newcomerPoint(nil, &a)
		waste += (slackOf(b, c.Replicas[0].Node, newcomer) - slackOf(b, tightest, newcomer)) / float64(len(newcomer))
	}
	if possible < trials/4 || packed < possible*99/100 || waste/float64(possible) > 0.01 {
		t.Errorf("%d of %d newcomers were packed where they could be; mean slack %.4f above the least", packed, possible, waste/float64(possible))
	}
}

func slackOf(b *board.Board, n board.Index, newcomer []float64) float64 {
	server := make([]float64, len(newcomer))
	serverPoint(server, b.Residents(n), nil, 0)
	return slack(server, newcomer)
}

// tightestFit looks at every server.
func tightestFit(b *board.Board, a *board.Request) board.Index {
	newcomer := newcomerPoint(nil, a)
	var fit []board.Index
	for i := range b.Len() {
		server := make([]float64, len(newcomer))
		serverPoint(server, b.Residents(board.Index(i)), nil, 0)
		if dominates(server, newcomer) && b.Fits(board.Index(i), a.Size) {
			fit = append(fit, board.Index(i))
		}
	}
	return slices.MinFunc(fit, func(x, y board.Index) int {
		if slackOf(b, x, newcomer) < slackOf(b, y, newcomer) {
			return -1
		}
		return 1
	})
}

// With a radius so small that look-ups find nothing the scan still does, and both
// are counted.
func TestScanBeforeWaiting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 5))
	shape := boardtest.Shape{Nodes: 10, Cores: 8, Configurations: 1, Columns: 3, Load: 0.3, Caused: 10}
	b := boardtest.Random(random, shape)
	for i := range b.Len() { // no node is idle: an idle node is met by the last query
		b.Place(board.Index(i), boardtest.Resident(random, board.Handle(1000+i), 1, shape))
	}
	a := boardtest.Ask(random, shape)
	c := lshSelector.New(b, Options{Radius: 1e-6}).Select(b, &a, random)
	if len(c.Replicas) != 1 || c.Indexed != 0 || c.Scanned != 1 || c.Scans != 1 {
		t.Errorf("%+v", c)
	}
}

// Algorithm 3, line 1: configurations by increasing sum of scores there. Two idle
// nodes: the one on which the newcomer is fastest, wherever it stands on the board.
func TestConfigurationsByScores(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(2), []string{"a", "b", "c"})
	for c := range 3 {
		b.Add(boardtest.Node(fmt.Sprint(c), 8, boardtest.Configuration(c)))
	}
	for best := range 3 {
		a := board.Request{Size: boardtest.Cores(1), Count: 3, Tolerated: []float64{50, 60}, Caused: []float64{60, 10}, Speed: []float64{50, 50, 50}}
		a.Speed[best], a.Speed[(best+1)%3] = 100, 98
		c := lshSelector.New(b, Options{}).Select(b, &a, Draws(1))
		if len(c.Replicas) != 3 || c.Replicas[0].Node != board.Index(best) || c.Replicas[1].Node != board.Index((best+1)%3) {
			t.Errorf("best %d: %+v", best, c.Replicas)
		}
	}
	a := board.Request{Tolerated: []float64{50, 60}, Caused: []float64{60, 10}}
	for _, c := range []struct{ share, want float64 }{{1, .5 + .4 + .7}, {.95, 2.7}, {.5, 2.7}, {0, 2.7}} {
		if got := scoreSum(&a, c.share); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("C at %v of the best speed: %v, want %v", c.share, got, c.want)
		}
	}
}
