package gauss

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Local completes rows from the training rows that resemble them: the
// conditional distribution is that of a Model whose rows are weighted by how
// near their known cells are, with the Model itself as prior (locally weighted
// regression; Atkeson 1997, §2–4). Where rows fall into families with different
// shapes, one covariance for all describes none of them. It is safe for
// concurrent use.
type Local struct {
	*Model
	away      []float64   // row-major: the filled rows less the model's mean
	unsure    [][]float64 // by row, columns×columns: covariance of what its noise leaves open; nil where it has none
	deviation []float64   // per column, of the rows
	bandwidth float64
	priorRows float64
}

// NewLocal fills the rows by the model they were fitted to; deviations are those given to Fit.
// bandwidth is the distance, in standard deviations, at which a row weighs 0.61;
// priorRows is how many rows the model counts as. ErrShape where either is not above zero.
func NewLocal(m *Model, rows, deviations [][]float64, bandwidth, priorRows float64) (*Local, error) {
	if !(bandwidth > 0) || !(priorRows > 0) {
		return nil, fmt.Errorf("%w: bandwidth %v and prior rows %v must be above 0", ErrShape, bandwidth, priorRows)
	}
	l := &Local{Model: m, bandwidth: bandwidth, priorRows: priorRows, deviation: make([]float64, m.columns)}
	l.away = make([]float64, len(rows)*m.columns)
	for i, row := range rows {
		if err := l.fillLine(i, row, deviations); err != nil {
			return nil, err
		}
		line := l.line(i)
		for j := range line {
			line[j] -= m.mean[j]
			l.deviation[j] += line[j] * line[j] / float64(len(rows))
		}
	}
	for j, v := range l.deviation {
		l.deviation[j] = math.Sqrt(v)
	}
	return l, nil
}

// With is the same with another bandwidth, > 0: everything else is shared.
func (l *Local) With(bandwidth float64) *Local {
	out := *l
	out.bandwidth = bandwidth
	return &out
}

// fillLine completes training row i, and keeps of a noisy one how unsure that is.
func (l *Local) fillLine(i int, row []float64, deviations [][]float64) error {
	ignored := make([]float64, l.columns)
	if deviations == nil || !noisy(row, deviations[i]) {
		return l.Model.Complete(row, nil, l.line(i), ignored)
	}
	if err := l.Model.Complete(row, deviations[i], l.line(i), ignored); err != nil {
		return err
	}
	var s solver
	c, err := s.condition(l.Model, l.known(row), l.all, deviations[i])
	if err != nil {
		return err
	}
	if l.unsure == nil {
		l.unsure = make([][]float64, len(l.away)/l.columns)
	}
	l.unsure[i] = c.left.Data
	return nil
}

func (l *Local) line(i int) []float64 { return l.away[i*l.columns : (i+1)*l.columns] }

// Complete is Model.Complete with weighted rows. Cost: O(rows·known·columns).
func (l *Local) Complete(row, noise, mean, deviation []float64) error {
	if err := l.check(row, noise, mean, deviation); err != nil {
		return err
	}
	at := l.known(row)
	local, cross, variance := l.moments(row, noise, at)
	solved, err := solveLocal(cross, noise, at)
	if err != nil {
		return err
	}
	for j, v := range row {
		if kept(v, noise, j, l.informed[j]) {
			mean[j], deviation[j] = v, noiseOf(noise, j)
			continue
		}
		mean[j] = local[j]
		left := variance[j]
		for a, i := range at {
			w := solved.Data[a*l.columns+j]
			mean[j] += w * (row[i] - local[i])
			left -= w * cross.Data[a*l.columns+j]
		}
		deviation[j] = math.Sqrt(max(0, left))
	}
	return nil
}

