package main

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// share is the placer's rate of stock's in one round.
type share struct {
	round   int // from 0
	percent float64
}

// shares are those of the rounds that both sides have had, in their order. A round is
// short, and both turns of it met the same machine or nearly: the ratio within a round
// is what is repeated, and the rates alone are not.
func (r Result) shares() []share {
	ofStock := map[int]float64{}
	for _, x := range r.of(stock) {
		ofStock[x.Number] = x.JobsPerSecond
	}
	var out []share
	for _, x := range r.of(placed) {
		if rate := ofStock[x.Number]; rate > 0 {
			out = append(out, share{x.Number, 100 * x.JobsPerSecond / rate})
		}
	}
	return out
}

func percents(shares []share) []float64 {
	out := make([]float64, len(shares))
	for i, s := range shares {
		out[i] = s.percent
	}
	return out
}

// decay is by how many points the share changed from the first half of the rounds to the
// second, each round of one held against its like of the other; negative is decay. What
// both sides lose by the growing cluster is not in it.
func decay(shares []share) (points, half float64) {
	n := len(shares) / 2
	second := shares[len(shares)-n:] // the middle one of an odd number has no like
	changes := make([]float64, n)
	for i := range changes {
		changes[i] = second[i].percent - shares[i].percent
	}
	return student.Mean(changes)
}

// shareRows say how the placer's rate compares with stock's.
func (r Result) shareRows(want targets) []row {
	shares := r.shares()
	all := percents(shares)
	if len(all) == 0 {
		return nil
	}
	sorted := stat.Sorted(all)
	mean, half := student.Mean(all)
	rows := []row{
		{"of stock's rate in the same round, median", "", fmt.Sprintf("%.0f %%", stat.Median(all)), fmt.Sprintf("≥ %.0f %%", want.sharePercent)},
		{"– mean, with its 95 % interval over the rounds", "", withInterval(mean, half, "%.0f", " %"), ""},
		{"– slowest round", "", fmt.Sprintf("%.0f %%", sorted[0]), fmt.Sprintf("≥ %.0f %%", want.slowestPercent)},
	}
	if len(shares) < 2 {
		return rows
	}
	points, half := decay(shares)
	return append(rows, row{"– change from the first half of the rounds to the second", "", withInterval(points, half, "%+.0f", " points"), "none"})
}

// withInterval writes a mean; of one value there is no interval.
func withInterval(mean, half float64, format, unit string) string {
	text := fmt.Sprintf(format, mean) + unit
	if math.IsNaN(half) {
		return text
	}
	return text + fmt.Sprintf(" ("+format+" to "+format+")", mean-half, mean+half)
}
