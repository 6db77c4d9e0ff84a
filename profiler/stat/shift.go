package stat

import "math"

// HodgesLehmann estimates the centre of symmetry of x: the median of the Walsh
// averages (xᵢ+xⱼ)/2, i ≤ j, with the interval that the signed-rank test does
// not reject (Hodges and Lehmann 1963; Conover, §5.7). It is nearly as sharp as
// the mean for normal samples and bears 29 % outliers. It assumes symmetry.
// Below the number of samples that can reach confidence (6 for 95 %) the
// interval is the whole range with the confidence that has and a warning.
// O(n³).
func HodgesLehmann(x []float64, confidence float64) Summary {
	n := len(x)
	if n == 0 || hasNaN(x) {
		return empty()
	}
	walsh := Sorted(walshAverages(x))
	r, reached := walshRank(n, confidence)
	out := Summary{Center: Median(walsh), Low: walsh[r-1], High: walsh[len(walsh)-r], Confidence: reached, N: n}
	if reached < confidence {
		out.Warnings = append(out.Warnings, tooFew(n, confidence))
	}
	return out
}

// Pseudomedian is the centre of HodgesLehmann without its interval; NaN for no
// samples or where any is NaN. O(n² log n).
func Pseudomedian(x []float64) float64 {
	if len(x) == 0 || hasNaN(x) {
		return math.NaN()
	}
	return Median(walshAverages(x))
}

func walshAverages(x []float64) []float64 {
	out := make([]float64, 0, len(x)*(len(x)+1)/2)
	for i := range x {
		for j := i; j < len(x); j++ {
			out = append(out, midpoint(x[i], x[j]))
		}
	}
	return out
}

// walshRank is the largest r for which the r-th smallest and r-th largest Walsh
// average still cover with confidence: 1 − 2·P(W⁺ < r) of the signed-rank
// distribution. It is at least 1.
func walshRank(n int, confidence float64) (r int, reached float64) {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	total := n * (n + 1) / 2
	ways := subsetSums(ranks, total)
	all := math.Pow(2, float64(n))
	below := ways[0] / all // P(W⁺ < 1)
	r, reached = 1, max(0, 1-2*below)
	for r < (total+1)/2 {
		below += ways[r] / all
		if 1-2*below < confidence {
			break
		}
		r++
		reached = 1 - 2*below
	}
	return r, reached
}

// minLogRatio stands for the logarithm of a ratio of zero: a window without
// any work. It is far below every real ratio, and finite, so that averages and
// ranks keep their meaning (chosen by us: a millionth).
const minLogRatio = -13.815510557964274

// LogRatio returns ln(on/off), for two windows that have a ratio: off must be
// positive and both finite; ok is false otherwise. A zero in on gives the
// logarithm of a millionth, and no ratio goes below that.
func LogRatio(on, off float64) (v float64, ok bool) {
	if !(off > 0) || !(on >= 0) || math.IsInf(on, 1) || math.IsInf(off, 1) {
		return math.NaN(), false
	}
	return max(math.Log(on/off), minLogRatio), true
}

// RatioMedian is the median of the paired ratios on[i]/off[i] with the
// distribution-free interval of MedianInterval. Pairs without a ratio are left
// out; the slices must have equal lengths.
func RatioMedian(on, off []float64, confidence float64) Summary {
	if len(on) != len(off) {
		panic("stat: on and off have different lengths")
	}
	var logs []float64
	for i := range on {
		if r, ok := LogRatio(on[i], off[i]); ok {
			logs = append(logs, r)
		}
	}
	return Exp(MedianInterval(logs, confidence))
}

// Exp maps a summary of log ratios back to ratios.
func Exp(s Summary) Summary {
	s.Center, s.Low, s.High = math.Exp(s.Center), math.Exp(s.Low), math.Exp(s.High)
	return s
}
