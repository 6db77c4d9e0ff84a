package production

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Fold is what is known of a workload, with what production says of it. It does not write
// to what k holds. slowdownPercent is the QoS bound of its scores.
func Fold(k cluster.Knowledge, slowdownPercent float64, said *profile.Production) cluster.Knowledge {
	if said == nil {
		return k
	}
	before := k
	k.Ramp = slices.Clone(k.Ramp)
	k.Sensitivity.Tolerated = folded(k.Sensitivity.Tolerated, said.Tolerated, func(source interference.Source, e interference.Estimate, l profile.Likelihood) (was, is belief) {
		r := responseOf(prior(e, distrusted(said)))
		after := r.given(l)
		was, is = r.tolerated(), after.tolerated()
		if changed(r[:], after[:]) {
			// The ramp is that of the profile: it would hide what was learnt since.
			k.Ramp = slices.DeleteFunc(k.Ramp, func(r profile.RampPoint) bool { return r.Source == source })
			k.Ramp = append(k.Ramp, after.ramp(&before, source, slowdownPercent)...)
		}
		return was, is
	})
	k.Sensitivity.Caused = folded(k.Sensitivity.Caused, said.Caused, func(_ interference.Source, e interference.Estimate, l profile.Likelihood) (was, is belief) {
		was = prior(e, distrusted(said))
		return was, was.given(l)
	})
	return k
}

// leastDistance is the total variation from which on a belief has changed.
const leastDistance = 0.02

func changed(a, b []float64) bool {
	sum := 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum/2 >= leastDistance
}

// folded are scores with those that production has changed; given is the belief of one
// before and after.
func folded(scores interference.Scores, said profile.Likelihoods, given func(interference.Source, interference.Estimate, profile.Likelihood) (was, is belief)) interference.Scores {
	if len(said) == 0 {
		return scores
	}
	out := make(interference.Scores, len(scores))
	for source, e := range scores {
		out[source] = e
		l, ok := said[source]
		if !ok {
			continue
		}
		if was, is := given(source, e, l); changed(was[:], is[:]) {
			out[source] = estimateOf(e, was, is, l)
		}
	}
	return out
}

// rampStep is between the points of a ramp (that of a sweep).
const rampStep = 10

// ramp is the response by pressure: the median share, with the interval that holds 95 %.
func (r response) ramp(k *cluster.Knowledge, source interference.Source, slowdownPercent float64) []profile.RampPoint {
	var out []profile.RampPoint
	for x := rampStep; x <= 100; x += rampStep {
		var of [bins]float64
		for i, p := range r {
			share := predict.ShareIf(k, source, float64(i/responses)*step, predict.SharesAtFullPressure()[i%responses], float64(x), slowdownPercent)
			of[binOf(share)] += p
		}
		value, low, high := shareQuantile(&of, 0.5), shareQuantile(&of, 0.025), shareQuantile(&of, 0.975)
		out = append(out, profile.RampPoint{
			Source: source, IntensityPercent: float64(x), AchievedPercent: 100, Placement: "production",
			WorkloadRatio: &value, WorkloadLow: &low, WorkloadHigh: &high,
		})
	}
	return out
}

// estimateOf a belief. It counts as measured where production has narrowed what was believed.
// That is wider than the interval on record, which the note compares with: estimates are
// doubted.
func estimateOf(e interference.Estimate, before, after belief, l profile.Likelihood) interference.Estimate {
	was, believed, is := e.Within(), before.within(), after.within()
	if _, known := was.Width(); !known {
		was = believed
	}
	out := interference.Estimate{
		Score: interference.Percent(after.quantile(0.5)), Low: is.Low, High: is.High, Origin: e.Origin, Before: e.Before,
		WithoutProduction: interference.Prior{Score: e.Score, Range: was},
	}
	width, _ := believed.Width()
	if narrower, _ := is.Width(); narrower < width {
		out.Origin = interference.Measured
	}
	note := fmt.Sprintf("in production: from %.0f–%.0f to %.0f–%.0f points", was.Low.Or(0), was.High.Or(100), is.Low.Or(0), is.High.Or(100))
	if l.Experiments > 0 {
		note += fmt.Sprintf(", by what counts as %.1f independent experiments", l.Experiments)
	}
	out.Note = note
	if e.Note != "" {
		out.Note = e.Note + "; " + note
	}
	return out
}

// rowWidthPoints is the widest interval of a score that others learn from.
const rowWidthPoints = 40.0

// Row is a profile as a row of the training set, with what production says: only scores that
// this workload's own measurements bear on, for others' predictions must not be learnt from.
func Row(p profile.Profile, said *profile.Production) profile.Profile {
	if said == nil {
		return p
	}
	p.Key, p.Workload = cmp.Or(p.Key, said.Key), cmp.Or(p.Workload, said.Workload)
	p.Sensitivity.Tolerated = rowOf(p.Sensitivity.Tolerated, said.Tolerated, func(e interference.Estimate, l profile.Likelihood) (was, is belief) {
		r := responseOf(prior(e, distrusted(said)))
		return r.tolerated(), r.given(l).tolerated()
	})
	p.Sensitivity.Caused = rowOf(p.Sensitivity.Caused, said.Caused, func(e interference.Estimate, l profile.Likelihood) (was, is belief) {
		was = prior(e, distrusted(said))
		return was, was.given(l)
	})
	return p
}

func rowOf(scores interference.Scores, said profile.Likelihoods, given func(interference.Estimate, profile.Likelihood) (was, is belief)) interference.Scores {
	if len(said) == 0 {
		return scores
	}
	out := make(interference.Scores, len(scores))
	for source, e := range scores {
		out[source] = e
	}
	for source, l := range said {
		e := scores[source]
		if e.IsMeasured() {
			e.Origin = interference.Measured // a profile need not say so
		}
		was, is := given(e, l)
		if low, high := is.interval(); changed(was[:], is[:]) && high-low <= rowWidthPoints {
			out[source] = estimateOf(e, was, is, l)
			if out[source].Origin != interference.Measured {
				delete(out, source)
			}
		}
	}
	return out
}
