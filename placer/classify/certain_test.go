package classify_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

// Every classifier: deviations of 0 are no deviations, and a cell that says nothing changes
// nothing.
func TestDeviations(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			m := scores(rand.New(rand.NewPCG(1, 1)), 60, 8, 1)
			model, err := d.New().Fit(m, 7)
			if err != nil {
				t.Fatal(err)
			}
			with := m
			for range m.Rows {
				with.Deviations = append(with.Deviations, make([]float64, 8))
			}
			same, err := d.New().Fit(with, 7)
			if err != nil {
				t.Fatal(err)
			}
			row := []float64{40, nan, nan, 55, nan, nan, nan, nan}
			want, _ := model.Complete(row, nil)
			if got, err := same.Complete(row, make([]float64, 8)); err != nil || !slices.Equal(got, want) {
				t.Errorf("deviations of 0 give %+v, %v; without: %+v", got, err, want)
			}
			lost, wild := slices.Clone(row), make([]float64, 8)
			lost[3], wild[3], row[3] = nan, 1e6, 1000
			want, _ = model.Complete(lost, nil)
			got, err := model.Complete(row, wild)
			if err != nil {
				t.Fatal(err)
			}
			for j := range got {
				if !got[j].Known || math.Abs(got[j].Value-want[j].Value) > 0.1 {
					t.Errorf("a cell of a deviation of a million: cell %d is %+v, without it %+v", j, got[j], want[j])
				}
			}
		})
	}
}

func TestBadDeviations(t *testing.T) {
	t.Parallel()
	for _, d := range classify.Classifiers() {
		for _, ratio := range []bool{false, true} {
			m := classify.Matrix{Columns: []string{"a", "b"}, Rows: [][]float64{{1, 2}, {2, 4}}, Ratio: ratio}
			model, err := d.New().Fit(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range [][]float64{{1}, {-1, 0}, {nan, 0}, {math.Inf(1), 0}} {
				if _, err := model.Complete([]float64{1, 2}, bad); !errors.Is(err, classify.ErrRow) {
					t.Errorf("%s: deviations %v: %v", d.Name, bad, err)
				}
				m.Deviations = [][]float64{bad, nil}
				if _, err := d.New().Fit(m, 1); !errors.Is(err, classify.ErrRow) {
					t.Errorf("%s: fit to deviations %v: %v", d.Name, bad, err)
				}
			}
			m.Deviations = [][]float64{{0, 0}}
			if _, err := d.New().Fit(m, 1); !errors.Is(err, classify.ErrRow) {
				t.Errorf("%s: deviations of one of two rows: %v", d.Name, err)
			}
		}
	}
}

// The reference's own noise is in every ratio but its own.
func TestRelativeDeviations(t *testing.T) {
	t.Parallel()
	m := classify.Matrix{Columns: []string{"a", "b"}, Rows: [][]float64{{10, 20}, {5, nan}}, Deviations: [][]float64{{1, 2}, nil}}
	got := classify.RelativeTo(m, 0)
	if len(got.Deviations) != 1 || got.Deviations[0][0] != 0 || math.Abs(got.Deviations[0][1]-math.Hypot(0.2, 0.2)) > 1e-12 {
		t.Errorf("%v", got.Deviations)
	}
}
