package classify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// levels are the shares of future cells that intervals are made for; between them half a
// width grows along the normal distribution.
var levels = [...]float64{0.5, 0.8, 0.95}

// halves are half widths, by level.
type halves [len(levels)]float64

// normalHalves are those of a normal distribution, in standard deviations.
var normalHalves = func() (out halves) {
	for i, level := range levels {
		out[i] = normalHalf(level)
	}
	return out
}()

func normalHalf(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }

// mostLevel bounds the level of an interval: beyond it hardly any set of rows has
// residuals that would say anything.
const mostLevel = 0.99

// Interval is where the cell's value lies with a probability of level, from 0 to 0.99, by
// held-out residuals; that of 0.95 is Low to High. Intervals of higher levels hold those of
// lower ones, and all hold the value. NaN where the cell has no interval.
func (c Cell) Interval(level float64) (low, high float64) {
	share := c.share(min(max(level, 0), mostLevel))
	if c.relative && c.Value > 0 {
		return c.Value * math.Pow(c.Low/c.Value, share), c.Value * math.Pow(c.High/c.Value, share)
	}
	return c.Value - share*(c.Value-c.Low), c.Value + share*(c.High-c.Value)
}

// share of the half width of the 95 % interval that one of this level has.
func (c Cell) share(level float64) float64 {
	shape := c.shape
	if shape == [len(levels) - 1]float64{} { // a normal distribution's
		for i := range shape {
			shape[i] = normalHalves[i] / normalHalves[len(levels)-1]
		}
	}
	z := normalHalf(level)
	lowZ, low := 0.0, 0.0
	for i, high := range shape {
		highZ := normalHalves[i]
		if z <= highZ {
			return low + (high-low)*(z-lowZ)/(highZ-lowZ)
		}
		lowZ, low = highZ, high
	}
	return low + (1-low)*(z-lowZ)/(normalHalves[len(shape)]-lowZ)
}

// predictedCell brackets a predicted value by half widths; those of a relative one are of
// its logarithm.
func predictedCell(value float64, half halves, relative bool) Cell {
	c := Cell{Value: value, Known: true, relative: relative}
	widest := half[len(half)-1]
	if relative {
		widest = min(widest, mostLog)
	}
	for i := range c.shape {
		c.shape[i] = min(1, half[i]/half[len(half)-1])
	}
	if relative {
		c.Low, c.High = value*math.Exp(-widest), value*math.Exp(widest)
	} else {
		c.Low, c.High = value-widest, value+widest
	}
	return c
}

// intervals turn the deviations that a model gives into half widths, by how many cells it
// was shown and by column.
type intervals struct {
	counts   []int      // of shown cells, ascending
	half     [][]halves // by count and column, in deviations; empty where nothing could be held out
	certain  float64    // the deviation of a cell that counts as half a shown one
	spread   []float64  // by column, where the model gives no deviations; else nil
	relative bool       // half widths are of logarithms
	least    []float64  // by column, of a relative model: the least training cell
}

// residual is one held-out cell over its deviation, in size.
type residual struct {
	group, column, count int
	size                 float64
}

// steadyGroups is how many groups of rows a number of shown cells needs for half of what its
// own residuals say of it to count, against those of all numbers; steadyColumn is the same
// of a column against all columns (chosen by us).
const (
	steadyGroups = 4
	steadyColumn = 8
)

// leastHalf is the narrowest half of an interval, in deviations: residuals of exactly 0
// are of cells that no instrument tells apart.
const leastHalf = 1e-3

// learn takes quantiles of held-out residuals: of each number of shown cells, drawn to those
// of all numbers, times those of each column, drawn to 1, and as much wider as a Student
// distribution of as many groups of rows is than the normal one (Student 1908): two rows
// have a wide interval, not none.
func (in *intervals) learn(found []residual, columns int) {
	if len(found) == 0 {
		return
	}
	for _, r := range found {
		if !slices.Contains(in.counts, r.count) {
			in.counts = append(in.counts, r.count)
		}
	}
	slices.Sort(in.counts)
	in.half = make([][]halves, len(in.counts))
	for k := range in.half {
		in.half[k] = make([]halves, columns)
	}
	all := groupsOf(found)
	for i, level := range levels {
		wider := student(level, all)
		base, ofColumn := quantilesBy(found, level, in.counts, columns)
		for k := range in.half {
			for j := range in.half[k] {
				in.half[k][j][i] = max(wider*base[k]*ofColumn[j], leastHalf*normalHalves[i])
				if i > 0 {
					in.half[k][j][i] = max(in.half[k][j][i], in.half[k][j][i-1])
				}
			}
		}
	}
}

// student is how much wider an interval of so many groups is than one of many.
func student(level float64, groups int) float64 {
	t := distuv.StudentsT{Sigma: 1, Nu: float64(max(1, groups-1))}
	return t.Quantile((1+level)/2) / normalHalf(level)
}

// quantilesBy are the quantiles by number of shown cells, and factors by column.
func quantilesBy(found []residual, level float64, counts []int, columns int) (base, ofColumn []float64) {
	pooled := quantileOf(found, level)
	base, ofColumn = make([]float64, len(counts)), make([]float64, columns)
	byCount := map[int]float64{}
	for k, count := range counts {
		own := matching(found, func(r residual) bool { return r.count == count })
		base[k] = drawn(quantileOf(own, level), pooled, groupsOf(own), steadyGroups)
		byCount[count] = base[k]
	}
	for j := range ofColumn {
		own := matching(found, func(r residual) bool { return r.column == j })
		for i := range own {
			own[i].size /= byCount[own[i].count]
		}
		ofColumn[j] = drawn(quantileOf(own, level), 1, groupsOf(own), steadyColumn)
	}
	return base, ofColumn
}

