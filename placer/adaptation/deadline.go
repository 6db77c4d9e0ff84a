package adaptation

import (
	"cmp"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// ending is what is remembered of work that must finish: when it first ran under a
// target. A move does not put its deadline off.
type ending struct {
	within time.Duration
	begun  time.Time
}

// finish is when the work of a group must have ended; nil where it ends at no time, how
// much it is is not said, or it is judged by its rate.
func (c *Controller) finish(s subject, w *watched, judged []cluster.Observation) *adapt.Finish {
	spec := s.workload.Spec
	if spec.Target.Kind != performance.FinishWithin || spec.Probe == nil || !(spec.Probe.Work > 0) || c.cfg.EndsByPolicy && cmp.Or(s.workload.Spec.Policy, c.cfg.Policy) != endingPolicy {
		return nil
	}
	if w.ending.within != spec.Target.FinishWithin {
		w.ending = ending{within: spec.Target.FinishWithin}
	}
	done := 0.0
	for _, o := range judged {
		began := o.Started
		if began.IsZero() {
			began = c.live.since(o.Allocation)
		}
		if w.ending.begun.IsZero() || began.Before(w.ending.begun) {
			w.ending.begun = began
		}
		if o.Work == nil {
			done = math.NaN()
		} else {
			done += *o.Work
		}
	}
	started := w.ending.begun.Sub(c.live.started)
	return &adapt.Finish{Work: spec.Probe.Work, Done: done, Started: started, Deadline: started + w.ending.within}
}
