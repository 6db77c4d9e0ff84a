package network

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Percent is a part of a hundred; NaN where it is not known.
type Percent float64

// unknownPercent is said where there is nothing to compare.
var unknownPercent = Percent(math.NaN())

// Known reports that it is a number.
func (p Percent) Known() bool { return !math.IsNaN(float64(p)) }

// MarshalJSON writes what is not known as null.
func (p Percent) MarshalJSON() ([]byte, error) {
	if !p.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(float64(p)*1000) / 1000)
}

// UnmarshalJSON reads null as not known.
func (p *Percent) UnmarshalJSON(text []byte) error {
	v := math.NaN()
	if string(text) != "null" {
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("percent: %w", err)
		}
	}
	*p = Percent(v)
	return nil
}

// String has one digit after the point.
func (p Percent) String() string {
	if !p.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", float64(p))
}

// Parts are the shares of the servers, least loaded first, that tables C.1 to C.4
// show.
var Parts = [5]int{25, 50, 75, 95, 100}

// Deviations are the mean deviations over the parts of the servers.
type Deviations [5]Percent

// All is the deviation over all servers.
func (d Deviations) All() Percent { return d[len(d)-1] }

// Deviation says how far generated traffic is from the original. With x the
// original, y what was generated, s a server and b a bin, in percent:
//
//	average      mean over s of |mean_b y − mean_b x| / mean_b x
//	fluctuation  mean over s and b of |y_sb − x_sb| / mean_b x_s
//	locality     mean over s of Σ_j |y_sj − x_sj| / Σ_j x_sj, j all nodes and both directions
//
// The source never defines it; these are the definitions of this project. A bin's
// own relative error would say most of the bins with the least traffic, so the
// fluctuation is relative to the server's mean. Servers without traffic in the
// original are left out.
type Deviation struct {
	Average Deviations `json:"average"`
	// Fluctuation is over what is left within the model's resolution: the mean of every
	// run of a window. FluctuationBins is over single bins.
	Fluctuation     Deviations `json:"fluctuation"`
	FluctuationBins Deviations `json:"fluctuation_bins"`
	Locality        Deviations `json:"locality"`

	// Pairs are the deviations over pairs of nodes, weighted by what they move in the
	// original; then the unweighted mean, which the many small pairs decide.
	Pairs           Percent `json:"pairs"`
	PairsSameRack   Percent `json:"pairs_same_rack"`
	PairsOtherRack  Percent `json:"pairs_other_rack"`
	PairsUnweighted Percent `json:"pairs_unweighted"`
	// Racks is the same over pairs of racks.
	Racks Percent `json:"racks"`
	// Elsewhere is the part of what was generated between nodes that exchange nothing in
	// the original.
	Elsewhere Percent `json:"elsewhere"`
	// Total is how much more was generated than the original has.
	Total Percent `json:"total"`

	// The errors of the servers, sorted: quantiles 0 to 100 %.
	Temporal Quantiles `json:"temporal"`
	Spatial  Quantiles `json:"spatial"`
}

// Quantiles are the 0 to 100 % quantiles of the errors of servers.
type Quantiles []Percent

// At is the error that so many percent of the servers do not exceed.
func (q Quantiles) At(percent int) Percent {
	if len(q) == 0 {
		return unknownPercent
	}
	return q[percent]
}

// serverErrors are the errors of one server.
type serverErrors struct {
	original                               int64
	average, fluctuation, bins, neighbours float64
}

