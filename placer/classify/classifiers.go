package classify

import (
	"errors"
	"fmt"
	"math"
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
		ridgeDescriptor,
		stackDescriptor,
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
