package tracker

import (
	"fmt"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// Report is the account for people and for autoscalers.
func (t *Tracker) Report(now time.Time) provision.Report {
	out := provision.Report{
		AtMillis: now.UnixMilli(), Strategy: string(t.cfg.Settings.Strategy), Mapping: t.cfg.Settings.Mapping.Name, Retention: t.cfg.Settings.Retention,
		Types: []provision.TypeReport{}, Nodes: []provision.NodeReport{},
		PerHour: t.presentPerHour(), Today: t.spent.today(now), Days: slices.Clone(t.spent.days),
	}
	for _, typ := range t.cfg.Types {
		out.Types = append(out.Types, provision.TypeReport{
			Name: typ.Name, NodeClass: typ.NodeClass, Wanted: t.Wanted(typ.Name), Present: t.Present(typ.Name),
			Family: typ.Family, Cores: typ.Cores, MemoryMB: typ.MemoryMB, PricePerHour: typ.PricePerHour, SpinUpMillis: t.desk.SpinUp(typ.Name).Milliseconds(),
		})
	}
	for _, s := range t.sorted() {
		state, why := t.stateOf(now, s)
		out.Nodes = append(out.Nodes, provision.NodeReport{ID: string(s.node), Name: s.name, Type: s.typ, State: state, Why: why})
	}
	return out
}

func (t *Tracker) stateOf(now time.Time, s *slot) (provision.NodeState, string) {
	switch {
	case s.leaving != "":
		return provision.Leaving, s.leaving
	case !s.ready:
		return provision.Starting, fmt.Sprintf("It was ordered %s ago for %s; nodes of its type take %s on average, and the order is void after %s.",
			now.Sub(s.ordered).Round(time.Second), wording.Count(len(s.jobs), "job"), t.desk.SpinUp(s.typ).Round(time.Second), t.lateAfter(s.typ).Round(time.Second))
	case !s.lost.IsZero():
		return provision.Serving, fmt.Sprintf("Nomad has not heard of it for %s.", now.Sub(s.lost).Round(time.Second))
	case !s.measured(now):
		return provision.Probing, fmt.Sprintf("Its quality is being measured; it takes jobs in %s at the latest.", s.probe.left(now).Round(time.Second))
	case len(s.jobs) > 0:
		why := fmt.Sprintf("It has %s.", wording.Count(len(s.jobs), "job"))
		if !t.desk.Behaved(s.key) {
			why = fmt.Sprintf("It has %s, was not good enough for all of them, and leaves when they have ended.", wording.Count(len(s.jobs), "job"))
		}
		return provision.Serving, why + s.probe.says()
	}
	until, _ := t.desk.KeptUntil(s.key)
	return provision.Vacant, fmt.Sprintf("It has no job, and is kept for %s more.", max(0, until.Sub(now)).Round(time.Second)) + s.probe.says()
}

// Capacity of rented nodes now, in cores. What is returned is in it for as long as it is there.
func (t *Tracker) Capacity(now time.Time) provision.Capacity {
	out := provision.Capacity{At: now}
	for _, s := range t.sorted() {
		cores := float64(t.kinds[s.typ].Cores)
		switch state, _ := t.stateOf(now, s); {
		case state == provision.Starting, state == provision.Probing, state == provision.Serving && !s.hasJobs():
			out.Held += cores
		case state == provision.Serving:
			out.Serving += cores
		default:
			out.Retained += cores
		}
	}
	return out
}

// hasJobs reports whether a job is there, and not only to come.
func (s *slot) hasJobs() bool {
	for _, job := range s.jobs {
		if job.seen {
			return true
		}
	}
	return false
}
