package profiler

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// narrowPoints: a crossing whose interval is narrower needs no more visits
	// (chosen by us: two runs then differ by less than the 5 points that are
	// wanted).
	narrowPoints = 8
	// coverStep is the distance of the levels that show the whole curve.
	coverStep = 10
	// coverShare is how many of the visits, in percent, cover the curve at most;
	// the rest closes in on the crossing.
	coverShare = 70
	// clearlyKept is the probability of keeping the bound at the top that makes
	// the rest of the curve uninteresting.
	clearlyKept = 0.9
)

// firstLevels show whether there is anything to look for, and on which half.
var firstLevels = [2]int{topLevel, topLevel / 2}

// chosen is a level to visit.
type chosen struct {
	percent int
	pass    pass
}

// levels chooses where to measure next.
type levels struct {
	dense   bool // cover the whole curve
	block   int  // visits of a block
	sides   []*side
	random  *rand.Rand
	covered bool     // the cover was laid out
	cover   []chosen // left to do before closing in
	started bool
}

// next gives the levels of a block of visits; none when nothing is worth more
// time. left is how many visits there is time for.
func (l *levels) next(left int) []chosen {
	n := min(l.block, left)
	if n <= 0 {
		return nil
	}
	if !l.started {
		l.started = true
		for _, at := range firstLevels {
			l.cover = append(l.cover, chosen{at, closing})
		}
	}
	if len(l.cover) == 0 && l.dense && !l.covered {
		l.covered = true
		l.cover = l.layOut(left)
	}
	l.cover = slices.DeleteFunc(l.cover, func(c chosen) bool { return l.crushed(c.percent) })
	if len(l.cover) > 0 {
		n = min(n, len(l.cover))
		out := l.cover[:n]
		l.cover = l.cover[n:]
		return out
	}
	return l.close(n)
}

// crushedLog: of a performance below this share the rest of the curve is not
// worth its time, which is long where a queue drains after it (chosen by us).
const crushedLog = -2.302585092994046 // ln(1/10)

// crushed says whether all that is measured was crushed at a lower level.
func (l *levels) crushed(percent int) bool {
	for _, s := range l.sides {
		if !slices.ContainsFunc(s.visits, func(v visited) bool { return v.percent < percent && v.log < crushedLog }) {
			return false
		}
	}
	return true
}

// layOut lists the levels that show the curve, up and, with time for both,
// down again.
func (l *levels) layOut(left int) []chosen {
	visits := left * coverShare / 100
	if l.flat() {
		return []chosen{{topLevel - coverStep, upwards}, {topLevel - 2*coverStep, upwards}}[:min(2, visits)]
	}
	var all []int
	for at := coverStep; at < topLevel; at += coverStep {
		if at != firstLevels[1] {
			all = append(all, at)
		}
	}
	var out []chosen
	for _, at := range thinned(all, visits) {
		out = append(out, chosen{at, upwards})
	}
	if visits >= 2*len(all) {
		for i := len(all) - 1; i >= 0; i-- {
			out = append(out, chosen{all[i], downwards})
		}
	}
	return out
}

// thinned keeps at most n of the list, spread evenly.
func thinned(list []int, n int) []int {
	if n >= len(list) {
		return list
	}
	var out []int
	for i := range n {
		out = append(out, list[(2*i+1)*len(list)/(2*n)])
	}
	return out
}

func (l *levels) flat() bool {
	for _, s := range l.sides {
		if s.fit.Kept() < clearlyKept {
			return false
		}
	}
	return true
}

// close picks levels for the sides that are still wide, in turn.
func (l *levels) close(n int) []chosen {
	var open []*side
	for _, s := range l.sides {
		if s.open() {
			open = append(open, s)
		}
	}
	if len(open) == 0 {
		return nil
	}
	var out []chosen
	for i := range n {
		s := open[i%len(open)]
		out = append(out, chosen{s.pick(), closing})
	}
	if len(out) == 2 && l.random.IntN(2) == 0 {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// open: more visits would tell more.
func (s *side) open() bool {
	hopeless := len(s.visits) == 0 && s.dropped >= maxBadWindows
	return !hopeless && s.crossing().width() > narrowPoints
}

// pickQuantiles are where on the distribution of the crossing the next levels
// lie: at its middle, which tells how far the crossing is from there, and to
// both sides, which tells how steep it is (chosen by us by simulation).
var pickQuantiles = [...]float64{0.5, 0.2, 0.8, 0.35, 0.65}

func (s *side) pick() int {
	q := pickQuantiles[s.picks%len(pickQuantiles)]
	s.picks++
	level := math.Round(s.fit.Crossing(q))
	return gridStep * int(min(levelsAll, max(1, level)))
}
