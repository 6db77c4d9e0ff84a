package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// quasarBoard has nodes of 8 cores, the first few on the fast configuration 1.
func quasarBoard(fast, slow int) *board.Board {
	b := board.New(boardtest.Columns(1), []string{"slow", "fast"})
	for i := range fast + slow {
		c := 0
		if i < fast {
			c = 1
		}
		b.Add(boardtest.Node(fmt.Sprint(i), 8, boardtest.Configuration(c)))
	}
	return b
}

// quasarAsk scales up in three sizes, and out without loss.
func quasarAsk(target float64) board.Request {
	return board.Request{
		Handle: 1, Size: boardtest.Cores(2), Count: 1, Target: target,
		Tolerated: []float64{50}, Caused: []float64{20}, Speed: []float64{2500, 5000},
		Sizes: []board.SizeOption{
			{Size: boardtest.Cores(2), Speed: 1}, {Size: boardtest.Cores(4), Speed: 2}, {Size: boardtest.Cores(8), Speed: 4},
		},
		ScaleOut: []float64{1},
	}
}

func quasarSelect(b *board.Board, a *board.Request) board.Choice {
	return quasarSelector.New(b, Options{}).Select(b, a, rand.New(rand.NewPCG(1, 1)))
}

// §4.3.3: 100,000 queries/s at 20,000 for each top server take five of them.
func TestQuasarWorkedExample(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(10, 30), quasarAsk(100_000)
	c := quasarSelect(b, &a)
	if len(c.Replicas) != 5 || !c.Reaches {
		t.Fatalf("%+v", c)
	}
	for _, u := range c.Replicas {
		if b.Node(u.Node).Configuration != 1 || u.Size != boardtest.Cores(8) || u.Predicted != 20_000 {
			t.Errorf("unit %+v", u)
		}
	}
}

// §4.3.3: up before out, lower-ranked nodes where the best run out, the last one
// no larger than it must be, and nothing where all together do not reach.
func TestQuasarScalesUpThenOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target float64
		cores  []int
	}{
		{4_000, []int{2}},
		{9_000, []int{4}},
		{23_000, []int{8, 2}},
		{54_000, []int{8, 8, 8, 4}}, // two fast nodes, then slow ones: 40,000 + 10,000 + 5,000
		{1_000_000, nil},
	} {
		b, a := quasarBoard(2, 5), quasarAsk(c.target)
		got := quasarSelect(b, &a)
		var cores []int
		for _, u := range got.Replicas {
			cores = append(cores, u.Size.CPUMHz/boardtest.CoreMHz)
		}
		if fmt.Sprint(cores) != fmt.Sprint(c.cores) || got.Reaches != (c.cores != nil) {
			t.Errorf("target %v: cores %v, reaches %v, want %v", c.target, cores, got.Reaches, c.cores)
		}
		if a.Forced = true; c.cores == nil && len(quasarSelect(b, &a).Replicas) != 7 {
			t.Errorf("target %v: the last chance does not take all there is", c.target)
		}
	}
}

// so(n)/n is taken anew at every node: with a loss of a third at two nodes, three
// do what two would without.
func TestQuasarScaleOutLoss(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(10, 0), quasarAsk(40_000)
	a.ScaleOut = []float64{1, 1.4, 2.1}
	c := quasarSelect(b, &a)
	if len(c.Replicas) != 3 || !c.Reaches {
		t.Errorf("%+v", c)
	}
	a.ScaleOut = []float64{1, 0.9}
	if c := quasarSelect(b, &a); len(c.Replicas) != 0 {
		t.Errorf("nodes that make it slower were added: %+v", c)
	}
}

// Single-node work takes the first node that reaches the target alone, else the
// fastest.
func TestQuasarSingleNode(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(1, 3), quasarAsk(9_000)
	a.ScaleOut = nil
	if c := quasarSelect(b, &a); len(c.Replicas) != 1 || c.Replicas[0].Node != 0 || c.Replicas[0].Size != boardtest.Cores(4) || !c.Reaches {
		t.Errorf("%+v", c)
	}
	a.Target = 90_000
	if c := quasarSelect(b, &a); len(c.Replicas) != 1 || c.Replicas[0].Predicted != 20_000 || c.Reaches {
		t.Errorf("out of reach: %+v", c)
	}
}

// Nodes without a QoS violation come before faster ones.
func TestQuasarViolatesLast(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(1, 2), quasarAsk(4_000)
	b.Place(0, board.Resident{Handle: 9, Size: boardtest.Cores(1), Tolerated: []float64{10}, Caused: []float64{70}})
	a.ScaleOut = nil
	if c := quasarSelect(b, &a); len(c.Replicas) != 1 || c.Replicas[0].Node == 0 {
		t.Errorf("%+v", c)
	}
}

// §4.4: best-effort work leaves where the target needs its place, and only there.
func TestQuasarEvictsBestEffort(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(2, 0), quasarAsk(40_000)
	for i := range 2 {
		b.Place(board.Index(i), board.Resident{
			Handle: board.Handle(10 + i), Size: boardtest.Cores(6), Tolerated: []float64{90}, Caused: []float64{5}, BestEffort: true,
		})
	}
	if c := quasarSelect(b, &a); len(c.Replicas) != 2 || len(c.Evict) != 2 || !c.Reaches {
		t.Errorf("%+v", c)
	}
	a.Target = 5_000
	if c := quasarSelect(b, &a); len(c.Replicas) != 1 || len(c.Evict) != 0 {
		t.Errorf("evicted without need: %+v", c)
	}
	a.BestEffort, a.Target = true, 0
	if c := quasarSelect(b, &a); len(c.Evict) != 0 || c.Replicas[0].Size != boardtest.Cores(2) {
		t.Errorf("best effort evicts best effort, or takes more than the smallest: %+v", c)
	}
}

// Best-effort work goes only where it causes no QoS violation.
func TestQuasarBestEffortWaits(t *testing.T) {
	t.Parallel()
	b, a := quasarBoard(1, 0), quasarAsk(0)
	a.BestEffort = true
	b.Place(0, board.Resident{Handle: 9, Size: boardtest.Cores(1), Tolerated: []float64{10}, Caused: []float64{0}})
	if c := quasarSelect(b, &a); len(c.Replicas) != 0 {
		t.Errorf("%+v", c)
	}
}

// Tarcil's measured scheduler: 4,178 cores take about 1 s at 0.2 ms each, and a
// timeout of 0.4 s ends the search after 2,000 of them.
func TestCentralDecisionTime(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	s := boardtest.Shape{Nodes: 700, Cores: 8, Configurations: 1, Columns: 2, Caused: 5} // 4,200 cores
	b := boardtest.Random(rng, s)
	a := boardtest.Ask(rng, s)
	for _, d := range []SelectorDescriptor{quasarSelector, paragonSelector} {
		selector := d.New(b, Options{})
		c := selector.Select(b, &a, rng)
		if took := selector.(board.DecisionTime).DecisionTime(b, &a, c); took < 800*time.Millisecond || took > 900*time.Millisecond || c.TimedOut {
			t.Errorf("%s: %v, timed out %v", d.Name, took, c.TimedOut)
		}
		hasty := d.New(b, Options{Timeout: 400 * time.Millisecond})
		c = hasty.Select(b, &a, rng)
		if !c.TimedOut || len(c.Replicas) != 1 || math.Abs(float64(c.Examined)-333) > 2 {
			t.Errorf("%s: examined %d, timed out %v, %d units", d.Name, c.Examined, c.TimedOut, len(c.Replicas))
		}
	}
}
