package adapt_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// capped is a size of so many MHz.
func capped(mhz int) cluster.Resources { return cluster.Resources{CPUMHz: mhz, MemoryMB: 256} }

// machines are empty nodes of 800 MHz.
func machines(n int) *board.Board {
	b := board.New(nil, []string{"a"})
	for i := range n {
		b.Add(board.Node{ID: cluster.NodeID('a' + rune(i)), CoreMHz: 1000, Total: cluster.Resources{CPUMHz: 800, MemoryMB: 40960}})
	}
	return b
}

// unitOf puts a task on the board, that began at 0 and needs 40 MHz to do 7,200 MHz·s in
// 180 s.
func unitOf(b *board.Board, handle board.Handle, n board.Index, mhz int, slowdown float64) adapt.Observation {
	b.Place(n, board.Resident{Handle: handle, Size: capped(mhz)})
	return adapt.Observation{Handle: handle << 20, Replicas: []adapt.Replica{{Handle: handle, Node: n, Size: capped(mhz), Task: &adapt.Task{
		Work: 7200, FullMHz: 50, Deadline: 180 * time.Second, MoveTime: 8 * time.Second, Slowdown: slowdown,
	}}}}
}

// resting is a task with all the time there is.
func resting(b *board.Board, handle board.Handle, n board.Index, mhz int) adapt.Observation {
	o := unitOf(b, handle, n, mhz, 0)
	o.Replicas[0].Task.Work, o.Replicas[0].Task.Deadline = 1000, time.Hour
	return o
}

func step(a adapt.Adapter, b *board.Board, at time.Duration, windows ...adapt.Observation) []adapt.Action {
	return a.Step(at, b, windows, rand.New(rand.NewPCG(1, 1)))
}

// Algorithm 1, line 7: a task that will be late grows where it is, and then it is done
// with (the listing goes on to its co-runners).
func TestExpandsInPlace(t *testing.T) {
	t.Parallel()
	b := machines(2)
	late := unitOf(b, 1, 0, 40, 0.2)
	other := resting(b, 2, 0, 100)
	got := step(adapter(t, "pp-rtte", nil), b, 12*time.Second, late, other)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Resize}) || got[0].Handle != 1 || got[0].Size.CPUMHz <= 40 || got[0].Size.CPUMHz > 50 {
		t.Errorf("%+v", got)
	}
}

// Line 8: without room it moves itself, to the node with the most useful work per watt,
// and not to one that sleeps; the listing drops this move.
func TestMovesItself(t *testing.T) {
	t.Parallel()
	b := machines(4)
	late := unitOf(b, 1, 0, 40, 0.2)
	windows := []adapt.Observation{late, resting(b, 2, 0, 760), resting(b, 3, 2, 300), resting(b, 4, 3, 500)}
	got := step(adapter(t, "pp-rtte", nil), b, 12*time.Second, windows...)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Migrate}) || got[0].Handle != 1 || got[0].To != 3 {
		t.Errorf("%+v", got)
	}
}

// Lines 10 to 19: where it cannot move, co-runners do, the one with the most slack first,
// until there is room. What has no time for a move cannot.
func TestMovesCoRunners(t *testing.T) {
	t.Parallel()
	b := machines(2)
	late := unitOf(b, 1, 0, 40, 0.1)
	late.Replicas[0].Task.MoveTime = 100 * time.Second
	tight := resting(b, 2, 0, 700)
	tight.Replicas[0].Task.MoveTime = 2 * time.Hour
	easy := resting(b, 3, 0, 60)
	got := step(adapter(t, "pp-rtte", nil), b, 12*time.Second, late, tight, easy)
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Migrate, adapt.Resize}) || got[0].Handle != 3 || got[0].To != 1 || got[1].Handle != 1 {
		t.Errorf("%+v", got)
	}
}

// What does not help is rolled back: no task is moved, and the late one gets what is free
// on its node.
func TestNothingHelps(t *testing.T) {
	t.Parallel()
	b := machines(1)
	late := unitOf(b, 1, 0, 40, 0.3)
	got := step(adapter(t, "pp-rtte", nil), b, 12*time.Second, late, resting(b, 2, 0, 755))
	if !slices.Equal(kinds(got), []adapt.Kind{adapt.Resize}) || got[0].Size.CPUMHz != 45 {
		t.Errorf("%+v", got)
	}
}