// Compare says how far generated traffic is from the original, whose pairs it must
// have (see Regenerate). The windows say what the model's resolution is.
func Compare(original, generated *Activity, windows []Window) (Deviation, error) {
	if !original.Topology.Equal(generated.Topology) || len(original.bins) != len(generated.bins) || len(original.moved) != len(generated.moved) {
		return Deviation{}, fmt.Errorf("%w: two activities that are not of the same cluster and span", ErrTopology)
	}
	errs := compareServers(original, generated, blocksOf(original.Span, windows))
	d := Deviation{
		Average:         meansOf(errs, func(e serverErrors) float64 { return e.average }),
		Fluctuation:     meansOf(errs, func(e serverErrors) float64 { return e.fluctuation }),
		FluctuationBins: meansOf(errs, func(e serverErrors) float64 { return e.bins }),
		Locality:        meansOf(errs, func(e serverErrors) float64 { return e.neighbours }),
		Temporal:        quantilesOf(errs, func(e serverErrors) float64 { return e.fluctuation }),
		Spatial:         quantilesOf(errs, func(e serverErrors) float64 { return e.neighbours }),
		Racks:           weighted(original.racks, generated.racks, func(int) bool { return true }),
		Elsewhere:       PercentOf(float64(generated.elsewhere), float64(generated.total)),
		Total:           PercentOf(float64(generated.total-original.total), float64(original.total)),
	}
	cloud := func(p nodePair) bool {
		return original.Topology.isCloud(p.source) || original.Topology.isCloud(p.destination)
	}
	same := func(i int) bool { return !cloud(original.pairs[i]) && original.sameRack(original.pairs[i]) }
	d.Pairs = weighted(original.moved, generated.moved, func(int) bool { return true })
	d.PairsSameRack = weighted(original.moved, generated.moved, same)
	d.PairsOtherRack = weighted(original.moved, generated.moved, func(i int) bool { return !same(i) })
	d.PairsUnweighted = unweighted(original.moved, generated.moved)
	return d, nil
}

// blocksOf are the runs of bins over which a model with these windows does not
// change.
func blocksOf(s Span, windows []Window) [][2]int {
	cal := newCalendar(s, windows)
	var out [][2]int
	for w := range windows {
		for _, run := range cal.instances(w) {
			out = append(out, daysOf(run, s)...)
		}
	}
	return out
}

// daysOf cuts a run at midnights: a window that is active all day has a run that
// ends with the capture, and a month of it would hide what days have.
func daysOf(run [2]int, s Span) [][2]int {
	perDay := max(1, int(day/s.Bin))
	offset := int(s.From % day / s.Bin)
	var out [][2]int
	for first := run[0]; first < run[1]; {
		end := min(run[1], (first+offset)/perDay*perDay+perDay-offset)
		out = append(out, [2]int{first, end})
		first = end
	}
	return out
}

func compareServers(original, generated *Activity, blocks [][2]int) []serverErrors {
	bins := original.Span.Bins()
	away := pairErrors(original, generated)
	var out []serverErrors
	for s := range original.Topology.Servers() {
		x, y := original.bins[s*bins:(s+1)*bins], generated.bins[s*bins:(s+1)*bins]
		e := serverErrors{}
		var sumX, sumY, blockErrors, binErrors int64
		for _, run := range blocks {
			var blockX, blockY int64
			for b := run[0]; b < run[1]; b++ {
				blockX += x[b]
				blockY += y[b]
				binErrors += distance(x[b], y[b])
			}
			blockErrors += distance(blockX, blockY)
			sumX += blockX
			sumY += blockY
		}
		if sumX == 0 {
			continue
		}
		total := float64(sumX)
		e.original = sumX
		e.average, e.fluctuation, e.bins = float64(distance(sumX, sumY))/total, float64(blockErrors)/total, float64(binErrors)/total
		e.neighbours = away[s] / total
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b serverErrors) int { return cmp.Compare(a.original, b.original) })
	return out
}

// pairErrors adds up, for every server, how far its pairs are from the original.
// What was generated on pairs that the original does not have is not known by server
// and counts in Elsewhere only.
func pairErrors(original, generated *Activity) []float64 {
	out := make([]float64, original.Topology.Nodes())
	for i, p := range original.pairs {
		away := float64(distance(original.moved[i], generated.moved[i]))
		out[p.source] += away
		out[p.destination] += away
	}
	return out
}

