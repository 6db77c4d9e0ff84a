package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// What a user asked last of a job.
type wish string

const (
	runs    wish = "runs" // or, for batch work, has run
	stopped wish = "is stopped"
	purged  wish = "is purged"
)

// entry is a job of the ledger.
type entry struct {
	Spec    spec
	Wish    wish
	Kids    []dispatched
	History []event

	sent *api.Job // the newest version, as its user wrote it
	old  []version
}

// version is one that may be reverted to.
type version struct {
	spec spec
	sent *api.Job
}

// dispatched is a child that a user asked for; it is known by its token.
type dispatched struct{ Token, ID string }

// event is something that a user did, or was answered.
type event struct {
	At   time.Time
	What string
}

func (e *entry) note(at time.Time, format string, args ...any) {
	e.History = append(e.History, event{at, fmt.Sprintf(format, args...)})
}

// ledger is every job that was submitted. A job has one user, so what was asked last is
// never in doubt.
type ledger struct {
	mu      sync.Mutex
	entries map[string]*entry
}

func newLedger() *ledger { return &ledger{entries: map[string]*entry{}} }

// change notes something of a job, which is entered with it.
func (l *ledger) change(id string, f func(*entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[id]
	if e == nil {
		e = &entry{}
		l.entries[id] = e
	}
	f(e)
}

// get returns a copy of an entry.
func (l *ledger) get(id string) (entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.entries[id]
	if !ok {
		return entry{}, false
	}
	c := *e
	c.History, c.Kids, c.old = slices.Clone(e.History), slices.Clone(e.Kids), slices.Clone(e.old)
	return c, true
}

// ids lists the jobs, in order.
func (l *ledger) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, 0, len(l.entries))
	for id := range l.entries {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// hold is how long a job may be held: its own time, or that of the job it was dispatched from.
func (l *ledger) hold(id, parent string) (time.Duration, bool) {
	for _, name := range []string{id, parent} {
		if e, ok := l.get(name); ok {
			return e.Spec.Hold, true
		}
	}
	return 0, false
}

// seen is what Nomad shows of a job at the end.
type seen struct {
	job    *api.Job // nil: there is none
	allocs []*api.AllocationListStub
	kids   []*api.Job
	// processes are those of the main tasks, by allocation: started by Nomad, not by
	// another process of the task.
	processes map[string]int
}

// faults says in sentences how a job is not as its user asked; none where it is.
func (e entry) faults(s seen) []string {
	switch {
	case e.Wish == purged && s.job == nil:
		return e.leftRunning(s)
	case e.Wish == purged:
		return []string{"it was purged and is there"}
	case s.job == nil:
		return []string{"it is lost: Nomad has no such job"}
	case e.Wish == stopped:
		var out []string
		if !*s.job.Stop {
			out = append(out, "it was stopped and is not")
		}
		return append(out, e.leftRunning(s)...)
	}
	out := e.wrongVersion(s.job)
	if e.Spec.Kind == parameterized {
		return append(out, e.wrongKids(s)...)
	}
	return append(out, e.wrongAllocations(s)...)
}

func (e entry) leftRunning(s seen) []string {
	var out []string
	for _, a := range s.allocs {
		if !ended(a) {
			out = append(out, fmt.Sprintf("allocation %s is %s", a.ID[:8], a.ClientStatus))
		}
	}
	return out
}

// wrongVersion compares the job with what its user wrote.
func (e entry) wrongVersion(job *api.Job) []string {
	var out []string
	if *job.Stop {
		out = append(out, "it is stopped and nobody asked for that")
	}
	if *job.NodePool == nomadapi.DefaultHoldPool {
		out = append(out, "it is held")
	}
	want, got := asWritten(e.sent), asWritten(job)
	for part, text := range want {
		if got[part] != text {
			out = append(out, fmt.Sprintf("its %s are not its user's: %s instead of %s", part, got[part], text))
		}
	}
	if mark := markOf(job); mark != e.Spec.Mark {
		out = append(out, fmt.Sprintf("it is version %d of its user's, and %d was asked for last", mark, e.Spec.Mark))
	}
	slices.Sort(out)
	return out
}

// asWritten is the part of a job that is its user's alone, as texts by name.
func asWritten(job *api.Job) map[string]string {
	out := map[string]string{"type": *job.Type, "priority": strconv.Itoa(*job.Priority)}
	for _, g := range job.TaskGroups {
		out["groups "+*g.Name] = strconv.Itoa(*g.Count)
		for _, t := range g.Tasks {
			for part, v := range map[string]any{"driver": t.Driver, "configuration": t.Config, "environment": t.Env, "meta": t.Meta} {
				text, err := json.Marshal(v)
				if err != nil {
					text = []byte(err.Error()) // maps of JSON have none
				}
				out[part+" of "+*g.Name+"/"+t.Name] = string(text)
			}
		}
	}
	return out
}

// markOf is the version of its user's that a job is; -1 where it says none.
func markOf(job *api.Job) int {
	for _, g := range job.TaskGroups {
		for _, t := range g.Tasks {
			if mark, err := strconv.Atoi(t.Meta["mark"]); err == nil {
				return mark
			}
		}
	}
	return -1
}

// wrongAllocations: a service runs as often as it says, all of the newest version, each
// once on the machine; batch work has run.
func (e entry) wrongAllocations(s seen) []string {
	var out []string
	live, complete := 0, 0
	for _, a := range s.allocs {
		switch {
		case ended(a):
			if a.ClientStatus == api.AllocClientStatusComplete {
				complete++
			}
			continue
		case a.DesiredStatus != api.AllocDesiredStatusRun || a.ClientStatus != api.AllocClientStatusRunning:
			out = append(out, fmt.Sprintf("allocation %s is to %s and is %s", a.ID[:8], a.DesiredStatus, a.ClientStatus))
			continue
		}
		live++
		if a.JobVersion != *s.job.Version {
			out = append(out, fmt.Sprintf("allocation %s is of version %d, the job of %d", a.ID[:8], a.JobVersion, *s.job.Version))
		}
		if n := s.processes[a.ID]; n != 1 {
			out = append(out, fmt.Sprintf("allocation %s has %d processes of its task", a.ID[:8], n))
		}
	}
	if e.Spec.jobType() == batch {
		if live > 0 || complete < e.Spec.allocations() {
			out = append(out, fmt.Sprintf("%d of %d have completed, %d run", complete, e.Spec.allocations(), live))
		}
		return out
	}
	if live != e.Spec.allocations() {
		out = append(out, fmt.Sprintf("%d allocations run, and its user wants %d", live, e.Spec.allocations()))
	}
	return out
}

// ended: neither runs nor will.
func ended(a *api.AllocationListStub) bool {
	switch a.ClientStatus {
	case api.AllocClientStatusComplete, api.AllocClientStatusFailed, api.AllocClientStatusLost:
		return true
	}
	return false
}

// wrongKids: each dispatch has one child, which has ended. One that was held is stopped, and
// has a child in its place.
func (e entry) wrongKids(s seen) []string {
	var out []string
	byID, inPlaceOf := map[string]*api.Job{}, map[string]*api.Job{}
	for _, kid := range s.kids {
		byID[*kid.ID] = kid
		if kid.DispatchIdempotencyToken != nil {
			inPlaceOf[*kid.DispatchIdempotencyToken] = kid
		}
	}
	for _, d := range e.Kids {
		kid := byID[d.ID]
		if kid != nil && *kid.Stop && *kid.NodePool == nomadapi.DefaultHoldPool {
			delete(byID, d.ID)
			kid = inPlaceOf[nomadapi.RedispatchToken(d.ID)]
		}
		if kid == nil {
			out = append(out, fmt.Sprintf("dispatch %s has no child %s, and none in its place", d.Token, d.ID))
			continue
		}
		if order := kid.Meta["order"]; order != d.Token {
			out = append(out, fmt.Sprintf("child %s is of dispatch %s, not of %s", *kid.ID, order, d.Token))
		}
		if *kid.Status != "dead" || *kid.Stop {
			out = append(out, fmt.Sprintf("child %s is %s in pool %s", *kid.ID, *kid.Status, *kid.NodePool))
		}
		delete(byID, *kid.ID)
	}
	for id := range byID {
		out = append(out, "nobody dispatched "+id)
	}
	return out
}
