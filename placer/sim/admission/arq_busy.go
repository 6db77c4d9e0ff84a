package admission

import (
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/numeric/dist"
)

// How a distribution is kept (chosen by us; the paper: updated during the run).
const (
	keptPeriods  = 500             // the last ones
	leastPeriods = 30              // below, an exponential with the expected run time
	refitPeriods = 50              // new ones, or
	refitAfter   = 5 * time.Minute // with any new one
	leastPeriod  = time.Millisecond
	priorChange  = 0.05 // share by which the expected run time must change for a new table
)

// busyPeriods is how long nodes are busy for one class, and which are busy now.
type busyPeriods struct {
	cohorts []cohort // ascending
	unknown int      // busy since an unknown time
	total   int      // in cohorts

	periods []float64 // seconds; a ring
	oldest  int
	fresh   int // since the last fit

	table    *dist.Table
	fit      dist.Fitted // zero while the table is the prior's
	fittedAt Instant
	groups   []dist.Group // scratch
}

// cohort is nodes that became busy at about the same time.
type cohort struct {
	first Instant
	n     int
	sum   float64 // of the times, in seconds
}

const (
	mostCohorts    = 96
	cohortsPerMean = 64 // a cohort is as wide as this part of the mean busy period
)

// begin: a node became busy. Amortised O(1).
func (b *busyPeriods) begin(now Instant) {
	b.total++
	last := len(b.cohorts) - 1
	if last < 0 || now-b.cohorts[last].first > b.width() {
		if len(b.cohorts) == mostCohorts {
			b.merge()
		}
		b.cohorts = append(b.cohorts, cohort{first: now})
		last = len(b.cohorts) - 1
	}
	b.cohorts[last].n++
	b.cohorts[last].sum += now.Seconds()
}

func (b *busyPeriods) width() Instant {
	if b.table == nil {
		return 0
	}
	return Instant(b.table.Mean() / cohortsPerMean * float64(time.Second))
}

// merge halves the number of cohorts.
func (b *busyPeriods) merge() {
	kept := b.cohorts[:0]
	for i := 0; i < len(b.cohorts); i += 2 {
		c := b.cohorts[i]
		if i+1 < len(b.cohorts) {
			c.n += b.cohorts[i+1].n
			c.sum += b.cohorts[i+1].sum
		}
		kept = append(kept, c)
	}
	b.cohorts = kept
}

// end: a node that became busy then is not busy any more.
func (b *busyPeriods) end(since Instant) {
	at, exact := slices.BinarySearchFunc(b.cohorts, since, func(c cohort, t Instant) int { return int(min(1, max(-1, c.first-t))) })
	if !exact {
		at-- // the last cohort that began before
	}
	c := &b.cohorts[at]
	b.total--
	c.n--
	c.sum -= since.Seconds()
	if c.n == 0 {
		b.cohorts = slices.Delete(b.cohorts, at, at+1)
	}
}

// sample keeps the length of a busy period.
func (b *busyPeriods) sample(d time.Duration) {
	b.fresh++
	v := max(d, leastPeriod).Seconds()
	if len(b.periods) < keptPeriods {
		b.periods = append(b.periods, v)
		return
	}
	b.periods[b.oldest] = v
	b.oldest = (b.oldest + 1) % keptPeriods
}

// chance is the probability that at least r of the busy nodes come free within
// so many seconds, given how long each has been busy; ok is false where nothing
// is known about busy periods. O(cohorts), whatever the number of nodes.
func (b *busyPeriods) chance(now Instant, within float64, r int, prior float64) (p float64, ok bool) {
	if b.total+b.unknown < r {
		return 0, true
	}
	if b.refit(now, prior); b.table == nil {
		return 0, false
	}
	if r > 1 {
		return dist.AtLeast(b.chances(now, within), r), true
	}
	none := float64(b.unknown) * math.Log1p(-min(b.table.EndsAtUnknownAge(within), almostSure))
	for i := range b.cohorts {
		c := &b.cohorts[i]
		none += float64(c.n) * b.table.LogLasts(c.age(now), within)
	}
	return -math.Expm1(none), true
}

// almostSure keeps logarithms finite.
const almostSure = 1 - 1e-12

func (c *cohort) age(now Instant) float64 { return now.Seconds() - c.sum/float64(c.n) }

func (b *busyPeriods) chances(now Instant, within float64) []dist.Group {
	b.groups = append(b.groups[:0], dist.Group{N: b.unknown, P: b.table.EndsAtUnknownAge(within)})
	for i := range b.cohorts {
		c := &b.cohorts[i]
		b.groups = append(b.groups, dist.Group{N: c.n, P: b.table.Ends(c.age(now), within)})
	}
	return b.groups
}

// refit brings the distribution up to date where it is time; prior is the mean
// run time in seconds, 0 if unknown.
func (b *busyPeriods) refit(now Instant, prior float64) {
	if len(b.periods) < leastPeriods {
		if prior > 0 && (b.table == nil || math.Abs(b.table.Mean()-prior) > priorChange*prior) {
			b.table = dist.NewTable(dist.Exponential{Average: prior})
		}
		return
	}
	first := b.fit.Distribution == nil
	if !first && b.fresh < refitPeriods && (b.fresh == 0 || now-b.fittedAt < refitAfter) {
		return
	}
	b.fresh, b.fittedAt = 0, now
	if fit, err := describe(b.periods); err == nil { // no period is below leastPeriod
		b.fit, b.table = fit, dist.NewTable(fit.Distribution)
	}
}

// poorFit is the distance from which on a family is not used (the published fit
// is to be within it).
const poorFit = 0.05

// describe fits a family, or keeps the samples themselves where none is near.
func describe(samples []float64) (dist.Fitted, error) {
	fit, err := dist.Fit(samples)
	if err != nil || fit.Distance <= poorFit {
		return fit, err
	}
	own, err := dist.NewEmpirical(samples)
	if err != nil {
		return fit, err
	}
	return dist.Fitted{Distribution: own, Distance: dist.Distance(slices.Sorted(slices.Values(samples)), own), Samples: fit.Samples}, nil
}
