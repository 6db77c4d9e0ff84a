package journal

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// recordTimeout bounds the writing of records after a release.
const recordTimeout = 10 * time.Second

// Decisions are the newest decision of every workload: in the book, and in memory
// for the scores of residents.
type Decisions struct {
	book Book
	log  *slog.Logger

	mu     sync.Mutex
	newest map[cluster.WorkloadID]cluster.Decision
}

// NewDecisions knows nothing before Load.
func NewDecisions(book Book, log *slog.Logger) *Decisions {
	return &Decisions{book: book, log: log, newest: map[cluster.WorkloadID]cluster.Decision{}}
}

// Load reads what earlier leaders decided.
func (s *Decisions) Load(ctx context.Context) error {
	decisions, err := s.book.Decisions(ctx)
	if err != nil {
		return fmt.Errorf("engine: reading decisions: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range decisions {
		s.newest[d.Workload] = remembered(d)
	}
	return nil
}

// remembered is the part of a decision that is kept in memory; the whole record
// is in the store. With its lists a decision takes some 30 kB, and there is one
// per workload of the cluster.
func remembered(d cluster.Decision) cluster.Decision {
	d.Rejected = nil
	d.Candidates = slices.Clone(d.Candidates[:min(len(d.Candidates), d.Count)])
	return d
}

// Record stores decisions and remembers them as residents' scores. The job already
// runs, so a store that fails costs the explanation only.
func (s *Decisions) Record(ctx context.Context, decisions []cluster.Decision, steps []cluster.Step) {
	// Our own write makes the job look newer than the evaluation, which then
	// ends; its records must not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for _, d := range decisions {
		d.Steps = steps
		s.remember(d.Workload, remembered(d))
		if err := s.book.PutDecision(ctx, d); err != nil {
			s.log.Warn("storing a decision", "workload", d.Workload.String(), "error", err)
		}
	}
}

// Amend replaces a decision by one that differs in what was learnt since.
func (s *Decisions) Amend(ctx context.Context, d cluster.Decision) error {
	s.remember(d.Workload, d)
	return s.book.PutDecision(ctx, d)
}

func (s *Decisions) remember(id cluster.WorkloadID, d cluster.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest[id] = d
}

// Of is the newest decision on a workload, as far as it is kept in memory.
func (s *Decisions) Of(id cluster.WorkloadID) (cluster.Decision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.newest[id]
	return d, ok
}

// OfJob are the newest decisions on the workloads of a job.
func (s *Decisions) OfJob(job cluster.Job) map[cluster.WorkloadID]cluster.Decision {
	out := map[cluster.WorkloadID]cluster.Decision{}
	for _, w := range job.Workloads {
		if d, ok := s.Of(w.ID); ok {
			out[w.ID] = d
		}
	}
	return out
}

// ForgetAllBut removes the records of jobs that are gone.
func (s *Decisions) ForgetAllBut(ctx context.Context, present map[cluster.JobID]bool) {
	s.mu.Lock()
	gone := map[cluster.JobID][]cluster.WorkloadID{}
	for w := range s.newest {
		if !present[w.JobID()] {
			gone[w.JobID()] = append(gone[w.JobID()], w)
			delete(s.newest, w)
		}
	}
	s.mu.Unlock()
	for id, workloads := range gone {
		if err := s.book.Forget(ctx, id, workloads); err != nil && ctx.Err() == nil {
			s.log.Warn("forgetting a vanished job", "job", id.String(), "error", err)
		}
	}
}

// Snapshot is the cluster's with the scores of residents filled in from what was
// decided before.
func (s *Decisions) Snapshot(ctx context.Context, world cluster.State) (*cluster.Snapshot, error) {
	snapshot, err := world.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster: %w", err)
	}
	filled := *snapshot
	filled.Known = s.scores()
	return &filled, nil
}

// scores are those of every workload decided on so far.
func (s *Decisions) scores() map[cluster.WorkloadID]interference.Sensitivity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ScoresOf(maps.Values(s.newest))
}

// ScoresOf are the scores that decisions say of their workloads, where they say any.
func ScoresOf(decisions iter.Seq[cluster.Decision]) map[cluster.WorkloadID]interference.Sensitivity {
	known := map[cluster.WorkloadID]interference.Sensitivity{}
	for d := range decisions {
		if b := d.Bounds(); len(b.Tolerated)+len(b.Caused) > 0 {
			known[d.Workload] = b
		}
	}
	return known
}
