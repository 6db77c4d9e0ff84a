package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/whatif"
)

var (
	_ dashboard.Provisioning = engineRecords{}
	_ dashboard.Comparing    = comparingRecords{}
	_ runRecords             = pageRecords{}
	_ runRecords             = engineRecords{}
)

// handComparer is a comparer whose replays are ended by hand.
type handComparer struct {
	*comparer
	clock    sync.Mutex
	time     time.Time
	prepared int
	tell     chan func(float64, string)
	done     chan error // what the replay that runs ends with
}

func newHandComparer() *handComparer {
	h := &handComparer{time: dashboardtest.Now, tell: make(chan func(float64, string)), done: make(chan error)}
	h.comparer = newComparer(func() time.Time {
		h.clock.Lock()
		defer h.clock.Unlock()
		return h.time
	}, slog.New(slog.DiscardHandler))
	h.compare = func(_ context.Context, _ whatif.Recorded, q provision.Question, tell func(float64, string)) (provision.Comparison, error) {
		h.tell <- tell
		err := <-h.done
		if err == nil && q.Seed == 0 {
			panic("a fault")
		}
		return provision.Comparison{Seed: q.Seed}, err
	}
	return h
}

func (h *handComparer) ask(t *testing.T, seed uint64) (provision.Answering, error) {
	t.Helper()
	return h.answer(t.Context(), dashboard.CompareQuestion{PricePerHour: float64(seed)}, func(context.Context) (whatif.Recorded, provision.Question, error) {
		h.prepared++
		return whatif.Recorded{}, provision.Question{Seed: seed}, nil
	})
}

// settled waits until nothing is replayed.
func (h *handComparer) settled(t *testing.T) {
	t.Helper()
	for {
		h.mu.Lock()
		busy := h.busy
		h.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it is still busy")
		case <-time.After(time.Millisecond):
		}
	}
}

// One question is answered at a time, once for all who ask the same within ten minutes; the next one waits.
func TestOneComparisonAtATime(t *testing.T) {
	t.Parallel()
	h := newHandComparer()
	first, err := h.ask(t, 7)
	if err != nil || first.Comparison != nil || first.Share != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	tell := <-h.tell
	tell(0.25, "OdF")
	if a, err := h.ask(t, 7); err != nil || a.Share != 0.25 || a.What != "OdF" || h.prepared != 1 {
		t.Errorf("%+v, %v, read %d times", a, err, h.prepared)
	}
	if a, err := h.ask(t, 8); err != nil || a.Comparison != nil || !strings.Contains(a.What, "another question") || h.prepared != 1 {
		t.Errorf("%+v, %v, read %d times", a, err, h.prepared)
	}
	h.done <- nil
	h.settled(t)
	for range 2 {
		if a, err := h.ask(t, 7); err != nil || a.Comparison == nil || a.Comparison.Seed != 7 || h.prepared != 1 {
			t.Errorf("%+v, %v, read %d times", a, err, h.prepared)
		}
	}
	h.clock.Lock()
	h.time = h.time.Add(answersCount)
	h.clock.Unlock()
	if a, err := h.ask(t, 7); err != nil || a.Comparison != nil || h.prepared != 2 {
		t.Errorf("an old answer: %+v, %v, read %d times", a, err, h.prepared)
	}
	<-h.tell
	h.done <- nil
	h.settled(t)
}

// What fails is told to who asked, and keeps nobody from asking something else.
func TestComparisonsThatFail(t *testing.T) {
	t.Parallel()
	h := newHandComparer()
	for seed, end := range map[uint64]error{0: nil, 3: provision.ErrNoRuns} {
		if _, err := h.ask(t, seed); err != nil {
			t.Fatal(err)
		}
		<-h.tell
		h.done <- end
		h.settled(t)
		_, err := h.ask(t, seed)
		if seed == 0 && (err == nil || !strings.Contains(err.Error(), "a fault")) || seed == 3 && !errors.Is(err, provision.ErrNoRuns) {
			t.Errorf("%d: %v", seed, err)
		}
	}
	unread := errors.New("the store is on fire")
	if _, err := h.answer(t.Context(), dashboard.CompareQuestion{Cores: 99}, func(context.Context) (whatif.Recorded, provision.Question, error) {
		return whatif.Recorded{}, provision.Question{}, unread
	}); !errors.Is(err, unread) {
		t.Error(err)
	}
	if a, err := h.ask(t, 5); err != nil || a.Comparison != nil {
		t.Errorf("%+v, %v", a, err)
	}
	<-h.tell
	h.done <- nil
	h.settled(t)
}

// The page asks with the prices of the agent's types; without any it says what to do.
func TestWhatThePageAsks(t *testing.T) {
	t.Parallel()
	report := *dashboardtest.Fixture().Rented
	asked := dashboard.CompareQuestion{Since: time.Hour, Cores: 16, MemoryMB: 65536, PricePerHour: 0.28, TermWeeks: 26}
	q, err := askedOf(report, asked, dashboardtest.Now)
	if err != nil || len(q.Prices.Types) != 2 || q.Prices.Types[1].PricePerHour != 0.76 || q.Prices.Owned.TermWeeks != 26 || q.To.Sub(q.From) != time.Hour {
		t.Errorf("%+v, %v", q, err)
	}
	report.Types = nil
	if _, err := askedOf(report, asked, dashboardtest.Now); !errors.Is(err, provision.ErrNoTypes) || !strings.Contains(err.Error(), "add an instance_type") {
		t.Error(err)
	}
}

func TestSpansAndWeeks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "36h": 36 * time.Hour, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute} {
		if got, err := spanOf(text); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "7", "-1d", "0h", "NaNd", "Infd", "9999999999d", "week"} {
		if got, err := spanOf(text); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
	for text, want := range map[string]int{"": len(provision.DefaultWeeks()), "1": 1, "1, 52,104": 3} {
		if got, err := weeksOf(text); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-3", "a year", "1,,2", "NaN"} {
		if got, err := weeksOf(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
