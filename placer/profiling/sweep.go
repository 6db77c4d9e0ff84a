package profiling

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Sweep removes profiling runs that no evaluation owns.
func (l *Lab) Sweep(ctx context.Context) error {
	jobs, err := l.cfg.World.Jobs(ctx)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	l.mu.Lock()
	for id := range l.runs {
		keep[id] = true
	}
	l.mu.Unlock()
	s, err := l.cfg.World.Snapshot(ctx)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if job.Held && !job.Stopped {
			for _, id := range possibleRuns(job, s) {
				keep[id] = true
			}
		}
	}
	return l.cfg.World.Sweep(ctx, keep)
}

// possibleRuns are the ids of every run an evaluation of the job may own, so
// that a new leader does not sweep what it is about to adopt.
func possibleRuns(job cluster.Job, s *cluster.Snapshot) []string {
	configurations := configurationsOf(s)
	var ids []string
	for _, w := range job.Workloads {
		ids = append(ids, mainID(w))
		for _, c := range configurations {
			ids = append(ids, runID(w.ProfileKey, "alone/"+c))
		}
	}
	return ids
}