// solveLocal is the weights of the known columns, known×columns, from their covariances with
// all columns.
func solveLocal(cross blas64.General, noise []float64, at []int) (blas64.General, error) {
	if len(at) == 0 {
		return blas64.General{}, nil
	}
	var s solver
	known := general(&s.known, len(at), len(at))
	for a := range at {
		for b := a; b < len(at); b++ {
			known.Data[a*len(at)+b] = cross.Data[a*cross.Stride+at[b]]
		}
		n := noiseOf(noise, at[a])
		known.Data[a*len(at)+a] += n * n
	}
	return s.solveKnown(len(at), cross)
}

// leastExponent leaves out rows that weigh less than 10⁻⁹: a million of them are
// a thousandth of one (chosen by us).
const leastExponent = 20.7

// nearness is what the distance to a row is measured by: the known cells less the mean, and
// one over the deviation of each, 0 where its column does not vary.
type nearness struct{ shown, scale []float64 }

// nearness of a row: noise adds to the deviation of a column, and a cell counts as much of
// one as its variance is not noise, all of them as one at least. The root of that number is
// in the scale.
func (l *Local) nearness(row, noise []float64, at []int) nearness {
	out := nearness{make([]float64, len(at)), make([]float64, len(at))}
	count := 0.0
	for a, j := range at {
		out.shown[a] = row[j] - l.mean[j]
		if s := l.deviation[j]; s > 0 {
			out.scale[a] = 1 / math.Hypot(s, noiseOf(noise, j))
			count += s * out.scale[a] * s * out.scale[a]
		}
	}
	for a := range out.scale {
		out.scale[a] /= math.Sqrt(max(1, count))
	}
	return out
}

// weight of training row i is exp(−d²/2h²) with d the root mean square distance
// over the known columns that vary, in their standard deviations.
func (l *Local) weight(i int, at []int, to nearness) float64 {
	line := l.line(i)
	var sum float64
	for a, j := range at {
		d := (to.shown[a] - line[j]) * to.scale[a]
		sum += d * d
	}
	if exponent := sum / (2 * l.bandwidth * l.bandwidth); exponent < leastExponent {
		return math.Exp(-exponent)
	}
	return 0
}

// moments returns the weighted mean, the covariances of the known columns with
// all (known×columns), and the variances, the model counted as priorRows rows.
// Everything is summed as deviations from the model's mean in one pass.
func (l *Local) moments(row, noise []float64, at []int) (mean []float64, cross blas64.General, variance []float64) {
	total, n := l.priorRows, l.columns
	mean, variance = make([]float64, n), make([]float64, n)
	crossed := make([]float64, len(at)*n)
	to := l.nearness(row, noise, at)
	for i := range len(l.away) / n {
		w := l.weight(i, at, to)
		if w == 0 {
			continue
		}
		total += w
		line := l.line(i)
		for j, d := range line {
			mean[j] += w * d
			variance[j] += w * d * d
		}
		for a, k := range at {
			along, sums := w*line[k], crossed[a*n:(a+1)*n]
			for j, d := range line {
				sums[j] += along * d
			}
		}
		if l.unsure != nil && l.unsure[i] != nil {
			l.addUnsure(l.unsure[i], w, at, crossed, variance)
		}
	}
	for j := range mean {
		mean[j] /= total
		variance[j] = (variance[j]+l.priorRows*l.cov.At(j, j))/total - mean[j]*mean[j]
	}
	for a, i := range at {
		sums := crossed[a*n : (a+1)*n]
		for j := range sums {
			sums[j] = (sums[j]+l.priorRows*l.cov.At(i, j))/total - mean[i]*mean[j]
		}
	}
	for j, v := range l.mean {
		mean[j] += v
	}
	return mean, blas64.General{Rows: len(at), Cols: n, Stride: n, Data: crossed}, variance
}

// addUnsure adds the weighted covariance of what a noisy row leaves open.
func (l *Local) addUnsure(left []float64, weight float64, at []int, crossed, variance []float64) {
	for j := range variance {
		variance[j] += weight * left[j*l.columns+j]
	}
	for a, k := range at {
		row, sums := left[k*l.columns:(k+1)*l.columns], crossed[a*l.columns:(a+1)*l.columns]
		for j, v := range row {
			sums[j] += weight * v
		}
	}
}
