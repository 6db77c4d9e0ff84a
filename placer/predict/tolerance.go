package predict

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// ToleranceAtTarget is how much pressure a workload tolerates while it keeps the share of its
// performance in isolation that its target needs: per source the most under which the
// model expects that share, and never less than the tolerated score. Nil where that
// says nothing more, which is so for a target as high as the QoS bound. The bound stays
// as a margin: a target is kept where 5 % more than it is expected. What needs nothing,
// best effort, tolerates everything, measured or not.
//
// The bound of Delimitrou 2015, §3.3.2 is the same 5 % for every workload, because its
// workloads have no target; one that needs a fifth of its speed still meets its target after losing
// more than 5 %.
//
// required is the share of its performance in isolation; nil is unknown. latePercent is how many
// of its requests may be later than the bound of its target, 1 for a 99th percentile; 0: it has
// none. Where it has one, what is measured of it is requests within the bound: how many may be
// late decides then, and not the share that is required.
func ToleranceAtTarget(k *cluster.Knowledge, columns []interference.Source, slowdownPercent float64, required *float64, latePercent float64) interference.Scores {
	if latePercent > 0 {
		return inTime(k, columns, slowdownPercent, latePercent)
	}
	if required == nil {
		return nil
	}
	keeps, needs := 1-slowdownPercent/100, *required
	enough := needs / keeps
	if !(enough < keeps) {
		return nil
	}
	out := interference.Scores{}
	for _, s := range columns {
		if needs <= 0 {
			out[s] = interference.Estimate{Score: interference.Percent(100), Note: "best effort: it has no target that could be missed"}
			continue
		}
		e := k.Sensitivity.Tolerated[s]
		tolerated, ok := e.Score.Percent()
		if !ok {
			continue
		}
		c := curveOf(k, s, slowdownPercent/100)
		most := c.most(func(share Share) bool { return share.Value >= enough })
		if most <= tolerated {
			out[s] = e
			continue
		}
		out[s] = interference.Estimate{
			Score:  interference.Percent(most),
			Low:    interference.Percent(max(tolerated, c.most(func(share Share) bool { return share.Low >= enough }))),
			High:   interference.Percent(max(most, c.most(func(share Share) bool { return share.High >= enough }))),
			Origin: e.Origin,
			Note:   fmt.Sprintf("its target needs %.0f %% of its performance in isolation; it keeps the QoS bound of %g %% up to %.0f points", 100*needs, slowdownPercent, tolerated),
		}
	}
	return out
}

// inTime is how much pressure a workload tolerates while no more than a share of its requests are
// late; the tolerated score allows for the QoS bound instead.
func inTime(k *cluster.Knowledge, columns []interference.Source, slowdownPercent, latePercent float64) interference.Scores {
	out, enough := interference.Scores{}, 1-latePercent/100
	for _, s := range columns {
		e := k.Sensitivity.Tolerated[s]
		if _, ok := e.Score.Percent(); !ok {
			continue
		}
		c := curveOf(k, s, slowdownPercent/100)
		out[s] = interference.Estimate{
			Score:  interference.Percent(c.most(func(share Share) bool { return share.Value >= enough })),
			Low:    interference.Percent(c.most(func(share Share) bool { return share.Low >= enough })),
			High:   interference.Percent(c.most(func(share Share) bool { return share.High >= enough })),
			Origin: e.Origin,
			Note:   fmt.Sprintf("%g %% of its requests may be later than its bound; the score allows for %g %%", latePercent, slowdownPercent),
		}
	}
	return out
}

// most is the highest pressure up to which the share suffices, in whole points;
// shares fall with pressure.
func (c curve) most(suffices func(Share) bool) float64 {
	if suffices(c.share(100)) {
		return 100
	}
	low, high := 0.0, 100.0
	for high-low > 0.001 {
		if middle := (low + high) / 2; suffices(c.share(middle)) {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Floor(high) // low is a hair below
}
