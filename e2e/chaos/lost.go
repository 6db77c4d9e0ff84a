package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver/executor"
)

// What Nomad itself loses of tasks while its client agents are killed, with or without the
// placer, is counted and not judged: processes that it does not know of (lostIn), and
// allocations that it believes to run (stopForgotten).

// handleWithin is how long it may take until the handle of a task that was started is written
// down (chosen by us: with a load average of 50 it took two seconds).
const handleWithin = 5 * time.Second

// mainProcess is one that Nomad has started for a task.
type mainProcess struct {
	pid     int
	alloc   string
	nomads  bool // by a driver of Nomad's own
	started time.Time
}

// mainProcesses are those of pids whose parent is of no allocation.
func mainProcesses(pids []int) []mainProcess {
	allocOf := map[int]string{}
	for _, pid := range pids {
		if alloc := environment(pid, "NOMAD_ALLOC_ID"); alloc != "" {
			allocOf[pid] = alloc
		}
	}
	var out []mainProcess
	for pid, alloc := range allocOf {
		parent := parentOf(pid)
		if allocOf[parent] != "" {
			continue
		}
		started, err := executor.Proc{Root: "/proc"}.Started(pid, time.Now())
		if err != nil {
			continue // it has ended
		}
		argv := program(parent)
		nomads := len(argv) > 1 && filepath.Base(argv[0]) == "nomad" && argv[1] == "executor"
		out = append(out, mainProcess{pid, alloc, nomads, started})
	}
	return out
}

// span is a time that something lasted.
type span struct{ begin, end time.Time }

// breaks are what may keep a client's agent from writing down which tasks it runs.
type breaks struct {
	kills []time.Time // of the agent
	full  []span      // of its disk
}

// lostIn are the processes of Nomad's own drivers that it does not know of. Its client starts a
// task, then writes down its handle, and goes on where that fails (TaskRunner.runDriver). An agent
// that is killed between the two, or at any time after its disk was full, starts another when it
// comes back. So they were started shortly before such a break, or in it, and a kill of the
// client's agent has been followed by another for their allocation.
func lostIn(list []mainProcess, b breaks) []mainProcess {
	var out []mainProcess
	for _, p := range list {
		lost := func(kill time.Time) bool {
			return p.started.Before(kill) && b.unwritten(p.started, kill) && startedAgain(list, p, kill)
		}
		if p.nomads && slices.ContainsFunc(b.kills, lost) {
			out = append(out, p)
		}
	}
	return out
}

// unwritten reports whether the handle of a task may not have been written down before a kill.
func (b breaks) unwritten(started, kill time.Time) bool {
	written := started.Add(handleWithin)
	return written.After(kill) || slices.ContainsFunc(b.full, func(f span) bool {
		return started.Before(f.end) && written.After(f.begin)
	})
}

func startedAgain(list []mainProcess, p mainProcess, since time.Time) bool {
	return slices.ContainsFunc(list, func(other mainProcess) bool { return other.alloc == p.alloc && other.started.After(since) })
}

// noteBreak notes what has happened to a client.
func (s *site) noteBreak(client string, note func(b *breaks)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.breaks[client] == nil {
		s.breaks[client] = &breaks{}
	}
	note(s.breaks[client])
}

func (s *site) noteLost(client string, found []mainProcess) {
	s.noteBreak(client, func(b *breaks) {
		for _, p := range lostIn(found, *b) {
			s.lostPIDs[p.pid] = true
		}
	})
}

// lost is how many processes Nomad has lost.
func (s *site) lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lostPIDs)
}

// forgottenAfter is how long an allocation that is said to run may be without a process (chosen
// by us: Nomad lets the agents' task rest for a minute and a half after a third end).
const forgottenAfter = 100 * time.Second

// stopForgotten has the operator stop allocations that Nomad believes to run and does not: a
// client that is killed after it has given up an allocation, and before it has told a server,
// finds it "without any local state" when it is started again, and leaves it at that.
func (c *campaign) stopForgotten(ctx context.Context, list []*api.AllocationListStub, processes map[string]int) error {
	var forgotten []*api.AllocationListStub
	forgotten, c.without = forgottenIn(list, processes, c.without, time.Now())
	for _, a := range forgotten {
		c.say("Nomad believes that allocation %s of %s runs on %s, where it has no process: the operator stops it", a.ID[:8], a.JobID, a.NodeName)
		c.count(func(r *Result) { r.Actions["stopped an allocation that Nomad had forgotten"]++ })
		if _, err := c.site.nomad.Allocations().Stop(&api.Allocation{ID: a.ID}, (&api.QueryOptions{}).WithContext(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// forgottenIn lists the allocations that have been without a process for too long, and since
// when others have been without one.
func forgottenIn(list []*api.AllocationListStub, processes map[string]int, since map[string]time.Time, now time.Time) (forgotten []*api.AllocationListStub, without map[string]time.Time) {
	without = map[string]time.Time{}
	for _, a := range list {
		ours := strings.HasPrefix(a.JobID, ourJobs) // runs of the placer's driver: none of them may be left
		if ours || ended(a) || a.DesiredStatus != api.AllocDesiredStatusRun || processes[a.ID] > 0 {
			continue
		}
		first, seen := since[a.ID]
		switch {
		case !seen:
			without[a.ID] = now
		case now.Sub(first) < forgottenAfter:
			without[a.ID] = first
		default:
			forgotten = append(forgotten, a)
		}
	}
	return forgotten, without
}
