package policytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// boards is how many random boards a property of selectors is tried on.
const boards = 80

// variants are the options a property is tried with; a policy takes those that
// it knows.
var variants = map[string]policy.Options{
	"defaults": {},
	"near":     {Locality: policy.Near, Literal: true, Batch: true, Candidates: 3},
	"apart":    {Locality: policy.Apart, Uniform: true, MeasuredBound: true, Timeout: 2 * time.Millisecond},
}

// RunSelector tries a selector against its suite.
func RunSelector(t *testing.T, d policy.SelectorDescriptor) {
	t.Helper()
	for name, o := range variants {
		t.Run("random boards, "+name, func(t *testing.T) { t.Parallel(); randomBoards(t, d, o) })
		t.Run("indexes follow the board, "+name, func(t *testing.T) { t.Parallel(); followsBoard(t, d, o) })
	}
	t.Run("empty and full boards", func(t *testing.T) { t.Parallel(); emptyAndFull(t, d) })
	t.Run("unknown speeds", func(t *testing.T) { t.Parallel(); unknownSpeeds(t, d) })
}

// randomAsk draws an ask with any of the fields a policy has to obey.
func randomAsk(rng *rand.Rand, s boardtest.Shape) board.Request {
	a := boardtest.Ask(rng, s)
	a.Size = boardtest.Cores(1 + rng.IntN(3))
	a.Count = 1 + rng.IntN(5)
	a.Gang = rng.IntN(4) == 0
	a.Forced = rng.IntN(4) == 0
	a.Late = rng.IntN(4) == 0
	a.BestEffort = rng.IntN(6) == 0
	if rng.IntN(3) == 0 {
		a.Target = 1000 * rng.Float64()
	}
	if rng.IntN(3) == 0 {
		for i := range 3 {
			a.Sizes = append(a.Sizes, board.SizeOption{Size: boardtest.Cores(i + 1), Speed: float64(i+1) * 0.9})
		}
		a.ScaleOut = []float64{1, 1.9, 2.7}
	}
	if rng.IntN(3) == 0 {
		a.Allowed = func(n board.Index) bool { return n%3 != 0 }
	}
	return a
}

func randomShape(rng *rand.Rand) boardtest.Shape {
	return boardtest.Shape{
		Nodes: 1 + rng.IntN(30), Cores: 2 + rng.IntN(7), Configurations: 1 + rng.IntN(4), Columns: 1 + rng.IntN(5),
		Load: 0.9 * rng.Float64(), Caused: 60,
	}
}

func randomBoards(t *testing.T, d policy.SelectorDescriptor, o policy.Options) {
	for seed := range uint64(boards) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := randomShape(rng)
		b := boardtest.Random(rng, s)
		for i := range b.Len() {
			b.SetReady(board.Index(i), rng.IntN(8) > 0)
		}
		a := randomAsk(rng, s)
		selector := d.New(b, o)
		before := describe(b)
		c := selector.Select(b, &a, rand.New(rand.NewPCG(seed, 8)))
		if err := CheckChoice(b, &a, c); err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, c)
		}
		if describe(b) != before {
			t.Fatalf("seed %d: the selector changed the board", seed)
		}
		again := selector.Select(b, &a, rand.New(rand.NewPCG(seed, 8)))
		if !same(c, again) {
			t.Fatalf("seed %d: replay differs:\n%+v\n%+v", seed, c, again)
		}
		if timed, ok := selector.(board.DecisionTime); ok && timed.DecisionTime(b, &a, c) < 0 {
			t.Fatalf("seed %d: a decision takes negative time", seed)
		}
	}
}

// same compares choices; reflect.DeepEqual would take NaN for different.
func same(x, y board.Choice) bool { return fmt.Sprintf("%+v", x) == fmt.Sprintf("%+v", y) }

func describe(b *board.Board) string {
	out := ""
	for i := range b.Len() {
		n := board.Index(i)
		out += fmt.Sprint(b.Used(n), b.Residents(n), b.Tolerated(n), b.Caused(n), b.Ready(n))
	}
	return out
}

// CheckChoice returns the first safety property that a choice breaks.
func CheckChoice(b *board.Board, a *board.Request, c board.Choice) error {
	if len(c.Replicas) > 0 && len(c.Bind) > 0 {
		return fmt.Errorf("units and bindings at once")
	}
	if len(c.Replicas) > a.Count && a.ScaleOut == nil && a.Target == 0 {
		return fmt.Errorf("%d units, %d were asked for", len(c.Replicas), a.Count)
	}
	if c.Reaches && len(c.Replicas) == 0 {
		return fmt.Errorf("no units reach the target")
	}
	for _, n := range c.Bind {
		if !b.Ready(n) || a.Allowed != nil && !a.Allowed(n) {
			return fmt.Errorf("waits at node %d, which may not run it", n)
		}
	}
	return checkRoom(b, a, c)
}

