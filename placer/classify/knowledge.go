package classify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Knowledge combines a workload's own profile (nil: never profiled) with what
// the models say of the rest: scores for every source in columns, speed for
// every configuration for which it can be predicted. See the package comment for what is
// measured, predicted and assumed. It never fails: a model that does is a
// warning and the stated assumption.
func Knowledge(p *profile.Profile, m Models, columns []interference.Source, configurations []string) cluster.Knowledge {
	if p == nil {
		p = &profile.Profile{}
	}
	b := builder{profile: p, models: m, columns: columns}
	var k cluster.Knowledge
	k.Sensitivity.Tolerated = b.scores(curve.Workload, m.Tolerated, cluster.AssumedToleratedPercent)
	k.Sensitivity.Caused = b.scores(curve.Kernel, m.Caused, cluster.AssumedCausedPercent)
	k.Ramp = b.ramp
	b.boundByTime(k.Sensitivity.Caused)
	k.Sensitivity.DemandFactor = demandFactor(p)
	k.Sensitivity.RunMS = p.RunIsolatedMS
	k.Speed, k.SpeedOrigin = b.speeds(configurations)
	k.ScaleUp, k.ReferenceCores = b.scaleUp()
	k.MemoryPeakMB = p.MemoryPeakMB
	k.DutyCycle = dutyCycle(p)
	if len(columns) > 0 {
		k.Confidence = float64(b.measured) / float64(2*len(columns))
	}
	k.Warnings = append(slices.Clone(p.Warnings), b.warnings...)
	return k
}