func distance(a, b int64) int64 {
	if a > b {
		return a - b
	}
	return b - a
}

// meansOf are the means over the parts of the servers, which are sorted by load.
func meansOf(errs []serverErrors, of func(serverErrors) float64) Deviations {
	var out Deviations
	for i, part := range Parts {
		n := len(errs) * part / 100
		out[i] = unknownPercent
		if n == 0 {
			continue
		}
		sum := 0.0
		for _, e := range errs[:n] {
			sum += of(e)
		}
		out[i] = Percent(100 * sum / float64(n))
	}
	return out
}

func quantilesOf(errs []serverErrors, of func(serverErrors) float64) Quantiles {
	if len(errs) == 0 {
		return nil
	}
	all := make([]float64, len(errs))
	for i, e := range errs {
		all[i] = 100 * of(e)
	}
	slices.Sort(all)
	out := make(Quantiles, 101)
	for p := range out {
		out[p] = Percent(all[(len(all)-1)*p/100])
	}
	return out
}

// weighted is the mean of |y − x|/x weighted by x, over those that count.
func weighted(x, y []int64, counts func(i int) bool) Percent {
	var away, all int64
	for i := range x {
		if counts(i) {
			away += distance(x[i], y[i])
			all += x[i]
		}
	}
	return PercentOf(float64(away), float64(all))
}

func unweighted(x, y []int64) Percent {
	sum, n := 0.0, 0
	for i := range x {
		if x[i] > 0 {
			sum += float64(distance(x[i], y[i])) / float64(x[i])
			n++
		}
	}
	return PercentOf(sum, float64(n))
}

// PercentOf is a part in percent of all; not known of nothing.
func PercentOf(part, all float64) Percent {
	if all == 0 {
		return unknownPercent
	}
	return Percent(100 * part / all)
}

// PairDeviation says how far what pairs of servers move is from the original, each
// as the fluctuation of a server.
type PairDeviation struct {
	Pairs   int     `json:"pairs"`
	Median  Percent `json:"median"`
	Highest Percent `json:"highest"`
}

// ComparePairs compares the pairs that both activities watch, on some days of the
// week (0 is Monday), apart for pairs in the same rack and in different ones.
func ComparePairs(original, generated *Activity, pairs []ServerPair, windows []Window, firstDay, lastDay int) (sameRack, otherRack PairDeviation) {
	var same, other []float64
	for i, p := range pairs {
		e, known := pairFluctuation(original, generated, i, windows, firstDay, lastDay)
		switch {
		case !known:
		case original.Topology.Rack(p.Source) == original.Topology.Rack(p.Destination):
			same = append(same, e)
		default:
			other = append(other, e)
		}
	}
	return deviationOfPairs(same), deviationOfPairs(other)
}

func deviationOfPairs(errs []float64) PairDeviation {
	if len(errs) == 0 {
		return PairDeviation{Median: unknownPercent, Highest: unknownPercent}
	}
	slices.Sort(errs)
	return PairDeviation{len(errs), Percent(100 * errs[len(errs)/2]), Percent(100 * errs[len(errs)-1])}
}

func pairFluctuation(original, generated *Activity, i int, windows []Window, firstDay, lastDay int) (deviation float64, known bool) {
	bins := original.Span.Bins()
	x, y := original.watched[i*bins:(i+1)*bins], generated.watched[i*bins:(i+1)*bins]
	var away, all int64
	for _, run := range blocksOf(original.Span, windows) {
		at := (original.Span.From + time.Duration(run[0])*original.Span.Bin) % week
		if today := int(at / day); today < firstDay || today > lastDay {
			continue
		}
		var blockX, blockY int64
		for b := run[0]; b < run[1]; b++ {
			blockX += x[b]
			blockY += y[b]
		}
		away += distance(blockX, blockY)
		all += blockX
	}
	if all == 0 {
		return 0, false
	}
	return float64(away) / float64(all), true
}
