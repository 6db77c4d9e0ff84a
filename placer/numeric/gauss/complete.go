package gauss

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Complete writes the conditional mean and the conditional standard deviation
// of every cell of a row; NaN marks the missing ones, and noise holds the standard
// deviations of the others, nil for none. An exact cell keeps its value, with deviation 0; a
// noisy one is brought nearer to what the others say of it, the more the noisier it
// is, and what is left is less than its noise. A known cell of a column that is not Informed
// says nothing of others, and stays as it was measured. Cost: O(known³ + known·columns).
//
// It returns ErrShape, ErrNotFinite or ErrSingular; mean and deviation are then
// undefined.
func (m *Model) Complete(row, noise, mean, deviation []float64) error {
	if err := m.check(row, noise, mean, deviation); err != nil {
		return err
	}
	at := m.known(row)
	solved, err := m.project(at, noise)
	if err != nil {
		return err
	}
	for j, v := range row {
		if kept(v, noise, j, m.informed[j]) {
			mean[j], deviation[j] = v, noiseOf(noise, j)
			continue
		}
		mean[j] = m.mean[j]
		variance := m.cov.At(j, j)
		for a, i := range at {
			w := solved.Data[a*solved.Stride+j]
			mean[j] += w * (row[i] - m.mean[i])
			variance -= w * m.cov.At(i, j)
		}
		deviation[j] = math.Sqrt(max(0, variance))
	}
	return nil
}

// kept reports whether a cell is known, and others say nothing of it: it is exact, or nothing
// is known of its column.
func kept(v float64, noise []float64, j int, informed bool) bool {
	return !math.IsNaN(v) && (noiseOf(noise, j) == 0 || !informed)
}

func noiseOf(noise []float64, j int) float64 {
	if noise == nil {
		return 0
	}
	return noise[j]
}

func (m *Model) check(row, noise, mean, deviation []float64) error {
	if len(row) != m.columns || len(mean) != m.columns || len(deviation) != m.columns {
		return fmt.Errorf("%w: %d, %d and %d cells for %d columns", ErrShape, len(row), len(mean), len(deviation), m.columns)
	}
	for j, v := range row {
		if math.IsInf(v, 0) {
			return fmt.Errorf("%w: column %d", ErrNotFinite, j)
		}
	}
	return checkNoise(row, noise)
}

// known lists the cells that say something of others.
func (m *Model) known(row []float64) []int {
	var at []int
	for j, v := range row {
		if !math.IsNaN(v) && m.informed[j] {
			at = append(at, j)
		}
	}
	return at
}

// project returns (Σ_oo + D)⁻¹·Σ_o·, known×columns.
func (m *Model) project(at []int, noise []float64) (blas64.General, error) {
	if len(at) == 0 {
		return blas64.General{}, nil
	}
	var s solver
	return s.solve(m, at, noise, m.block(&s.cross, at, m.all))
}

// Plan returns up to n further columns that are worth knowing most, best first,
// when those in known are known anyhow: each is the one that leaves the least
// total variance of all columns (greedy A-optimality; Krause 2008, §2). It does
// not depend on any value. Columns not allowed are never chosen.
func (m *Model) Plan(known []int, n int, allowed func(column int) bool) ([]int, error) {
	chosen := append([]int(nil), known...)
	var out []int
	for range n {
		best, least := -1, math.Inf(1)
		for j := range m.columns {
			if !m.informed[j] || !allowed(j) || contains(chosen, j) {
				continue
			}
			left, err := m.Leftover(append(chosen[:len(chosen):len(chosen)], j))
			if err != nil {
				return nil, err
			}
			if left < least {
				best, least = j, left
			}
		}
		if best < 0 {
			break
		}
		chosen, out = append(chosen, best), append(out, best)
	}
	return out, nil
}

// Leftover is the sum of conditional variances given the columns at.
func (m *Model) Leftover(at []int) (float64, error) {
	each, err := m.Leftovers(at)
	total := 0.0
	for _, v := range each {
		total += v
	}
	return total, err
}

// Leftovers are the conditional variances of all columns given the columns at; 0 of one
// that no row informs of.
func (m *Model) Leftovers(at []int) ([]float64, error) {
	solved, err := m.project(at, nil)
	if err != nil {
		return nil, err
	}
	out := make([]float64, m.columns)
	for j := range out {
		if !m.informed[j] {
			continue
		}
		out[j] = m.cov.At(j, j)
		for a, i := range at {
			out[j] -= solved.Data[a*solved.Stride+j] * m.cov.At(i, j)
		}
	}
	return out, nil
}

func contains(list []int, v int) bool {
	for _, w := range list {
		if w == v {
			return true
		}
	}
	return false
}
