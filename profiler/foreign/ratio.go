package foreign

import (
	"math"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// confidence of every interval.
const confidence = 0.95

// keeps is the share of the performance that a workload within its bound keeps.
const keeps = 1 - performance.DefaultSlowdownMaxPercent/100

// digits is how many significant digits are written: more than any of the data
// have, and few enough that every processor rounds to the same bytes.
const digits = 6

func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v // NaN and infinities, which JSON refuses
	}
	return r
}

// measurement is the median of runs. From 6 runs on it has the 95 % interval of
// the median; with fewer the interval is their whole range, which carries less;
// a single run is bracketed by nothing and twice its value, for it says nothing
// of its error (the same convention as a prediction without residuals).
func measurement(runs []float64, unit string) profile.Measurement {
	s := stat.MedianInterval(runs, confidence)
	if len(runs) == 1 {
		s.Low, s.High = 0, 2*s.Center
	}
	return profile.Measurement{Value: round(s.Center), Low: round(s.Low), High: round(s.High), Unit: unit, Windows: len(runs)}
}

// minIntervalRuns is the least number of runs whose median has a 95 % interval.
const minIntervalRuns = 6

// comparison is the speed under pressure against the speed in isolation.
type comparison struct {
	ratio     float64
	low, high *float64 // nil where the runs cannot carry 95 %
	pairs     int      // of the smaller group
	loss      bool     // beyond the bound, distinguished from noise
	clean     bool     // within the bound, distinguished from noise
}

// usualNoise is how much runs on cloud machines differ by themselves: "5–15 % is
// normal" (caveat of the data set eth-ibench-parsec-memcached). Beyond it a loss
// needs no repetition.
const usualNoise = 0.15

// compare judges two groups of speeds, measured apart. Both must be above zero.
func compare(on, off []float64) comparison {
	logs := make([]float64, 0, len(on)*len(off))
	for _, a := range on {
		for _, b := range off {
			logs = append(logs, math.Log(a/b))
		}
	}
	slices.Sort(logs)
	c := comparison{ratio: round(math.Exp(stat.Median(logs))), pairs: min(len(on), len(off))}
	if cut, ok := shiftCut(len(on), len(off)); ok {
		low, high := round(math.Exp(logs[cut])), round(math.Exp(logs[len(logs)-1-cut]))
		c.low, c.high = &low, &high
	}
	bound := make([]float64, len(off))
	for i, v := range off {
		bound[i] = keeps * v
	}
	less, greater := stat.RankSum(on, bound)
	c.loss = less <= 1-confidence || c.ratio < keeps*(1-usualNoise)
	c.clean = greater <= 1-confidence && !c.loss
	return c
}

// shiftCut is how many of the sorted differences of all pairs lie outside the
// 95 % interval of the shift on either side: the largest k with P(U ≤ k−1) ≤
// 2.5 %, U being Mann and Whitney's count (Conover, §5.4). ok is false where
// not even the whole range has 95 %.
func shiftCut(m, n int) (cut int, ok bool) {
	ways := rankSumWays(m, n)
	all := 0.0
	for _, w := range ways {
		all += w
	}
	below, k := 0.0, 0
	for k < len(ways) && below+ways[k] <= all*(1-confidence)/2 {
		below += ways[k]
		k++
	}
	return k - 1, k > 0
}

// rankSumWays counts, for every value u of Mann and Whitney's count, the orders
// of m and n samples that give it. O(m²·n²).
func rankSumWays(m, n int) []float64 {
	// ways[j][u] is the count for j samples of the second group; adding one
	// sample of the first group that exceeds all j adds j to u.
	ways := make([][]float64, n+1)
	for j := range ways {
		ways[j] = make([]float64, m*n+1)
		ways[j][0] = 1
	}
	for range m {
		for j := 1; j <= n; j++ {
			next := slices.Clone(ways[j-1])
			for u := j; u <= m*n; u++ {
				next[u] += ways[j][u-j]
			}
			ways[j] = next
		}
	}
	return ways[n]
}
