package profiler

import (
	"context"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	// gridStep is the distance of two levels, in percent points.
	gridStep = 5
	topLevel = 100
	// beyondTop stands for "no loss at any level".
	beyondTop = topLevel + gridStep
)

// level is one probed intensity and its pairs.
type level struct {
	percent int
	logs    []float64 // ln(on/off), one per pair
	dropped int       // pairs without a ratio
	verdict verdict
}

func (l *level) pairs() int { return len(l.logs) }

// estimate is the centre of the log ratios; NaN without any.
func (l *level) estimate() float64 { return stat.Pseudomedian(l.logs) }

// spent: no more pairs would be taken.
func (l *level) spent() bool {
	return l.verdict != undecided || l.pairs() >= maxPairs || l.dropped >= maxBadWindows
}

// search finds where on the grid a loss sets in, for one contrast.
//
// Invariant: clean is the highest level judged clean below every level judged a
// loss (0 if none), loss the lowest judged a loss (beyondTop if none), and
// 0 ≤ clean < loss ≤ beyondTop. The truth lies between them as long as no
// verdict was wrong and the response falls with pressure.
type search struct {
	levels   map[int]*level
	logBound float64
	noise    *noise // under equal conditions; grows while the search goes on
	// take measures one more pair at a level; more says whether there is time
	// for another.
	take func(ctx context.Context, l *level) error
	more func() bool
}

// bracket is the outcome of a search, in percent.
type bracket struct {
	clean, loss int  // see search
	crossing    int  // the highest level that looks clean, clean ≤ crossing < loss
	decided     bool // some level was judged
	contrary    bool // a level was judged clean above one judged a loss
}

func (s *search) at(percent int) *level {
	l, ok := s.levels[percent]
	if !ok {
		l = &level{percent: percent}
		s.levels[percent] = l
	}
	return l
}

// run bisects the grid, then spends the remaining time on narrowing the
// bracket from both sides.
func (s *search) run(ctx context.Context) (bracket, error) {
	if err := s.bisect(ctx); err != nil {
		return s.bracket(), err
	}
	for s.more() {
		next := s.narrow()
		if next == nil {
			break
		}
		if err := s.probe(ctx, next); err != nil {
			return s.bracket(), err
		}
	}
	return s.bracket(), nil
}

// bisect starts at the top, because most workloads stand most sources.
func (s *search) bisect(ctx context.Context) error {
	low, high := 0, beyondTop
	for at := topLevel; high-low > gridStep && s.more(); at = middle(low, high) {
		l := s.at(at)
		if err := s.probe(ctx, l); err != nil {
			return err
		}
		if s.looksClean(l) {
			low = at
		} else {
			high = at
		}
	}
	return nil
}

func middle(low, high int) int { return low + (high-low)/(2*gridStep)*gridStep }

// looksClean is the verdict, or what the estimate says while there is none. A
// level without a single pair counts as a loss: going down is the safe side.
func (s *search) looksClean(l *level) bool {
	if l.verdict != undecided {
		return l.verdict == clean
	}
	return l.estimate() >= s.logBound // false for NaN
}

// probe takes pairs up to the level's next look.
func (s *search) probe(ctx context.Context, l *level) error {
	look := nextLook(l.pairs(), s.noise)
	for l.pairs() < look && !l.spent() && s.more() {
		if err := s.take(ctx, l); err != nil {
			return err
		}
		l.verdict = judge(l.logs, s.logBound, s.noise)
	}
	return nil
}

// marginShare of the bound is how far from it a level should lie to be worth
// pairs: nearer levels cannot be told from it in the time (chosen by us).
const marginShare = 0.6

// narrow picks the next level to spend pairs on, on the side where the bracket
// is farther from the crossing: the nearest level to the crossing that should
// stand clear of the bound, else the open level nearest to half-way. nil when
// none is left.
func (s *search) narrow() *level {
	b := s.bracket()
	fit := s.fit()
	below := s.pick(b.crossing, b.clean, -gridStep, func(at int) bool {
		return fit.at(at)-s.logBound >= -marginShare*s.logBound
	})
	above := s.pick(b.crossing+gridStep, b.loss, gridStep, func(at int) bool {
		return fit.at(at)-s.logBound <= marginShare*s.logBound
	})
	switch {
	case below == nil:
		return above
	case above == nil || b.crossing-b.clean >= b.loss-b.crossing-gridStep:
		return below
	}
	return above
}

