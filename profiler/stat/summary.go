package stat

import (
	"errors"
	"fmt"
	"math"
	"sort"
)

// Warnings of a Summary.
var (
	ErrNoSamples = errors.New("no samples")
	ErrTooFew    = errors.New("too few samples for the confidence asked")
)

// Summary is an estimate with its interval.
type Summary struct {
	Center     float64
	Low, High  float64 // Low ≤ Center ≤ High unless NaN
	Confidence float64 // of [Low, High], as reached, in [0, 1]
	N          int     // samples it rests on
	Warnings   []error
}

func empty() Summary {
	nan := math.NaN()
	return Summary{Center: nan, Low: nan, High: nan, Warnings: []error{ErrNoSamples}}
}

func tooFew(n int, confidence float64) error {
	return fmt.Errorf("%d samples, %.3g %% asked: %w", n, confidence*100, ErrTooFew)
}

// Sorted returns a sorted copy of x.
func Sorted(x []float64) []float64 {
	s := append([]float64(nil), x...)
	sort.Float64s(s)
	return s
}

// Median is the middle value, or the mean of the two middle ones; NaN for no
// samples or where any is NaN. O(n log n).
func Median(x []float64) float64 {
	if len(x) == 0 || hasNaN(x) {
		return math.NaN()
	}
	s := Sorted(x)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return midpoint(s[n/2-1], s[n/2])
}

// midpoint avoids Inf − Inf, which would be NaN.
func midpoint(a, b float64) float64 {
	if a == b {
		return a
	}
	return a/2 + b/2
}

// madToSigma makes the MAD of a normal sample estimate its standard deviation:
// 1/Φ⁻¹(3/4) (Rousseeuw and Croux 1993).
const madToSigma = 1.4826022185056018

// MAD is the median absolute deviation from the median, scaled so that it
// estimates the standard deviation of normal samples. Half of the samples may
// be outliers. One sample gives 0, none NaN. O(n log n).
func MAD(x []float64) float64 {
	m := Median(x)
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = math.Abs(v - m)
	}
	return madToSigma * Median(d)
}

// MedianInterval is the median of x with its distribution-free interval: the
// r-th smallest and r-th largest sample, with r the largest rank for which
// 1 − 2·P(Bin(n, ½) < r) still reaches confidence (Conover, §3.2). Samples must
// be independent. Below the number of samples that can reach confidence (6 for
// 95 %) the interval is the whole range, with the confidence that has and a
// warning. O(n log n).
func MedianInterval(x []float64, confidence float64) Summary {
	n := len(x)
	if n == 0 || hasNaN(x) {
		return empty()
	}
	s := Sorted(x)
	r := 1
	for r+1 <= (n+1)/2 && 1-2*BinomialBelow(n, r+1) >= confidence {
		r++
	}
	out := Summary{Center: Median(s), Low: s[r-1], High: s[n-r], Confidence: max(0, 1-2*BinomialBelow(n, r)), N: n}
	if out.Confidence < confidence {
		out.Warnings = append(out.Warnings, tooFew(n, confidence))
	}
	return out
}

// BinomialBelow is P(X < k) for X of n fair coin throws, exact to float
// precision; 0 for k ≤ 0. O(n).
func BinomialBelow(n, k int) float64 {
	sum := 0.0
	for i := 0; i < k && i <= n; i++ {
		sum += math.Exp(logChoose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, sum)
}

func logChoose(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

func hasNaN(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}
