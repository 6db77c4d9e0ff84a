package pq

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Validation is what cross-validation found.
type Validation struct {
	Residuals [][]float64 // per column: held-out value minus prediction
	RMSE      float64     // over all residuals, in the data's unit
}

// Folding bounds the work of CrossValidate.
type Folding struct {
	Folds  int   // parts the rows are split in
	Given  int   // cells of a held-out row that are shown to the model
	Always []int // columns that are among those shown, where the row has them
	Rows   int   // at most so many rows are used
	Epochs int   // bound on sweeps per fit
}

// DefaultFolding shows two cells of a row, as an online profile does
// (Delimitrou 2015, §3.2).
func DefaultFolding() Folding { return Folding{Folds: 5, Given: 2, Rows: 200, Epochs: 300} }

// last is 0 for a cell that is always shown, 1 for others.
func (f Folding) last(e Entry) int {
	if slices.Contains(f.Always, e.Column) {
		return 0
	}
	return 1
}

// CrossValidate holds out one part of the rows at a time, fits the others, and
// folds every held-out row in from Given of its cells (or all but one where it
// has fewer): what is left over is predicted. Residuals of a column that the
// other rows never observed are left out. ErrTooFew where nothing can be held
// out. The same arguments give the same bits.
func CrossValidate(rows, columns int, entries []Entry, cfg Config, f Folding) (Validation, error) {
	if err := check(rows, columns, entries); err != nil {
		return Validation{}, err
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, uint64(rows)))
	chosen := pick(byRow(rows, entries), f.Rows, rng)
	if len(chosen) < 2 {
		return Validation{}, ErrTooFew
	}
	cfg.MaxEpochs = min(cfg.MaxEpochs, f.Epochs)
	v := Validation{Residuals: make([][]float64, columns)}
	folds := min(f.Folds, len(chosen))
	for fold := range folds {
		if err := v.hold(chosen, fold, folds, columns, cfg, f, rng); err != nil {
			return Validation{}, err
		}
	}
	return v, v.sum()
}

// hold fits without one part and predicts it.
func (v *Validation) hold(chosen [][]Entry, fold, folds, columns int, cfg Config, f Folding, rng *rand.Rand) error {
	var train []Entry
	rows := 0
	for i, row := range chosen {
		if i%folds == fold {
			continue
		}
		for _, e := range row {
			train = append(train, Entry{rows, e.Column, e.Value})
		}
		rows++
	}
	m, err := Fit(rows, columns, train, cfg)
	if err != nil {
		return err
	}
	for i := fold; i < len(chosen); i += folds {
		if err := v.predict(m, chosen[i], f, rng); err != nil {
			return err
		}
	}
	return nil
}

func (v *Validation) predict(m *Model, row []Entry, f Folding, rng *rand.Rand) error {
	order := rng.Perm(len(row))
	slices.SortStableFunc(order, func(a, b int) int { return f.last(row[a]) - f.last(row[b]) })
	shown := max(0, min(f.Given, len(row)-1))
	columns, values := make([]int, shown), make([]float64, shown)
	for i, at := range order[:shown] {
		columns[i], values[i] = row[at].Column, row[at].Value
	}
	out := make([]float64, m.columns)
	if err := m.FoldIn(columns, values, out); err != nil {
		return err
	}
	for _, at := range order[shown:] {
		if e := row[at]; m.Informed(e.Column) {
			v.Residuals[e.Column] = append(v.Residuals[e.Column], e.Value-out[e.Column])
		}
	}
	return nil
}

func (v *Validation) sum() error {
	var squares float64
	n := 0
	for _, column := range v.Residuals {
		for _, r := range column {
			squares += r * r
			n++
		}
	}
	if n == 0 {
		return ErrTooFew
	}
	v.RMSE = math.Sqrt(squares / float64(n))
	return nil
}

// ChooseRank returns the candidate rank with the least held-out error, the
// smaller one on a tie, and what validation said of it.
func ChooseRank(rows, columns int, entries []Entry, candidates []int, cfg Config, f Folding) (int, Validation, error) {
	best, rank := Validation{RMSE: math.Inf(1)}, 0
	for _, r := range candidates {
		cfg.Rank = r
		v, err := CrossValidate(rows, columns, entries, cfg, f)
		if err != nil {
			return 0, Validation{}, err
		}
		if v.RMSE < best.RMSE {
			best, rank = v, r
		}
	}
	return rank, best, nil
}

// byRow groups entries by row, dropping rows with fewer than two: nothing could
// be predicted of them.
func byRow(rows int, entries []Entry) [][]Entry {
	all := make([][]Entry, rows)
	for _, e := range entries {
		all[e.Row] = append(all[e.Row], e)
	}
	var out [][]Entry
	for _, row := range all {
		if len(row) >= 2 {
			out = append(out, row)
		}
	}
	return out
}

// pick returns at most n rows in random order.
func pick(rows [][]Entry, n int, rng *rand.Rand) [][]Entry {
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows[:min(n, len(rows))]
}