type builder struct {
	profile  *profile.Profile
	models   Models
	columns  []interference.Source
	ramp     []profile.RampPoint // the response curves, of what was measured and what is known of others
	measured int
	warnings []string
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// kinds are the words for the scores of a side.
var kinds = [...]string{curve.Workload: "tolerated", curve.Kernel: "caused"}

// scores completes one kind of score.
func (b *builder) scores(side curve.Side, model Model, fallback float64) interference.Scores {
	own := scoresOf(b.profile, side)
	cells, seen := b.complete(side, model)
	out := make(interference.Scores, len(b.columns))
	assumed := 0
	for _, s := range b.columns {
		column := slices.Index(b.models.Sources, s)
		var c Cell
		if column >= 0 && cells != nil {
			c = cells[column]
		}
		e, ok := b.posterior(side, s, c)
		if ok {
			b.measured++
		} else {
			e = b.atBound(side, estimate(c, seen, b.models.Workloads, fallback, own[s].Note))
		}
		if e.Origin == interference.Assumed {
			assumed++
		} else if column >= 0 {
			e.Before = b.models.before(side, column)
		}
		out[s] = e
	}
	b.warnAssumed(kinds[side], assumed, model, fallback)
	return out
}

// posterior is what is known of a score that was measured: its curve, or its interval, with
// what the others say of the cell; false where it was not measured.
func (b *builder) posterior(side curve.Side, s interference.Source, c Cell) (interference.Estimate, bool) {
	own := scoresOf(b.profile, side)[s]
	response, pressed := curve.Measured(b.profile.Ramp, s, side)
	switch {
	case pressed:
		if others := c.withoutOwn(); others.deviation > 0 {
			response = response.Given(others.mean, others.deviation)
		}
		if side == curve.Workload {
			b.ramp = append(b.ramp, response.Points(s)...)
		}
		e := response.Estimate(curve.BoundOf(b.profile))
		e.Note = own.Note
		return e, true
	case !own.IsMeasured():
		return interference.Estimate{}, false
	case !c.Measured || c.Low == c.High:
		own.Origin, own.Before = interference.Measured, interference.Range{}
		return own, true
	}
	return interference.Estimate{
		Score: interference.Percent(c.Value), Low: interference.Percent(c.Low), High: interference.Percent(c.High),
		Origin: interference.Measured, Note: own.Note,
	}, true
}

// atBound is a score that follows from others, which are of one bound, at the bound of this
// workload: by the curves that have such a score.
func (b *builder) atBound(side curve.Side, e interference.Estimate) interference.Estimate {
	bound := curve.BoundOf(b.profile)
	width, known := e.Within().Width()
	if bound == curve.Bound || !known || !(width > 0) {
		return e
	}
	moved := curve.Unmeasured(side).Given(e.Score.Or(0), width/(2*normal95)).Estimate(bound)
	e.Score, e.Low, e.High = moved.Score, moved.Low, moved.High
	return e
}

// complete asks the model for the row; seen is how many of the model's columns
// were measured.
func (b *builder) complete(side curve.Side, model Model) (cells []Cell, seen int) {
	if model == nil {
		return nil, 0
	}
	row, deviations := scoreRow(b.profile, side, b.models.Sources)
	cells, err := model.Complete(row, deviations)
	if err != nil {
		b.warn("%s scores could not be predicted: %v", kinds[side], err)
		return nil, 0
	}
	for _, v := range row {
		if !math.IsNaN(v) {
			seen++
		}
	}
	return cells, seen
}

// estimate turns a completed cell into an estimate, or states the assumption.
func estimate(c Cell, seen, workloads int, fallback float64, note string) interference.Estimate {
	e := interference.Estimate{Note: note}
	switch {
	case c.Known && seen > 0:
		e.Origin = interference.Predicted
		e.Note = join(note, c.Doubt)
	case c.Known:
		e.Origin = interference.Assumed
		e.Note = join(note, fmt.Sprintf("average of %d other workloads", workloads))
	default:
		e.Origin, e.Score = interference.Assumed, interference.Percent(fallback)
		e.Note = join(note, "nothing is known; a cautious default")
		return e
	}
	e.Score, e.Low, e.High = interference.Percent(c.Value), interference.Percent(c.Low), interference.Percent(c.High)
	return e
}

func join(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}

func (b *builder) warnAssumed(kind string, assumed int, model Model, fallback float64) {
	switch {
	case assumed == 0:
	case model == nil:
		b.warn("%d of %d %s scores are assumed to be %g %%: there are no training rows", assumed, len(b.columns), kind, fallback)
	default:
		b.warn("%d of %d %s scores are assumed: no %s score of this workload was measured, or no training row has that source", assumed, len(b.columns), kind, kind)
	}
}

// speeds completes performance in isolation by configuration.
func (b *builder) speeds(configurations []string) (map[string]profile.Measurement, map[string]interference.Origin) {
	speed, origin := map[string]profile.Measurement{}, map[string]interference.Origin{}
	for c, m := range b.profile.Isolated {
		if usable(m.Value) {
			speed[c], origin[c] = m, interference.Measured
		}
	}
	reference, ok := b.reference()
	if ok {
		b.predictSpeeds(reference, configurations, speed, origin)
	}
	var unknown []string
	for _, c := range configurations {
		if _, ok := speed[c]; !ok {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		b.warn("speed is unknown on %s: not measured there, and no training row relates it to where it was", strings.Join(slices.Compact(unknown), ", "))
	}
	return speed, origin
}

// reference is the measured configuration the others are predicted from: one
// with a model, the most windows first, then by name.
func (b *builder) reference() (string, bool) {
	best, found := "", false
	for c, m := range b.profile.Isolated {
		if _, ok := b.models.Speed[c]; !ok || !usable(m.Value) {
			continue
		}
		held := b.profile.Isolated[best]
		if !found || m.Windows > held.Windows || m.Windows == held.Windows && c < best {
			best, found = c, true
		}
	}
	return best, found
}

func (b *builder) predictSpeeds(reference string, configurations []string, speed map[string]profile.Measurement, origin map[string]interference.Origin) {
	base := b.profile.Isolated[reference]
	row := speedRow(b.profile.Isolated, b.models.Configurations)
	for j := range row {
		row[j] /= base.Value
	}
	completed, err := b.models.Speed[reference].Complete(row, nil)
	if err != nil {
		b.warn("speed could not be predicted: %v", err)
		return
	}
	for j, c := range b.models.Configurations {
		if _, have := speed[c]; have || !completed[j].Known || !slices.Contains(configurations, c) {
			continue
		}
		// A predicted ratio at or below zero is the model's way of not knowing.
		if usable(completed[j].Value) {
			speed[c], origin[c] = scaled(base, completed[j]), interference.Predicted
		}
	}
}

// scaled multiplies the reference's speed by a predicted ratio; both intervals
// add up. A prediction without an interval is bracketed by nothing and twice
// the value: no information, said so that it cannot be taken for certainty.
func scaled(base profile.Measurement, ratio Cell) profile.Measurement {
	m := profile.Measurement{Value: base.Value * ratio.Value, Unit: base.Unit}
	m.Low, m.High = 0, 2*m.Value
	if !math.IsNaN(ratio.Low) {
		m.Low, m.High = max(0, base.Low*ratio.Low), base.High*ratio.High
	}
	return m
}