// checkRoom places all units on a copy of the nodes' loads.
func checkRoom(b *board.Board, a *board.Request, c board.Choice) error {
	copied := board.New(b.Columns, b.Configurations)
	for i := range b.Len() {
		n := board.Index(i)
		copied.Add(*b.Node(n))
		copied.SetReady(n, b.Ready(n))
		for _, r := range b.Residents(n) {
			copied.Place(n, r)
		}
	}
	for _, e := range c.Evict {
		if err := copied.Remove(e.Node, e.Handle); err != nil {
			return err
		}
	}
	for i, u := range c.Replicas {
		if a.Allowed != nil && !a.Allowed(u.Node) {
			return fmt.Errorf("unit %d: node %d is not allowed", i, u.Node)
		}
		if !copied.Fits(u.Node, u.Size) {
			return fmt.Errorf("unit %d: node %d has no room", i, u.Node)
		}
		copied.Place(u.Node, board.Resident{Handle: board.Handle(-1 - i), Size: u.Size, Tolerated: a.Tolerated, Caused: a.Caused})
	}
	return nil
}

// followsBoard: after many changes a selector answers as a fresh one would.
func followsBoard(t *testing.T, d policy.SelectorDescriptor, o policy.Options) {
	for seed := range uint64(boards / 4) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := randomShape(rng)
		b := boardtest.Random(rng, s)
		old := d.New(b, o)
		handle := board.Handle(1 << 20)
		for range 60 {
			change(t, rng, b, s, &handle)
		}
		for range 4 {
			a := randomAsk(rng, s)
			kept := old.Select(b, &a, rand.New(rand.NewPCG(seed, 10)))
			fresh := d.New(b, o).Select(b, &a, rand.New(rand.NewPCG(seed, 10)))
			if !same(kept, fresh) {
				t.Fatalf("seed %d: after changes it chooses\n%+v\nafresh\n%+v", seed, kept, fresh)
			}
		}
	}
}

// change the board in one way.
func change(t *testing.T, rng *rand.Rand, b *board.Board, s boardtest.Shape, handle *board.Handle) {
	n := board.Index(rng.IntN(b.Len()))
	residents := b.Residents(n)
	switch k := rng.IntN(6); {
	case k == 0:
		b.SetReady(n, rng.IntN(3) > 0)
	case k == 1 && b.Len() < 80:
		b.Add(boardtest.Node(fmt.Sprint("new-", *handle), s.Cores, boardtest.Configuration(rng.IntN(s.Configurations))))
	case k == 2 && len(residents) > 0:
		if err := b.Remove(n, residents[rng.IntN(len(residents))].Handle); err != nil {
			t.Fatal(err)
		}
	case k == 3 && len(residents) > 0:
		if err := b.Resize(n, residents[0].Handle, boardtest.Cores(1+rng.IntN(2))); err != nil {
			t.Fatal(err)
		}
	default:
		if r := boardtest.Resident(rng, *handle, 1+rng.IntN(2), s); b.Fits(n, r.Size) {
			b.Place(n, r)
		}
	}
	*handle++
}

func emptyAndFull(t *testing.T, d policy.SelectorDescriptor) {
	random := rand.New(rand.NewPCG(1, 1))
	s := boardtest.Shape{Nodes: 4, Cores: 2, Configurations: 2, Columns: 2, Caused: 40}
	a := boardtest.Ask(random, s)
	empty := board.New(boardtest.Columns(2), nil)
	if c := d.New(empty, policy.Options{}).Select(empty, &a, random); len(c.Replicas)+len(c.Bind) > 0 {
		t.Errorf("an empty board gave %+v", c)
	}
	b := boardtest.Random(random, s)
	a.Size = boardtest.Cores(3)
	if c := d.New(b, policy.Options{}).Select(b, &a, random); len(c.Replicas) > 0 || c.Reaches {
		t.Errorf("a node too small was taken: %+v", c)
	}
	a.Size, a.Forced = boardtest.Cores(1), true
	if c := d.New(b, policy.Options{}).Select(b, &a, random); len(c.Replicas) != 1 {
		t.Errorf("an idle board of four nodes gave %+v", c)
	}
	a.Gang, a.Count = true, 7
	if c := d.New(b, policy.Options{}).Select(b, &a, random); len(c.Replicas) > 0 {
		t.Errorf("a gang of seven on six cores: %+v", c)
	}
}

func unknownSpeeds(t *testing.T, d policy.SelectorDescriptor) {
	random := rand.New(rand.NewPCG(1, 2))
	s := boardtest.Shape{Nodes: 6, Cores: 4, Configurations: 3, Columns: 3, Caused: 10}
	b := boardtest.Random(random, s)
	for _, speed := range [][]float64{nil, {math.NaN(), math.NaN(), math.NaN()}, {math.NaN(), 5, math.NaN()}} {
		a := boardtest.Ask(random, s)
		a.Speed, a.Forced, a.Target = speed, true, 1000
		c := d.New(b, policy.Options{}).Select(b, &a, random)
		if len(c.Replicas) == 0 {
			t.Errorf("speeds %v: nothing chosen on an idle board", speed)
		}
		if c.Reaches {
			t.Errorf("speeds %v: a target out of reach is reached", speed)
		}
	}
}
