package policy

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// twoKinds is a board of two fast nodes (0, 1) and a slow one (2), of 8 cores each.
func twoKinds() *board.Board {
	b := board.New(boardtest.Columns(1), []string{"fast", "slow"})
	b.Add(boardtest.Node("a", 8))
	b.Add(boardtest.Node("b", 8))
	b.Add(boardtest.Node("c", 8, boardtest.Configuration(1)))
	return b
}

func askOfOne(tolerated, caused float64) *board.Request {
	return &board.Request{
		Size: boardtest.Cores(1), Count: 1, Tolerated: boardtest.Same(1, tolerated), Caused: boardtest.Same(1, caused), Speed: []float64{100, 60},
	}
}

func chosen(t *testing.T, b *board.Board, a *board.Request, o Options) []board.Index {
	t.Helper()
	var out []board.Index
	for _, r := range newExpected(o).Select(b, a, nil).Replicas {
		out = append(out, r.Node)
	}
	return out
}

func TestExpectedWeighsSpeedAgainstCoRunners(t *testing.T) {
	t.Parallel()
	press := func(b *board.Board, n board.Index, tolerated, caused float64) {
		b.Place(n, board.Resident{Handle: board.Handle(n) + 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, tolerated), Caused: boardtest.Same(1, caused)})
	}
	for name, c := range map[string]struct {
		prepare func(b *board.Board)
		change  func(a *board.Request)
		want    board.Index
	}{
		"the fast ones are empty":                    {func(*board.Board) {}, func(*board.Request) {}, 0},
		"of equals the emptier":                      {func(b *board.Board) { press(b, 0, 100, 0) }, func(*board.Request) {}, 1},
		"a slow empty one before fast loaded ones":   {func(b *board.Board) { press(b, 0, 100, 95); press(b, 1, 100, 95) }, func(*board.Request) {}, 2},
		"a loaded one that costs less than slowness": {func(b *board.Board) { press(b, 0, 100, 25); press(b, 1, 100, 25) }, func(*board.Request) {}, 0},
		"what residents lose counts":                 {func(b *board.Board) { press(b, 0, 5, 0); press(b, 1, 100, 30) }, func(a *board.Request) { a.Caused = boardtest.Same(1, 90) }, 1},
		"a slow one suffices for the target": {func(b *board.Board) { press(b, 0, 5, 0); press(b, 1, 5, 0) }, func(a *board.Request) {
			a.Caused, a.Target = boardtest.Same(1, 20), 30
		}, 2},
	} {
		b, a := twoKinds(), askOfOne(10, 10)
		c.prepare(b)
		c.change(a)
		if got := chosen(t, b, a, Options{}); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: chose %v, not %d", name, got, c.want)
		}
	}
}

// 1 % of late requests is all of a target's 99th percentile, and little of a finish time.
func TestExpectedKeepsBoundsOnLatencies(t *testing.T) {
	t.Parallel()
	b, a := twoKinds(), askOfOne(100, 40)
	service := board.Resident{Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 20), Caused: boardtest.Same(1, 5), LateShare: 0.01}
	batch := board.Resident{Handle: 2, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 20), Caused: boardtest.Same(1, 50)}
	b.Place(0, service)
	b.Place(1, batch)
	if got := chosen(t, b, a, Options{}); len(got) != 1 || got[0] != 1 {
		t.Errorf("chose %v, not the one where no latency is bound", got)
	}
}

func TestExpectedWaitsForABetterNode(t *testing.T) {
	t.Parallel()
	b, a := twoKinds(), askOfOne(0, 0)
	for n := range b.Len() {
		b.Place(board.Index(n), board.Resident{Handle: board.Handle(n) + 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 100), Caused: boardtest.Same(1, 100)})
	}
	most, none := 0.6, 0.0
	if got := chosen(t, b, a, Options{Accept: &most}); len(got) > 0 {
		t.Errorf("took %v, on which it keeps half of its performance", got)
	}
	if got := chosen(t, b, a, Options{Accept: &none}); len(got) != 1 {
		t.Errorf("took %v, and would take anything", got)
	}
	a.Forced = true
	if got := chosen(t, b, a, Options{Accept: &most}); len(got) != 1 || got[0] != 0 {
		t.Errorf("took %v when it could not wait", got)
	}
}

