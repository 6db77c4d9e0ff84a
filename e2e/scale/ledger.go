package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/nomad/api"
)

// ledger is what users asked for last, by job.
type ledger struct {
	mu   sync.Mutex
	jobs map[string]request
}

func newLedger() *ledger { return &ledger{jobs: map[string]request{}} }

// note is called once Nomad has taken a request.
func (l *ledger) note(q request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jobs[q.id] = q
}

// of are the requests of the jobs of a side so far, in the order of their names.
func (l *ledger) of(s side) []request {
	var out []request
	for id, q := range l.all() {
		if strings.Contains(id, "-"+string(s)+"-") {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b request) int { return strings.Compare(a.id, b.id) })
	return out
}

func (l *ledger) all() map[string]request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.jobs)
}

// seen is what Nomad and the light nodes say at one moment.
type seen struct {
	live     []*api.AllocationListStub // by Nomad: running or about to
	held     map[string]bool           // jobs in the hold pool
	versions map[string]version        // of the jobs that were updated
	running  map[string]place          // by the light nodes: allocations
	// ended are batch jobs with an allocation that Nomad ended as a drain was over.
	ended map[string]bool
	gone  map[string]bool // nodes that failed
}

// version is the newest one of a job.
type version struct {
	number uint64
	mark   int
}

// place is where an allocation is.
type place struct{ job, node string }

// verdict is what a look found.
type verdict struct {
	faults      map[string]string // by job
	allocations int               // that run
	ended       int               // batch jobs that Nomad ended with a drain
	missed      map[string]string // jobs whose allocation waits for a node that failed, with the node
}

// judge holds what is seen against what was asked: nothing is lost, doubled, held or of
// an older version, and what runs is what Nomad says.
func judge(jobs map[string]request, s seen) verdict {
	v := verdict{faults: map[string]string{}, missed: map[string]string{}}
	fault := func(job, format string, args ...any) {
		v.faults[job] = strings.TrimPrefix(v.faults[job]+"; "+fmt.Sprintf(format, args...), "; ")
	}
	count, known := map[string]int{}, map[string]bool{}
	for _, a := range s.live {
		want, ours := jobs[a.JobID]
		if !ours {
			continue
		}
		known[a.ID] = true
		where, runs := s.running[a.ID]
		switch newest, updated := s.versions[a.JobID]; {
		case a.DesiredStatus != api.AllocDesiredStatusRun:
			fault(a.JobID, "allocation %s is to %s and runs", a.ID, a.DesiredStatus)
			continue
		case a.ClientStatus != api.AllocClientStatusRunning:
			fault(a.JobID, "allocation %s is %s", a.ID, a.ClientStatus)
			if s.gone[a.NodeID] {
				v.missed[a.JobID] = a.NodeID
			}
		case s.gone[a.NodeID]:
			fault(a.JobID, "allocation %s runs on a node that failed, Nomad says", a.ID)
		case !runs:
			fault(a.JobID, "allocation %s runs, Nomad says, and its node has nothing of it", a.ID)
		case where.node != a.NodeID:
			fault(a.JobID, "allocation %s runs on %s, and Nomad says %s", a.ID, where.node, a.NodeID)
		case updated && a.JobVersion != newest.number:
			fault(a.JobID, "allocation %s is of version %d of %d", a.ID, a.JobVersion, newest.number)
		case updated && newest.mark != want.mark:
			fault(a.JobID, "its newest version has mark %d, and its user wrote %d", newest.mark, want.mark)
		}
		count[a.JobID]++
	}
	for id, want := range jobs {
		switch n := count[id]; {
		case s.held[id]:
			fault(id, "it is in the hold pool")
		case n < want.allocations() && want.jobType == api.JobTypeBatch && s.ended[id]:
			v.ended++
		case n != want.allocations():
			fault(id, "%d of it run, and %d are wanted", n, want.allocations())
		}
		v.allocations += count[id]
	}
	for _, id := range slices.Sorted(maps.Keys(s.running)) {
		at := s.running[id]
		if _, ours := jobs[at.job]; ours && !known[id] && !s.gone[at.node] {
			fault(at.job, "allocation %s runs on its node, and Nomad says it has ended", id)
		}
	}
	return v
}