// drawn is the geometric mean of a quantile and what it is drawn to, which counts as steady
// groups.
func drawn(own, to float64, groups int, steady float64) float64 {
	if groups == 0 {
		return to
	}
	to = max(to, leastHalf)
	w := float64(groups) / (float64(groups) + steady)
	return to * math.Pow(max(own, leastHalf)/to, w)
}

func matching(found []residual, is func(residual) bool) []residual {
	var out []residual
	for _, r := range found {
		if is(r) {
			out = append(out, r)
		}
	}
	return out
}

func groupsOf(found []residual) int {
	seen := map[int]bool{}
	for _, r := range found {
		seen[r.group] = true
	}
	return len(seen)
}

// quantileOf the sizes: the (n+1)·level-th smallest, between two of them on the line, which
// holds a new one with that probability whatever their distribution (split conformal
// prediction; Lei 2018, §2.2); the largest where there are too few. 0 of none.
func quantileOf(found []residual, level float64) float64 {
	n := len(found)
	if n == 0 {
		return 0
	}
	sizes := make([]float64, n)
	for i, r := range found {
		sizes[i] = r.size
	}
	slices.Sort(sizes)
	rank := min(max(float64(n+1)*level-1, 0), float64(n-1))
	below := int(rank)
	above := min(below+1, n-1)
	return sizes[below] + (rank-float64(below))*(sizes[above]-sizes[below])
}

// at are the half widths of a column, in deviations, when so many cells are shown; NaN where
// nothing is known of them.
func (in *intervals) at(shown float64, column int) halves {
	if len(in.half) == 0 {
		return halves{math.NaN(), math.NaN(), math.NaN()}
	}
	below, above, share := between(in.counts, shown)
	var out halves
	for i := range out {
		out[i] = (1-share)*in.half[below][column][i] + share*in.half[above][column][i]
	}
	return out
}

// between finds where a number of shown cells lies among ascending counts, on a logarithmic
// scale.
func between(counts []int, shown float64) (below, above int, share float64) {
	for above < len(counts)-1 && float64(counts[above]) < shown {
		above++
	}
	below = max(0, above-1)
	low, high := float64(counts[below]), float64(counts[above])
	if shown <= low || low == high {
		return below, below, 0
	}
	return below, above, min(1, math.Log((1+shown)/(1+low))/math.Log((1+high)/(1+low)))
}

// shownCells counts the cells of a row, a noisy one for less.
func (in *intervals) shownCells(row, noise []float64) float64 {
	n := 0.0
	for j, v := range row {
		if !math.IsNaN(v) {
			n += in.weight(noise, j)
		}
	}
	return n
}

// weight of a cell against an exact one.
func (in *intervals) weight(noise []float64, j int) float64 {
	if noise == nil || !(noise[j] > 0) {
		return 1
	}
	if !(in.certain > 0) {
		return 0
	}
	return 1 / (1 + noise[j]*noise[j]/(in.certain*in.certain))
}

// newIntervals prepares what does not depend on residuals. own: the model gives deviations.
func newIntervals(m Matrix, own bool) *intervals {
	in := &intervals{certain: certainWithin * rangeOf(m.Rows), relative: m.Ratio}
	if !own {
		in.spread = spreads(m)
	}
	if m.Ratio {
		in.least = make([]float64, len(m.Columns))
		for j := range in.least {
			in.least[j] = math.Inf(1)
			for _, row := range m.Rows {
				if row[j] > 0 {
					in.least[j] = min(in.least[j], row[j])
				}
			}
		}
	}
	return in
}

// inUnit is a value in the unit of half widths. A speed that a model puts at 0 or below is
// first raised to the least that was seen in its column.
func (in *intervals) inUnit(v float64, column int) float64 {
	if in.relative {
		return math.Log(in.positive(v, column))
	}
	return v
}

func (in *intervals) positive(v float64, column int) float64 {
	if in.relative && !(v > 0) && !math.IsInf(in.least[column], 1) {
		return in.least[column]
	}
	return v
}

func (in *intervals) deviation(given float64, column int) float64 {
	if in.spread != nil {
		return in.spread[column]
	}
	return given
}

// spreads are standard deviations by column, of logarithms where cells are ratios, and
// cellNoise of all cells at least.
func spreads(m Matrix) []float64 {
	out, count, sum := make([]float64, len(m.Columns)), make([]float64, len(m.Columns)), make([]float64, len(m.Columns))
	square, n := 0.0, 0.0
	for _, row := range m.Rows {
		for j, v := range row {
			if m.Ratio {
				v = math.Log(v)
			}
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			sum[j] += v
			out[j] += v * v
			count[j]++
			square, n = square+v*v, n+1
		}
	}
	least := cellNoise * math.Sqrt(square/max(1, n))
	for j := range out {
		if count[j] > 0 {
			mean := sum[j] / count[j]
			out[j] = math.Sqrt(max(0, out[j]/count[j]-mean*mean))
		}
		out[j] = max(out[j], least, math.SmallestNonzeroFloat32)
	}
	return out
}
