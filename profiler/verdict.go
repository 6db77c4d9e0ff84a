package profiler

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// verdict on one level of pressure.
type verdict int

const (
	undecided verdict = iota
	clean             // no loss beyond the bound
	loss              // a loss beyond the bound
)

// look is a number of pairs at which a level is judged, and the error spent on
// it, on each side.
type look struct {
	pairs int
	error float64
}

// Early looks compare with the noise of equal windows, late ones ask only for
// symmetry. The errors of all looks add up to 5 %, so that looking often does
// not make a false verdict likelier. 2 pairs are the least that can tell against
// the noise of a baseline (1/66 against 10), 7 the least for the signed-rank
// test at its error (1/128).
var (
	earlyLooks = [...]look{{2, 0.016}, {4, 0.011}}
	lateLooks  = [...]look{{7, 0.008}, {11, 0.0075}, {15, 0.0075}}
)

// maxPairs is the most a level is given.
const maxPairs = 15

// maxNoise is how many differences are remembered, the newest: a machine's noise
// changes, and more would make the tests sharper by little (chosen by us).
const maxNoise = 30

// noise is what windows under equal conditions differ by: log ratios of
// neighbouring windows.
type noise struct{ logs []float64 }

// add takes two neighbouring windows under one condition.
func (n *noise) add(a, b float64) {
	v, ok := stat.LogRatio(b, a)
	if !ok {
		return
	}
	if len(n.logs) == maxNoise {
		n.logs = n.logs[1:]
	}
	n.logs = append(n.logs, v)
}

// reaches says whether a comparison with this noise can spend as little error
// as the look may.
func (n *noise) reaches(l look) bool {
	return stat.RankSumLeast(len(n.logs), l.pairs) <= l.error
}

// A gross loss needs no second pair: the performance is at most half, and that
// is grossFactor times beyond the largest difference seen among at least
// grossNoise pairs of equal windows. Rank tests cannot spend so little error on
// one pair; but pressure that all but stops a workload costs seconds a pair, for
// the probe's silence and the queue behind it (chosen by us).
const (
	grossFactor = 4
	grossNoise  = 6
	grossLog    = -0.6931471805599453 // ln(1/2)
)

// gross says whether one log ratio is such a loss.
func (n *noise) gross(v float64) bool {
	if len(n.logs) < grossNoise || v > grossLog {
		return false
	}
	largest := 0.0
	for _, l := range n.logs {
		largest = max(largest, math.Abs(l))
	}
	return -v > grossFactor*largest
}

// judge gives the verdict on the log ratios of one level, or undecided between
// two looks. logBound is ln(1 − slowdown).
func judge(logs []float64, logBound float64, n *noise) verdict {
	if len(logs) == 1 && n.gross(logs[0]) {
		return loss
	}
	excess := make([]float64, len(logs))
	for i, v := range logs {
		excess[i] = v - logBound
	}
	for _, l := range earlyLooks {
		if len(logs) == l.pairs && n.reaches(l) {
			less, greater := stat.RankSum(excess, n.logs)
			return byError(less, greater, l.error)
		}
	}
	for _, l := range lateLooks {
		if len(logs) == l.pairs {
			less, greater := stat.SignedRank(excess)
			return byError(less, greater, l.error)
		}
	}
	return undecided
}

func byError(less, greater, allowed float64) verdict {
	switch {
	case greater <= allowed:
		return clean
	case less <= allowed:
		return loss
	}
	return undecided
}

// nextLook is the number of pairs at which the next verdict can fall.
func nextLook(pairs int, n *noise) int {
	for _, l := range earlyLooks {
		if pairs < l.pairs && n.reaches(l) {
			return l.pairs
		}
	}
	for _, l := range lateLooks {
		if pairs < l.pairs {
			return l.pairs
		}
	}
	return maxPairs
}
