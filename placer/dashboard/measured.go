package dashboard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// measuredJob is a decision and what was measured of its workload.
type measuredJob struct {
	Decision cluster.Decision
	Expected wording.Expectation
	Now      wording.Measured
	History  wording.History
}

// readers is how many workloads' observations are read at once: a store
// answers one in milliseconds, mostly of waiting.
const readers = 8

// manyRefresh is how often a page reads itself again that reads the
// observations of every workload.
const manyRefresh = 30 * time.Second

// measureJobs reads the observations of every decision's workload. The result
// is in the order of the decisions.
func (s *server) measureJobs(ctx context.Context, decisions []cluster.Decision) ([]measuredJob, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs, errs := make([]measuredJob, len(decisions)), make([]error, readers)
	var group sync.WaitGroup
	for reader := range readers {
		group.Go(func() {
			for i := reader; i < len(decisions); i += readers {
				if jobs[i], errs[reader] = s.measureJob(ctx, decisions[i]); errs[reader] != nil {
					cancel() // the others need not go on
					return
				}
			}
		})
	}
	group.Wait()
	return jobs, firstCause(errs)
}

// firstCause prefers an error that is not the mere consequence of another.
func firstCause(errs []error) error {
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

func (s *server) measureJob(ctx context.Context, d cluster.Decision) (measuredJob, error) {
	observations, err := s.records.Observations(ctx, d.Workload)
	if err != nil {
		return measuredJob{}, err
	}
	return measuredJob{
		Decision: d, Expected: wording.Expect(d.Predicted, d.Target),
		Now: wording.Measure(d.Target, observations), History: wording.Over(d.Target, observations),
	}, nil
}

// refreshSeconds is how often a page reads itself again that is as costly as
// its number of workloads.
func (s *server) refreshSeconds(workloads int) int {
	if workloads <= pageRows {
		return 0 // as Options say
	}
	return int(max(s.options.Refresh, manyRefresh).Seconds())
}

// targetState is how a workload does against its target, in one word for
// filters and JSON.
type targetState string

// The states.
const (
	stateMet        targetState = "met"
	stateMissed     targetState = "missed"
	stateUnmeasured targetState = "not measured" // or not enough to tell
	stateWaiting    targetState = "waiting"      // for room
	stateNoTarget   targetState = "no target"    // best effort
)

// states lists them as the filter does.
var states = []option{
	{"", "all", false}, {string(stateMissed), "missed", false}, {string(stateMet), "met", false},
	{string(stateUnmeasured), "not measured", false}, {string(stateWaiting), "waiting for room", false}, {string(stateNoTarget), "no target", false},
}

func (j measuredJob) state() targetState {
	_, _, hasTarget := j.Decision.Target.Value()
	switch {
	case j.Now.Verdict == wording.Met:
		return stateMet
	case j.Now.Verdict == wording.Missed:
		return stateMissed
	case j.Decision.Outcome == cluster.Queued:
		return stateWaiting
	case !hasTarget:
		return stateNoTarget
	default:
		return stateUnmeasured
	}
}

func stateBadge(s targetState) badge {
	switch s {
	case stateMet:
		return badge{"✓ met", "good"}
	case stateMissed:
		return badge{"✗ missed", "bad"}
	case stateWaiting:
		return badge{"waiting for room", "warn"}
	default:
		return badge{string(s), "plain"}
	}
}
