package tracker

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// Bounds of a measurement of a node, chosen by us.
const (
	// It may take as long as a node of its type takes to start, and this at least: a Nomad client
	// needs some seconds to start the kernels.
	probeLeast = 10 * time.Second
	// An idle node is looked at again: what others do there changes within minutes.
	probeEvery = time.Minute
)

// probe is what is known of the quality of a slot's node.
type probe struct {
	from    time.Time        // since when it takes no job; zero: it does
	within  time.Duration    // for how long, if it is not measured before
	running bool             // it was handed out by ProbesDue and not answered
	due     bool             // its jobs have ended since it was measured
	last    time.Time        // when it was measured; zero: never
	had     provision.Digits // what the job demanded that it had last
	quality string           // as a sentence; empty: nothing was measured
	problem string           // why the newest measurement said nothing; empty: it did
	kernels int              // that were measured, all times together
}

// measured reports whether jobs may run there: it was measured, or that took too long, which also a
// clock that was set back counts as.
func (s *slot) measured(now time.Time) bool {
	return s.probe.from.IsZero() || now.Sub(s.probe.from) >= s.probe.within || now.Before(s.probe.from)
}

// left is the time until the node takes jobs, measured or not.
func (p probe) left(now time.Time) time.Duration { return p.within - now.Sub(p.from) }

// says is a sentence for people, with a space before it.
func (p probe) says() string {
	switch {
	case p.problem != "":
		return " Its quality is not known: " + p.problem + "."
	case p.quality != "":
		return " " + p.quality
	}
	return ""
}

// awaitProbe keeps a slot's node from jobs for a while.
func (t *Tracker) awaitProbe(now time.Time, s *slot) {
	if t.cfg.Probes {
		s.probe.due = true
		t.close(now, s)
	}
}

func (t *Tracker) close(now time.Time, s *slot) {
	s.probe.from, s.probe.within = now, t.probeWithin(s.typ)
}

func (t *Tracker) probeWithin(typ string) time.Duration { return max(probeLeast, t.desk.SpinUp(typ)) }

// ProbeDue is a node that is to be measured.
type ProbeDue struct {
	Key    string
	Node   cluster.NodeID
	Within time.Duration
	// Kernels were measured there before, all times together. Where there is no time for all, the first
	// look at each node is by the same ones, so that nodes can be compared; later ones go on with those
	// that come next.
	Kernels int
}

// ProbesDue are the nodes that are to be measured now, each once until Probed. One that has jobs is
// not: kernels would be in their way, and would see them and not others.
func (t *Tracker) ProbesDue(now time.Time) []ProbeDue {
	if !t.cfg.Probes {
		return nil
	}
	var out []ProbeDue
	for _, s := range t.sorted() {
		due := s.probe.due || now.Sub(s.probe.last) >= probeEvery
		if !due || s.probe.running || !s.ready || !s.lost.IsZero() || s.leaving != "" || s.hasJobs() || s.measured(now) && len(s.jobs) > 0 {
			continue
		}
		if s.measured(now) {
			t.close(now, s)
		}
		s.probe.running, s.probe.due = true, false
		out = append(out, ProbeDue{s.key, s.node, s.probe.left(now), s.probe.kernels})
	}
	return out
}

// Probed tells what a measurement of a node has found: how fast kernels were, by resource, or why
// nothing was found. It returns what others press there; nil: that is not known.
func (t *Tracker) Probed(now time.Time, key string, resources []string, speeds map[string]float64, problem string) provision.Digits {
	s := t.slots[key]
	if s == nil || !s.probe.running {
		return nil // it has left, or somebody else leads meanwhile
	}
	s.probe.running, s.probe.last, s.probe.problem = false, now, problem
	s.probe.from = time.Time{}
	s.probe.kernels += len(speeds)
	if problem != "" {
		t.note(now, fmt.Sprintf("the quality of node %s of type %s is not known: %s", s.name, s.typ, problem))
		return nil
	}
	r := t.references[s.typ]
	r.Add(string(s.node), speeds)
	pressure := r.Pressure(resources, speeds)
	if pressure == nil {
		s.probe.quality = "It was measured, and no other of its type by the same kernels yet: there is none to compare it with."
		return nil
	}
	s.probe.quality = fmt.Sprintf("Its quality is %.2f, measured at %s.", 1-pressure.Number(), now.UTC().Format(time.TimeOnly))
	t.desk.Looked(now, key, pressure)
	if len(s.probe.had) > 0 && !t.desk.Good(pressure, s.probe.had) && t.desk.Behaved(key) {
		t.desk.Failed(key)
		t.note(now, fmt.Sprintf("node %s of type %s is returned: it was not good enough for the job that it had", s.name, s.typ))
	}
	return pressure
}

// endProbes lets nodes whose measurement takes too long have jobs all the same.
func (t *Tracker) endProbes(now time.Time) {
	for _, s := range t.sorted() {
		if s.probe.from.IsZero() || !s.measured(now) {
			continue
		}
		s.probe.from = time.Time{}
		s.probe.problem = fmt.Sprintf("it was not measured within %s", s.probe.within.Round(time.Second))
		t.note(now, fmt.Sprintf("node %s of type %s takes jobs, and its quality is not known: %s", s.name, s.typ, s.probe.problem))
	}
}
