package tracker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var kernels = []string{"a", "b"}

// probing is a world in which nodes are measured, and one quiet node was.
func probing(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(c *Config) { c.Probes = true })
	w.references["small"].Add("earlier", map[string]float64{"a": 100, "b": 100})
	return w
}

// due is the one node that is to be measured now.
func (w *world) due() ProbeDue {
	w.t.Helper()
	due := w.ProbesDue(w.now)
	if len(due) != 1 {
		w.t.Fatalf("%d nodes are to be measured: %+v", len(due), due)
	}
	if again := w.ProbesDue(w.now); len(again) != 0 {
		w.t.Fatalf("it is to be measured twice at a time")
	}
	return due[0]
}

// A node gets no job before it is measured, then the one that waits for it; a good one is kept for ten
// times its spin-up, and measured again while it is idle.
func TestAGoodNodeIsMeasuredAndKept(t *testing.T) {
	t.Parallel()
	w := probing(t)
	w.ask("job")
	w.comes("n", "s", 12*time.Second)
	if a := w.ask("job"); a.Node != "" || !strings.Contains(a.Why, "quality is being measured") {
		t.Fatalf("%+v", a)
	}
	if n := w.report("n"); n.State != provision.Probing {
		t.Fatalf("%+v", n)
	}
	d := w.due()
	if d.Node != "n" || d.Within != 12*time.Second { // its type's spin-up
		t.Errorf("%+v", d)
	}
	w.look(3 * time.Second)
	if got := w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 100, "b": 90}, ""); !slices.Equal(got, provision.Digits{0, 10}) {
		t.Errorf("%v", got)
	}
	if a := w.ask("job"); a.Node != "n" {
		t.Fatalf("%+v", a)
	}
	w.node("n").Jobs = append(w.node("n").Jobs, name("job"))
	w.look(2 * time.Minute)
	if due := w.ProbesDue(w.now); len(due) != 0 {
		t.Errorf("kernels run next to a job: %+v", due)
	}
	w.node("n").Jobs = nil
	w.look(time.Second)
	w.look(beingWritten)
	d = w.due()
	w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 98, "b": 98}, "")
	wantText(t, w.report("n").Why, "kept for", "quality is 0.9")
	w.look(probeEvery)
	d = w.due()
	w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 98, "b": 98}, "")
	if left := w.Leaving("small"); len(left) != 0 {
		t.Errorf("%v leave", left)
	}
	w.look(time.Minute)
	if left := w.Leaving("small"); len(left) != 1 {
		t.Errorf("after ten times its spin-up %v leave", left)
	}
}

// A node on which others press too much for its job leaves when that has ended, whether it is measured
// before the job starts or after.
func TestANoisyNodeIsNotKept(t *testing.T) {
	t.Parallel()
	for when, noisyBefore := range map[string]bool{"before its job": true, "after its job": false} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := probing(t)
			tolerant := func(a *Ask) { a.Digits = provision.Digits{70, 10} } // 29 at most
			w.ask("job", tolerant)
			w.comes("n", "s", 12*time.Second)
			speed := map[bool]float64{true: 50, false: 100}
			d := w.due()
			w.Probed(w.now, d.Key, kernels, map[string]float64{"a": speed[noisyBefore], "b": 100}, "")
			if a := w.ask("job", tolerant); a.Node != "n" {
				t.Fatalf("%+v", a)
			}
			w.node("n").Jobs = append(w.node("n").Jobs, name("job"))
			w.look(time.Minute)
			if left := w.Leaving("small"); len(left) != 0 {
				t.Errorf("%v leave while their job runs", left)
			}
			w.node("n").Jobs = nil
			w.look(time.Second)
			w.look(beingWritten)
			if !noisyBefore {
				d = w.due()
				w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 50, "b": 100}, "")
				w.look(0)
			}
			if left := w.Leaving("small"); len(left) != 1 {
				t.Errorf("%v leave; %+v", left, w.report("n"))
			}
		})
	}
}

// What is not measured, or not in time, keeps no job waiting: it is stock behaviour then, and said.
func TestAMeasurementThatFails(t *testing.T) {
	t.Parallel()
	t.Run("fails", func(t *testing.T) {
		t.Parallel()
		w := probing(t)
		w.ask("job")
		w.comes("n", "s", 12*time.Second)
		d := w.due()
		w.Probed(w.now, d.Key, kernels, nil, "the node has no driver for it")
		if a := w.ask("job"); a.Node != "n" {
			t.Errorf("%+v", a)
		}
		wantText(t, w.report("n").Why, "not known", "no driver")
	})
	t.Run("takes too long", func(t *testing.T) {
		t.Parallel()
		w := probing(t)
		w.ask("job")
		w.comes("n", "s", 12*time.Second)
		d := w.due()
		w.look(d.Within)
		if a := w.ask("job"); a.Node != "n" {
			t.Errorf("%+v", a)
		}
		wantText(t, w.report("n").Why, "not known", "not measured within 12s")
		w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 100, "b": 100}, "")
		if n := w.report("n"); strings.Contains(n.Why, "not known") {
			t.Errorf("a late answer counts for nothing: %+v", n)
		}
	})
	t.Run("nobody measures", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.ask("job")
		w.comes("n", "s", 12*time.Second)
		if due := w.ProbesDue(w.now); len(due) != 0 || w.ask("job").Node != "n" {
			t.Errorf("%+v", due)
		}
	})
	t.Run("the first of its type", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *Config) { c.Probes = true })
		w.ask("job")
		w.comes("n", "s", 12*time.Second)
		d := w.due()
		if got := w.Probed(w.now, d.Key, kernels, map[string]float64{"a": 50, "b": 100}, ""); got != nil {
			t.Errorf("%v", got)
		}
		w.ask("job")
		wantText(t, w.report("n").Why, "none to compare it with")
	})
}

// What kernels do on quiet nodes is known to the next leader; a node that was being measured is
// measured again.
func TestASuccessorKnowsTheReference(t *testing.T) {
	t.Parallel()
	w := probing(t)
	w.ask("job")
	w.comes("n", "s", 12*time.Second)
	w.due()
	other := resumed(t, w, 5*time.Second)
	d := other.due()
	if got := other.Probed(other.now, d.Key, kernels, map[string]float64{"a": 50, "b": 100}, ""); !slices.Equal(got, provision.Digits{50, 0}) {
		t.Errorf("%v", got)
	}
}
