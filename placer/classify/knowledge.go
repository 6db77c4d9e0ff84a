package classify

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
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
	lessCertain := b.lessCertain(m.Tolerated, p.Sensitivity.Tolerated)
	k.Ramp = slices.DeleteFunc(slices.Clone(p.Ramp), func(r profile.RampPoint) bool { return lessCertain[r.Source] != "" })
	k.Sensitivity.Tolerated = b.scores("tolerated", m.Tolerated, without(p.Sensitivity.Tolerated, lessCertain), cluster.AssumedToleratedPercent)
	k.Sensitivity.Caused = b.scores("caused", m.Caused, p.Sensitivity.Caused, cluster.AssumedCausedPercent)
	b.boundByTime(k.Sensitivity.Caused)
	k.Sensitivity.DemandFactor = demandFactor(p)
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
	measured int
	warnings []string
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

// scores completes one kind of score.
func (b *builder) scores(kind string, model Model, own interference.Scores, fallback float64) interference.Scores {
	cells, seen := b.complete(kind, model, own)
	out := make(interference.Scores, len(b.columns))
	assumed := 0
	for _, s := range b.columns {
		e := own[s]
		if measured(e) {
			e.Origin = interference.Measured
			b.measured++
		} else {
			e = estimate(cells[s], seen, b.models.Workloads, fallback, e.Note)
		}
		if e.Origin == interference.Assumed {
			assumed++
		}
		out[s] = e
	}
	b.warnAssumed(kind, assumed, model, fallback)
	return out
}

// lessCertain are the measured scores that are less certain than their prediction from the
// others, with the note for each: few windows may leave an interval of half the scale, whose
// middle is then hardly better than a guess. The surest score always stays.
func (b *builder) lessCertain(model Model, own interference.Scores) map[interference.Source]string {
	var known []interference.Source
	for _, s := range b.columns {
		if measured(own[s]) && !math.IsInf(width(own[s]), 1) {
			known = append(known, s)
		}
	}
	slices.SortStableFunc(known, func(x, y interference.Source) int { return -cmp.Compare(width(own[x]), width(own[y])) })
	out := map[interference.Source]string{}
	for _, s := range known[:max(0, len(known)-1)] {
		out[s] = fmt.Sprintf("measured between %.0f and %.0f points, which is less certain than what the other scores predict", own[s].Low.Or(0), own[s].High.Or(100))
		cells, seen := b.complete("tolerated", model, without(own, out))
		c := cells[s]
		if seen == 0 || !c.Known || !(c.High-c.Low < width(own[s])) {
			delete(out, s)
		}
	}
	return out
}

// width of an interval in points; infinite where there is none.
func width(e interference.Estimate) float64 {
	low, ok := e.Low.Percent()
	high, also := e.High.Percent()
	if !ok || !also {
		return math.Inf(1)
	}
	return high - low
}

// without are scores of which some count as not measured, with the words why.
func without(scores interference.Scores, lessCertain map[interference.Source]string) interference.Scores {
	if len(lessCertain) == 0 {
		return scores
	}
	out := maps.Clone(scores)
	for s, why := range lessCertain {
		out[s] = interference.Estimate{Note: join(scores[s].Note, why)}
	}
	return out
}

// complete asks the model for the row; seen is how many of the model's columns
// were measured.
func (b *builder) complete(kind string, model Model, own interference.Scores) (cells map[interference.Source]Cell, seen int) {
	if model == nil {
		return nil, 0
	}
	row := scoreRow(own, b.models.Sources)
	completed, err := model.Complete(row, nil)
	if err != nil {
		b.warn("%s scores could not be predicted: %v", kind, err)
		return nil, 0
	}
	cells = make(map[interference.Source]Cell, len(row))
	for j, s := range b.models.Sources {
		cells[s] = completed[j]
		if !math.IsNaN(row[j]) {
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
