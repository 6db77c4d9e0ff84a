package classify

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Errors of classifiers and models.
var (
	// ErrNoTraining: the matrix has no observed cell.
	ErrNoTraining = errors.New("classify: no training cells")
	// ErrRow: a row has the wrong length, an infinite cell, or a standard deviation that is none.
	ErrRow = errors.New("classify: malformed row")
)

// Classifiers lists every classifier, sorted by name.
func Classifiers() []Descriptor {
	return []Descriptor{
		averageDescriptor,
		cfDescriptor,
		cfBiasDescriptor,
		cfLogDescriptor,
		cfShrunkDescriptor,
		gaussDescriptor,
		knnDescriptor,
		localDescriptor,
		lshDescriptor,
		meanDescriptor,
		svdDescriptor,
	}
}

// Default is the name of the classifier used where none is named.
const Default = "cf"

// Lookup returns the classifier of that name, or an error that lists the known
// ones.
func Lookup(name string) (Descriptor, error) {
	all := Classifiers()
	names := make([]string, len(all))
	for i, d := range all {
		if d.Name == name {
			return d, nil
		}
		names[i] = d.Name
	}
	return Descriptor{}, fmt.Errorf("unknown classifier %q; known: %s", name, strings.Join(names, ", "))
}

// observed returns the columns and values of a row's known cells, and checks their
// deviations, which may be nil.
func observed(row, deviations []float64, columns int) (at []int, values []float64, err error) {
	if len(row) != columns {
		return nil, nil, fmt.Errorf("%w: %d cells for %d columns", ErrRow, len(row), columns)
	}
	if deviations != nil && len(deviations) != columns {
		return nil, nil, fmt.Errorf("%w: %d deviations for %d columns", ErrRow, len(deviations), columns)
	}
	for j, v := range row {
		if math.IsInf(v, 0) {
			return nil, nil, fmt.Errorf("%w: column %d is infinite", ErrRow, j)
		}
		if !math.IsNaN(v) && deviations != nil && !(deviations[j] >= 0 && deviations[j] <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("%w: the standard deviation of column %d is %v; 0 is exact", ErrRow, j, deviations[j])
		}
		if !math.IsNaN(v) {
			at, values = append(at, j), append(values, v)
		}
	}
	return at, values, nil
}

// coverage is the share of future cells an interval is to hold.
const coverage = 0.95

// halfWidths turns held-out residuals into the half width of each column's
// prediction interval: the ⌈(n+1)·coverage⌉-th smallest magnitude, which holds
// a new residual with that probability whatever their distribution (split
// conformal prediction; Lei 2018, §2.2). A column with too few residuals uses
// all columns' together; NaN where those are too few as well.
func halfWidths(residuals [][]float64) []float64 {
	pooled := conformal(slices.Concat(residuals...))
	out := make([]float64, len(residuals))
	for j, r := range residuals {
		if out[j] = conformal(r); math.IsNaN(out[j]) {
			out[j] = pooled
		}
	}
	return out
}

func conformal(residuals []float64) float64 {
	rank := int(math.Ceil(float64(len(residuals)+1) * coverage))
	if rank > len(residuals) {
		return math.NaN()
	}
	magnitudes := make([]float64, len(residuals))
	for i, r := range residuals {
		magnitudes[i] = math.Abs(r)
	}
	slices.Sort(magnitudes)
	return magnitudes[rank-1]
}

// cells brackets a completed row: given cells stay as they are.
func cells(row, completed, width []float64, known func(j int) bool) []Cell {
	out := make([]Cell, len(row))
	for j, v := range row {
		switch {
		case !math.IsNaN(v):
			out[j] = Cell{Value: v, Low: v, High: v, Measured: true, Known: true}
		case known(j):
			out[j] = Cell{Value: completed[j], Low: completed[j] - width[j], High: completed[j] + width[j], Known: true}
		default:
			out[j] = Cell{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		}
	}
	return out
}
