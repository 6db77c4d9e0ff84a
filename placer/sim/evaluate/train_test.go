package evaluate_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
)

// spy is the column mean, and remembers what it was told.
type spy struct {
	mu    sync.Mutex
	fits  []classify.Matrix
	noise [][]float64 // of the rows to complete
}

type spied struct {
	classify.Model
	spy *spy
}

func (s *spy) Fit(m classify.Matrix, seed uint64) (classify.Model, error) {
	d, err := classify.Lookup("average")
	if err != nil {
		return nil, err
	}
	model, err := d.New().Fit(m, seed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fits = append(s.fits, m)
	return spied{model, s}, err
}

func (m spied) Complete(row, deviations []float64) ([]classify.Cell, error) {
	m.spy.mu.Lock()
	m.spy.noise = append(m.spy.noise, deviations)
	m.spy.mu.Unlock()
	return m.Model.Complete(row, deviations)
}

func (s *spy) descriptor() []classify.Descriptor {
	return []classify.Descriptor{{Name: "spy", New: func() classify.Classifier { return s }}}
}

// points is a set of scores: a row per name, in groups of two.
func points(columns []string, rows map[string][]float64) dataset.Set {
	set := dataset.Set{Name: "points", Kind: dataset.Interference, Columns: columns}
	names := make([]string, 0, len(rows))
	for name := range rows {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		row := dataset.Row{Name: name, Group: name[:1]}
		for _, v := range rows[name] {
			row.Cells = append(row.Cells, []float64{v})
		}
		set.Rows = append(set.Rows, row)
	}
	return set
}

// Where whole groups are left out, training rows know their groups, so that a classifier
// may hold them out likewise; where rows are, they do not.
func TestGroupsAreTold(t *testing.T) {
	t.Parallel()
	set := points([]string{"a", "b", "c"}, map[string][]float64{"x1": {1, 2, 3}, "x2": {2, 3, 4}, "y1": {5, 6, 7}, "z1": {9, 9, 9}})
	for leave, want := range map[evaluate.Leave][]string{evaluate.LeaveRow: nil, evaluate.LeaveGroup: {"y", "z"}} {
		var s spy
		o := evaluate.Defaults()
		o.Leave, o.Seeds = leave, []uint64{1}
		if _, err := evaluate.Run(t.Context(), set, s.descriptor(), o); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.fits, func(m classify.Matrix) bool { return slices.Equal(m.Groups, want) }) {
			t.Errorf("%s: no fit of groups %v", leave, want)
		}
	}
}

// Another cluster teaches by the names of its columns, whatever their order; what is tested
// is left out of it, and nothing else is learnt from.
func TestTrainElsewhere(t *testing.T) {
	t.Parallel()
	here := points([]string{"a", "b", "only here", "c"}, map[string][]float64{"x1": {10, 20, 1, 30}, "q1": {11, 21, 1, 31}})
	there := points([]string{"c", "b", "only there", "a"}, map[string][]float64{"x1": {0, 0, 0, 0}, "y1": {33, 23, 0, 13}, "z1": {35, 25, 0, 15}})
	var s spy
	o := evaluate.Defaults()
	o.Train, o.Seeds, o.Entries = &there, []uint64{1, 2}, 1
	r, err := evaluate.Run(t.Context(), here, s.descriptor(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Train != "points" || r.Columns != 3 || r.Rows != 2 {
		t.Errorf("%+v", r)
	}
	want := [][][]float64{{{13, 23, 33}, {15, 25, 35}}, {{0, 0, 0}, {13, 23, 33}, {15, 25, 35}}}
	var rows [][][]float64
	for _, m := range s.fits {
		rows = append(rows, m.Rows)
	}
	slices.SortFunc(rows, func(a, b [][]float64) int { return len(a) - len(b) })
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("learnt from %v, want %v", rows, want)
	}
	// x1 is learnt without itself: 14, 24, 34 for 10, 20, 30.
	if got := r.Lines[0].ByColumn["b"]; !(got > 3 && got < 7) {
		t.Errorf("mean error in b %v", got)
	}
	speeds := planted(1, 4, 4, 1, 0)
	o.Train = &speeds
	if _, err := evaluate.Run(t.Context(), here, s.descriptor(), o); !errors.Is(err, evaluate.ErrTrain) {
		t.Errorf("speeds teach points: %v", err)
	}
}

// Deviations of a set that says so reach the classifier, in training and of what is shown,
// and an interval is judged with that of the measurement it is compared with.
func TestNoisySet(t *testing.T) {
	t.Parallel()
	set := points([]string{"a", "b"}, map[string][]float64{"x1": {40, 40}, "y1": {60, 60}, "z1": {50, 50}, "v1": {50, 50}})
	for i := range set.Rows {
		set.Rows[i].Deviation = []float64{2, math.NaN()}
	}
	for _, noisy := range []bool{false, true} {
		set.Noisy = noisy
		var s spy
		o := evaluate.Defaults()
		o.Entries, o.Seeds = 1, []uint64{1, 2, 3}
		r, err := evaluate.Run(t.Context(), set, s.descriptor(), o)
		if err != nil {
			t.Fatal(err)
		}
		if told := s.fits[0].Deviations != nil; told != noisy {
			t.Errorf("noisy %v: deviations %v", noisy, s.fits[0].Deviations)
		}
		if shown := slices.ContainsFunc(s.noise, func(n []float64) bool { return n != nil && n[0] == 2 && n[1] == 0 }); shown != noisy {
			t.Errorf("noisy %v: shown with %v", noisy, s.noise)
		}
		held := r.Lines[0].Intervals["a"]
		if len(held) != len(evaluate.IntervalLevels) || held[0].Inside > held[1].Inside || held[1].Inside > held[2].Inside {
			t.Errorf("noisy %v: %+v", noisy, held)
		}
	}
}
