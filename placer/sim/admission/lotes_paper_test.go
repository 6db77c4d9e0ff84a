package admission_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	words "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// mixed is a board of one full node for two classes: sizes 1 and 2 of 7.
func mixed(t *testing.T, name string, values map[string]string) (*board.Board, admission.Controller, func(handle board.Handle, cores, class int)) {
	t.Helper()
	b := board.New(nil, []string{"one"})
	b.Add(board.Node{ID: "n", Total: words.Resources{CPUMHz: 7000, MemoryMB: 7000}, CoreMHz: 1000})
	lotes.On(b).SetModel(lotes.Model{Declared: true, Classes: []lotes.ModelClass{
		{Share: 3, Size: lotes.Size{CPUMHz: 1000, MemoryMB: 1000}}, {Share: 2, Size: lotes.Size{CPUMHz: 2000, MemoryMB: 2000}},
	}})
	c, err := lookup(t, name).New(b, admission.Options{Values: values}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	arrive := func(handle board.Handle, cores, class int) {
		a := board.Request{Handle: handle, Count: 1, Class: class, Size: words.Resources{CPUMHz: 1000 * cores, MemoryMB: 1000 * cores}}
		c.Arrive(admission.Instant(handle), admission.Item{Ask: &a, Arrived: admission.Instant(handle), Ready: admission.Instant(handle)})
	}
	return b, c, arrive
}

// served starts whatever is offered and fits, and lists it.
func served(b *board.Board, c admission.Controller, now admission.Instant) []board.Handle {
	var out []board.Handle
	for a, ok := c.Next(now); ok; a, ok = c.Next(now) {
		ask := a.Item.Ask
		if !b.Fits(0, ask.Size) {
			c.Refused(now, ask.Handle)
			continue
		}
		b.Place(0, board.Resident{Handle: ask.Handle, Size: ask.Size, Class: ask.Class})
		c.Started(now, 0, ask.Handle)
		c.Placed(now, ask.Handle)
		out = append(out, ask.Handle)
	}
	return out
}

func ends(t *testing.T, b *board.Board, c admission.Controller, now admission.Instant, refs ...board.Handle) {
	t.Helper()
	for _, handle := range refs {
		if err := b.Remove(0, handle); err != nil {
			t.Fatal(err)
		}
		c.Ended(now, 0, handle)
	}
}

// §4.3.2: the plan is three jobs of size 1 and two of size 2. What the node lacks most
// is started first; a class goes on while it is on top; within it, in order.
func TestExitsFollowTheMix(t *testing.T) {
	t.Parallel()
	b, c, arrive := mixed(t, "lotes", nil)
	for handle := range board.Handle(7) {
		arrive(handle+1, 1, 1)
	}
	if got := served(b, c, 10); len(got) != 7 {
		t.Fatalf("an empty node took %v", got)
	}
	arrive(11, 1, 1)
	arrive(12, 2, 2)
	arrive(13, 2, 2)
	arrive(14, 1, 1)
	if got := served(b, c, 20); len(got) != 0 || c.Waiting() != 4 {
		t.Fatalf("a full node took %v", got)
	}
	ends(t, b, c, 30, 1, 2, 3) // 4 of class 1 run: it has one too many, and lacks two of class 2
	if got := served(b, c, 30); !slices.Equal(got, []board.Handle{12, 11}) {
		t.Errorf("with room for three it started %v, want the first of class 2, and what fits beside it", got)
	}
	ends(t, b, c, 40, 4, 5)
	if got := served(b, c, 40); !slices.Equal(got, []board.Handle{13}) {
		t.Errorf("it started %v, want the other of class 2", got)
	}
}

// A job that no planned machine could ever hold, and one that lost its patience, take
// any room; they are counted.
func TestNothingIsHeldForEver(t *testing.T) {
	t.Parallel()
	b, c, arrive := mixed(t, "lotes", map[string]string{"patience": "1h"})
	arrive(1, 7, 1)
	if got := served(b, c, 2); len(got) != 1 {
		t.Fatal(got)
	}
	arrive(3, 8, 1)
	arrive(4, 7, 2)
	served(b, c, 5)
	if at, ok := c.Wake(); !ok || at < time.Hour {
		t.Errorf("wakes at %v, %v", at, ok)
	}
	served(b, c, 2*time.Hour)
	ends(t, b, c, 2*time.Hour, 1)
	if got := served(b, c, 2*time.Hour); !slices.Equal(got, []board.Handle{4}) {
		t.Errorf("started %v", got)
	}
	if r := c.(admission.Reporter).Report().Plans; r.Anywhere < 2 || r.Made != 1 || r.Failed != 0 {
		t.Errorf("%+v", r)
	}
	c.Withdraw(3)
	if c.Waiting() != 0 {
		t.Errorf("%d wait", c.Waiting())
	}
}

// §5.1: under Greedy the head of a queue blocks the others; under Tetris the job of
// least work goes first.
func TestBaselinesOnExit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]board.Handle{"greedy-fit": nil, "tetris": {4, 3}} {
		b, c, arrive := mixed(t, name, nil)
		arrive(1, 4, 1)
		arrive(5, 3, 1)
		served(b, c, 1)
		arrive(2, 5, 1)
		a := board.Request{Handle: 3, Count: 1, Expected: time.Hour, Size: words.Resources{CPUMHz: 1000, MemoryMB: 1000}}
		short := a
		short.Handle, short.Expected = 4, time.Minute
		for _, x := range []*board.Request{&a, &short} {
			c.Arrive(3, admission.Item{Ask: x, Arrived: 3, Ready: 3})
		}
		served(b, c, 4)
		ends(t, b, c, 5, 1)
		if got := served(b, c, 5); !slices.Equal(got, want) {
			t.Errorf("%s started %v, want %v", name, got, want)
		}
	}
}
