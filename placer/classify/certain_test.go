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

// A noisy cell that a classifier of ours is shown comes back as a posterior: no wider than its
// noise, nearer to what the others say the noisier it is, and never narrower than its noise
// and the held-out intervals of the others together allow.
func TestPosteriorOfNoisyCells(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gauss", "local", "ridge", "stack"} {
		m := scores(rand.New(rand.NewPCG(5, 5)), 80, 8, 2)
		truth := m.Rows[79]
		m.Rows = m.Rows[:79]
		model, err := get(t, name).Fit(m, 1)
		if err != nil {
			t.Fatal(err)
		}
		row := slices.Clone(truth)
		row[4] = nan
		without, err := model.Complete(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		row[4] = truth[4] + 30
		last := math.Inf(1)
		for _, noise := range []float64{0.5, 3, 10, 40} {
			deviations := make([]float64, 8)
			deviations[4] = noise
			got, err := model.Complete(row, deviations)
			if err != nil {
				t.Fatal(err)
			}
			c, away := got[4], math.Abs(got[4].Value-without[4].Value)
			prior := (without[4].High - without[4].Low) / 2
			least := 1 / math.Sqrt(1/(prior*prior)+1/(1.96*noise*1.96*noise))
			if half := (c.High - c.Low) / 2; !c.Measured || half > 1.97*noise || half < 0.8*least || away > last {
				t.Errorf("%s, noise %v: %+v, without it %+v", name, noise, c, without[4])
			}
			last = away
		}
		if last > 3 {
			t.Errorf("%s: a deviation of 40 points still moves the cell by %.1f from what seven others say", name, last)
		}
	}
}

// Training rows whose cells are noisy teach what the exact ones among them teach: with the
// deviations told, the error on new rows is less than with every cell taken as exact.
func TestNoisyRowsAreWeakRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 11))
	all := scores(rng, 300, 8, 1)
	train := classify.Matrix{Columns: all.Columns, Rows: all.Rows[:80]}
	for i, row := range train.Rows {
		deviations := make([]float64, 8)
		for j := range row {
			if (i+j)%2 == 0 {
				deviations[j] = 40
				row[j] += 40 * rng.NormFloat64()
			}
		}
		train.Deviations = append(train.Deviations, deviations)
	}
	told, untold := train, train
	untold.Deviations = nil
	for _, name := range []string{"gauss", "local", "ridge", "stack"} {
		var failure [2]float64
		for n, m := range []classify.Matrix{told, untold} {
			model, err := get(t, name).Fit(m, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i, truth := range all.Rows[80:] {
				row := slices.Repeat([]float64{nan}, 8)
				row[i%8], row[(i+3)%8] = truth[i%8], truth[(i+3)%8]
				cells, err := model.Complete(row, nil)
				if err != nil {
					t.Fatal(err)
				}
				for j, c := range cells {
					failure[n] += math.Abs(c.Value - truth[j])
				}
			}
		}
		t.Logf("%s: %.2f points with deviations, %.2f without", name, failure[0]/220/8, failure[1]/220/8)
		if failure[0] >= failure[1] {
			t.Errorf("%s: deviations made it worse: %.0f against %.0f", name, failure[0], failure[1])
		}
	}
}