// pick walks from a level towards end (exclusive) and returns the first open
// level that is clear of the bound, else the open one nearest to half-way.
func (s *search) pick(from, end, step int, clear func(int) bool) *level {
	var open []int
	for at := from; (end-at)*step > 0; at += step {
		if at < gridStep || at > topLevel || s.at(at).spent() {
			continue
		}
		if clear(at) {
			return s.at(at)
		}
		open = append(open, at)
	}
	if len(open) == 0 {
		return nil
	}
	return s.at(open[len(open)/2])
}

// bracket reads the verdicts and fits the estimates between them.
func (s *search) bracket() bracket {
	b := bracket{clean: 0, loss: beyondTop}
	for _, l := range s.levels {
		if l.verdict == loss && s.supported(l) {
			b.loss = min(b.loss, l.percent)
			b.decided = true
		}
	}
	for _, l := range s.levels {
		if l.verdict == clean && s.supported(l) {
			b.decided = true
			if l.percent < b.loss {
				b.clean = max(b.clean, l.percent)
			} else {
				b.contrary = true
			}
		}
	}
	b.crossing = min(max(s.crossing(), b.clean), b.loss-gridStep)
	return b
}

// supportError is what the levels beyond a verdict may contradict it by.
const supportError = 0.05

// supported checks a verdict against the levels that should agree with it: a
// workload that loses at one level loses at all higher ones, one that is clean
// is clean at all lower ones. Their pairs are judged together. Of some twenty
// levels looked at, one would otherwise be judged wrongly now and then.
func (s *search) supported(l *level) bool {
	var excess []float64
	for at := gridStep; at <= topLevel; at += gridStep {
		other, ok := s.levels[at]
		agrees := (l.verdict == loss && at >= l.percent) || (l.verdict == clean && at <= l.percent)
		if !ok || !agrees {
			continue
		}
		for _, v := range other.logs {
			excess = append(excess, v-s.logBound)
		}
	}
	less, greater := stat.SignTest(excess) // levels differ, so only signs compare
	if l.verdict == loss {
		return less <= supportError || len(excess) == l.pairs()
	}
	return greater <= supportError || len(excess) == l.pairs()
}

// response is the fitted log ratio at the probed levels, ascending in pressure
// and non-increasing; without pressure it is 0.
type response struct {
	percents []int
	logs     []float64
}

// fit is the non-increasing sequence closest to the levels' estimates, weighted
// by their pairs.
func (s *search) fit() response {
	f := response{percents: []int{0}, logs: []float64{0}}
	var estimates, weights []float64
	for at := gridStep; at <= topLevel; at += gridStep {
		l, ok := s.levels[at]
		if !ok || l.pairs() == 0 {
			continue
		}
		f.percents = append(f.percents, at)
		estimates = append(estimates, min(0, l.estimate()))
		weights = append(weights, float64(l.pairs()))
	}
	f.logs = append(f.logs, stat.NonIncreasing(estimates, weights)...)
	return f
}

// at interpolates between probed levels; beyond the last one it stays.
func (f response) at(percent int) float64 {
	for i := 1; i < len(f.percents); i++ {
		if percent <= f.percents[i] {
			low, high := f.percents[i-1], f.percents[i]
			share := float64(percent-low) / float64(high-low)
			return f.logs[i-1] + share*(f.logs[i]-f.logs[i-1])
		}
	}
	return f.logs[len(f.logs)-1]
}

// crossing is the highest level of the grid, up to the highest probed, at which
// the fit is at or above the bound.
func (s *search) crossing() int {
	f := s.fit()
	crossing := 0
	for at := gridStep; at <= f.percents[len(f.percents)-1] && f.at(at) >= s.logBound; at += gridStep {
		crossing = at
	}
	return crossing
}