// Line 3: what is too late already is let go.
func TestNegativeSlackIsDropped(t *testing.T) {
	t.Parallel()
	b := machines(2)
	late := unitOf(b, 1, 0, 40, 0.4)
	late.Replicas[0].Task.Work = 9000 // 180 s at full speed
	if got := step(adapter(t, "pp-rtte", nil), b, 60*time.Second, late); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A meter that says nothing moves nothing.
func TestSilenceMovesNothing(t *testing.T) {
	t.Parallel()
	b := machines(2)
	a := adapter(t, "pp-rtte", nil)
	late := unitOf(b, 1, 0, 40, math.NaN())
	for i := range 12 {
		if got := step(a, b, time.Duration(i+1)*12*time.Second, late); len(got) != 0 {
			t.Errorf("%+v", got)
		}
	}
	if n := a.(adapt.Estimator).Unheard(); n != 12 {
		t.Errorf("%d samples unheard, want 12", n)
	}
}

// §IV: a node below half its cpu in three of five minutes is emptied, but only as a
// whole and onto nodes that are awake.
func TestUnderUsedNodesAreEmptied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		awake  int // MHz of the task on the other node that is awake
		expect int // moves
	}{"there is room": {500, 2}, "there is room for one": {700, 0}} {
		for _, adapters := range []string{"pp-rtte", "rtte"} {
			b := machines(3)
			windows := []adapt.Observation{resting(b, 1, 0, 60), resting(b, 2, 0, 60), resting(b, 3, 1, c.awake)}
			for i := range windows {
				windows[i].Replicas[0].Task.Work, windows[i].Replicas[0].Task.FullMHz, windows[i].Replicas[0].Task.Deadline = 60*3600, 80, 3600*time.Second
			}
			a := adapter(t, adapters, nil)
			var got []adapt.Action
			for minute := range 5 {
				if len(got) != 0 {
					t.Errorf("%s, %s: after %d minutes %+v", name, adapters, minute, got)
				}
				got = step(a, b, time.Duration(minute+1)*time.Minute, windows...)
			}
			for _, action := range got {
				if action.Kind != adapt.Migrate || action.To != 1 {
					t.Errorf("%s, %s: %+v", name, adapters, action)
				}
			}
			if len(got) != c.expect {
				t.Errorf("%s, %s: %d moves, want %d", name, adapters, len(got), c.expect)
			}
		}
	}
}

// ending is a workload with a finish time: 100 units in 100 s.
func ending(done, performance float64) adapt.Observation {
	w := window(performance)
	w.Target, w.Finish = 1, &adapt.Finish{Work: 100, Done: done, Deadline: 100 * time.Second}
	return w
}

// Live work is judged by its end: what is ahead may be slow, what is late is helped
// however well it does now, and what was done is believed.
func TestWorkIsJudgedByItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		done, performance float64
		helped            bool
	}{
		"slow and ahead":   {90, 0.7, false},
		"slow and behind":  {20, 0.7, true},
		"fast and behind":  {1, 1.05, true},
		"nothing is known": {math.NaN(), 0.5, true},
		"unknown now":      {20, math.NaN(), false},
	} {
		b := twoNodes()
		b.Place(0, board.Resident{Handle: 1, Size: size(2)})
		b.Place(0, board.Resident{Handle: 2, Size: size(2), BestEffort: true})
		a := adapter(t, "kflr", func(o *adapt.Options) { o.YieldFirst = true })
		var got []adapt.Action
		for i := range 3 {
			got = step(a, b, time.Duration(i+4)*10*time.Second, ending(c.done, c.performance))
		}
		if evicts := slices.Contains(kinds(got), adapt.Evict); evicts != c.helped {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Work starts anew elsewhere only where all of it can still be done in time.
func TestLateWorkIsNotStartedAnew(t *testing.T) {
	t.Parallel()
	for at, moves := range map[time.Duration]bool{0: true, 70 * time.Second: false} {
		b := twoNodes()
		b.Place(0, board.Resident{Handle: 1, Size: size(2)})
		b.Place(0, board.Resident{Handle: 2, Size: size(6)})
		a := adapter(t, "kflr", func(o *adapt.Options) { o.Moves = true })
		step(a, b, at+time.Second, ending(0, 2)) // it can do twice what it must
		var got []adapt.Action
		for i := range 20 {
			got = append(got, step(a, b, at+time.Duration(i+2)*time.Second, ending(0, 0.3))...)
		}
		if slices.Contains(kinds(got), adapt.Move) != moves {
			t.Errorf("from %s on: %v", at, kinds(got))
		}
	}
}