func TestExpectedSpreadsAGroupThatPressesOnItself(t *testing.T) {
	t.Parallel()
	b, a := twoKinds(), askOfOne(5, 90)
	a.Count, a.Forced = 3, true
	got := chosen(t, b, a, Options{})
	seen := map[board.Index]bool{}
	for _, n := range got {
		seen[n] = true
	}
	if len(got) != 3 || len(seen) != 3 {
		t.Errorf("chose %v", got)
	}
	a.Count, a.Caused = 20, boardtest.Same(1, 0)
	if got := chosen(t, b, a, Options{}); len(got) != 20 {
		t.Errorf("%d of 20 are placed", len(got))
	}
}

func TestExpectedWithoutKnowledge(t *testing.T) {
	t.Parallel()
	b, a := twoKinds(), askOfOne(50, 50)
	a.Speed = nil
	b.Place(0, board.Resident{Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 50), Caused: boardtest.Same(1, 50)})
	if got := chosen(t, b, a, Options{}); len(got) != 1 || got[0] != 1 {
		t.Errorf("chose %v, and knows that the first is not empty", got)
	}
	a.Speed = []float64{math.NaN(), math.NaN()}
	if got := chosen(t, b, a, Options{}); len(got) != 1 || got[0] != 1 {
		t.Errorf("chose %v where no speed is known", got)
	}
}

// Whatever is not known, or makes no sense, ends in a node that has room, and in no number that is
// none.
func TestExpectedOnBadInput(t *testing.T) {
	t.Parallel()
	nan := math.NaN() // scores are never: a board has what is assumed instead
	for name, change := range map[string]func(b *board.Board, a *board.Request){
		"scores out of range": func(b *board.Board, a *board.Request) {
			b.Place(0, board.Resident{Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, -50), Caused: boardtest.Same(1, 900)})
			a.Tolerated, a.Caused = boardtest.Same(1, 900), boardtest.Same(1, -50)
		},
		"speeds without end":                          func(_ *board.Board, a *board.Request) { a.Speed = []float64{math.Inf(1), 60} },
		"a configuration nobody measured":             func(_ *board.Board, a *board.Request) { a.Speed = []float64{100} },
		"a target that nothing reaches":               func(_ *board.Board, a *board.Request) { a.Target = 1e300 },
		"a target that is no number":                  func(_ *board.Board, a *board.Request) { a.Target = nan },
		"a resident that requires nothing":            func(b *board.Board, _ *board.Request) { b.Place(0, requires(0)) },
		"a resident that requires more than there is": func(b *board.Board, _ *board.Request) { b.Place(0, requires(7)) },
		"a resident whose requirement is no number":   func(b *board.Board, _ *board.Request) { b.Place(0, requires(nan)) },
	} {
		b, a := twoKinds(), askOfOne(50, 50)
		a.Forced = true
		change(b, a)
		e := newExpected(Options{})
		got := e.Select(b, a, nil)
		if len(got.Replicas) != 1 {
			t.Errorf("%s: chose %v", name, got.Replicas)
			continue
		}
		for _, part := range e.explain(b, a, got.Replicas[0].Node).parts {
			if math.IsNaN(part.Value) || math.IsInf(part.Value, 0) {
				t.Errorf("%s: %s is %g", name, part.Name, part.Value)
			}
		}
	}
}

func requires(fraction float64) board.Resident {
	return board.Resident{
		Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 50), Caused: boardtest.Same(1, 50), RequiredFraction: &fraction,
	}
}
