package main

import (
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
)

// Nomad's client starts a task and then writes down its handle (TaskRunner.runDriver). An agent
// that is killed between the two knows nothing of the process when it is started again, and
// starts another, with or without the placer. Such a process of one of Nomad's own drivers is
// counted, and not judged.

// handleWithin is how long before a kill a task may have been started whose handle is not
// written down (chosen by us: with a load average of 50 one took two seconds).
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
		started, err := executor.Proc{Root: "/proc"}.Started(pid)
		if err != nil {
			continue // it has ended
		}
		argv := program(parent)
		nomads := len(argv) > 1 && filepath.Base(argv[0]) == "nomad" && argv[1] == "executor"
		out = append(out, mainProcess{pid, alloc, nomads, started})
	}
	return out
}

// lostIn are the processes that Nomad does not know of: they were started shortly before a
// kill of their client's agent, which has started another for their allocation since.
func lostIn(list []mainProcess, kills []time.Time) []mainProcess {
	var out []mainProcess
	for _, p := range list {
		for _, kill := range kills {
			if p.nomads && p.started.Before(kill) && p.started.Add(handleWithin).After(kill) && startedAgain(list, p, kill) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

func startedAgain(list []mainProcess, p mainProcess, since time.Time) bool {
	for _, other := range list {
		if other.alloc == p.alloc && other.started.After(since) {
			return true
		}
	}
	return false
}

func (s *site) noteKill(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills[client] = append(s.kills[client], time.Now())
}

func (s *site) noteLost(client string, found []mainProcess) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range lostIn(found, s.kills[client]) {
		s.unknown[p.pid] = true
	}
}

// lost is how many processes Nomad has lost.
func (s *site) lost() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unknown)
}
