package admission_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
)

// What the policy refuses is offered as it is when room is gained, and as forced after a share
// of its run.
func TestPatience(t *testing.T) {
	t.Parallel()
	for expected, want := range map[time.Duration]time.Duration{100 * time.Second: 60 * time.Second, 0: 45 * time.Second} {
		b := board.New(boardtest.Columns(1), []string{"any"})
		b.Add(boardtest.Node("a", 8))
		c := newPatient(t, b, map[string]string{"share": "0.6", "wait": "45s"})
		a := &board.Request{Handle: 7, Size: boardtest.Cores(1), Count: 1, Expected: expected}
		c.Arrive(0, admission.Item{Ask: a})
		offered(t, c, 0, true, false)
		c.Refused(0, 7)
		offered(t, c, 0, false, false)
		b.Place(0, board.Resident{Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 1), Caused: boardtest.Same(1, 1)})
		offered(t, c, 0, false, false)
		if err := b.Remove(0, 1); err != nil {
			t.Fatal(err)
		}
		offered(t, c, time.Second, true, false)
		if at, ok := c.Wake(); !ok || at != want {
			t.Errorf("it wakes at %s (%t), not %s", at, ok, want)
		}
		offered(t, c, want, false, false) // it is being decided on
		c.Refused(want, 7)
		offered(t, c, want, true, true)
		c.Refused(want, 7)
		offered(t, c, want, false, false)
		if _, ok := c.Wake(); ok {
			t.Error("time changes something for an item that has been forced")
		}
	}
}

// What was refused is tried on what gained room since, and on nothing else.
func TestTriedAgainOnWhatChanged(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"any"})
	for _, name := range []string{"a", "b"} {
		b.Place(b.Add(boardtest.Node(name, 8)), board.Resident{Handle: 1, Size: boardtest.Cores(1), Tolerated: boardtest.Same(1, 1), Caused: boardtest.Same(1, 1)})
	}
	c := newPatient(t, b, nil)
	ask := &board.Request{Handle: 7, Size: boardtest.Cores(1), Count: 1, Expected: time.Minute}
	c.Arrive(0, admission.Item{Ask: ask})
	if a, ok := c.Next(0); !ok || a.Only != nil || a.Within != nil {
		t.Errorf("%+v", a)
	}
	c.Refused(0, 7)
	if err := b.Remove(1, 1); err != nil {
		t.Fatal(err)
	}
	if a, ok := c.Next(time.Second); !ok || !slices.Equal(a.Only, []board.Index{1}) || a.Within(0) || !a.Within(1) {
		t.Errorf("%+v", a)
	}
	c.Refused(time.Second, 7)
	if a, ok := c.Next(36 * time.Second); !ok || !a.Forced || a.Only != nil { // it is due
		t.Errorf("%+v", a)
	}
}

// A run so short that a second decision costs more than a better node gains takes what there is.
func TestShortRunsDoNotWait(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"any"})
	b.Add(boardtest.Node("a", 8))
	c := newPatient(t, b, nil)
	c.Arrive(0, admission.Item{Ask: &board.Request{Handle: 7, Size: boardtest.Cores(1), Count: 1, Expected: 800 * time.Millisecond}})
	offered(t, c, 0, true, true)
}

// Best-effort work uses what others leave: it is never due.
func TestBestEffortIsNeverDue(t *testing.T) {
	t.Parallel()
	b := board.New(boardtest.Columns(1), []string{"any"})
	b.Add(boardtest.Node("a", 8))
	c := newPatient(t, b, nil)
	c.Arrive(0, admission.Item{Ask: &board.Request{Handle: 7, Size: boardtest.Cores(1), Count: 1, BestEffort: true}})
	offered(t, c, 0, true, false)
	c.Refused(0, 7)
	if at, ok := c.Wake(); ok {
		t.Errorf("it is due at %s", at)
	}
	offered(t, c, time.Hour, false, false)
}

func newPatient(t *testing.T, b *board.Board, values map[string]string) admission.Controller {
	t.Helper()
	c, err := lookup(t, "patient").New(b, admission.Options{Values: values}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// offered takes the next attempt.
func offered(t *testing.T, c admission.Controller, now admission.Instant, want, forced bool) {
	t.Helper()
	a, ok := c.Next(now)
	if ok != want || a.Forced != forced {
		t.Errorf("at %s: offered %t, forced %t", now, ok, a.Forced)
	}
}
