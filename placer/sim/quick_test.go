package sim_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// assumes is an estimator that can do without a profile.
type assumes struct{ knows }

func (assumes) Assume(*sim.Job, int) (sim.Estimate, error) { return sim.Estimate{}, nil }

func TestAJobStartsWithoutAProfileWhereTheClusterIsQuiet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		below  float64
		target float64
		other  float64 // target of a job that came before
		waits  time.Duration
	}{
		"each waits":                  {0, 0, 0, seconds(60)},
		"the cluster is quiet":        {0.6, 0, 0, 0},
		"its target may be missed":    {0.6, 1, 0, seconds(60)},
		"another's may be missed":     {0.6, 0, 1, seconds(60)},
		"more than that is asked for": {0.1, 0, 0, seconds(60)},
	} {
		before, j := job(0, 0, seconds(200)), job(1, 0, seconds(200))
		before.Target, j.Target = c.other, c.target
		r := run(t, sim.Config{Board: nodes(2, 4), Estimator: assumes{}, ProfileTime: seconds(60), StartBelow: c.below}, before, j)
		if got := r.Records[1]; got.Started != c.waits || got.Outcome != sim.Done {
			t.Errorf("%s: started after %s: %+v", name, got.Started, got)
		}
	}
}

// A job of an application that was profiled before is known, where applications recur.
func TestAnApplicationIsProfiledOnce(t *testing.T) {
	t.Parallel()
	for _, recurring := range []bool{false, true} {
		first, again := job(0, 0, seconds(10)), job(1, seconds(100), seconds(10))
		again.App = first.App
		other := job(2, seconds(100), seconds(10))
		r := run(t, sim.Config{Estimator: knows{}, ProfileTime: seconds(60), Recurring: recurring}, first, again, other)
		want := seconds(160)
		if recurring {
			want = seconds(100)
		}
		near(t, "the first", r.Records[0].Ready, seconds(60))
		near(t, "the same application", r.Records[1].Ready, want)
		near(t, "another application", r.Records[2].Ready, seconds(160))
	}
}

func TestEveryDecisionTakesTheSame(t *testing.T) {
	t.Parallel()
	r := run(t, sim.Config{Selector: timedFit{}, DecisionTime: seconds(2)}, job(0, 0, seconds(10)))
	near(t, "started", r.Records[0].Started, seconds(2))
}
