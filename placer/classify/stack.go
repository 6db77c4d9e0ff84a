package classify

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/nomad-placer/nomad-placer/placer/numeric/gauss"
)

var stackDescriptor = Descriptor{
	Name:    "stack",
	Summary: "ours: average, ridge, gauss and local, weighted by what each is worth on held-out rows",
	Paper:   "Breiman 1996, Stacked regressions; the weights by number of shown cells are ours",
	New:     func() Classifier { return inLogs{stacking{}} },
}

// The members of a stack, in the order of weights.
const (
	memberAverage = iota
	memberRidge
	memberGauss
	memberLocal
	members
)

// poolRows is how many held-out rows the errors of all numbers of shown cells count as, next
// to those of one number (chosen by us).
const poolRows = 10

type stacking struct{}

// settings are what cross-validation chose for the members.
type settings struct{ penalty, shrinkage, bandwidth float64 }

func (stacking) Fit(m Matrix, seed uint64) (Model, error) {
	known, err := trainingMatrix(m)
	if err != nil {
		return nil, err
	}
	chosen, err := chooseMembers(known, seed)
	if err != nil {
		return nil, err
	}
	model, err := newTeam(known, chosen)
	if err != nil {
		return nil, err
	}
	predictions, err := predictHeldOut(known, seed, func(train Matrix) (*team, error) { return newTeam(train, chosen) })
	if err != nil {
		return nil, err
	}
	model.learn(predictions)
	in := newIntervals(known, true)
	var found []residual
	for _, h := range predictions {
		value, deviation := combine(model.weightsAt(float64(h.count)), h.value, h.deviation)
		found = in.add(found, residual{group: h.group, column: h.column, count: h.count}, h.truth, known.deviations(h.row), value, deviation)
	}
	in.learn(found, len(m.Columns))
	return &stacked{team: model, width: in}, nil
}

func chooseMembers(m Matrix, seed uint64) (s settings, err error) {
	if s.penalty, err = bestPenalty(m, seed); err != nil {
		return s, err
	}
	if s.shrinkage, err = bestShrinkage(m, seed); err != nil {
		return s, err
	}
	folds := localFolds{shrinkage: s.shrinkage}
	s.bandwidth, err = bestOf(m, seed, bandwidths, folds.fit)
	return s, err
}

// team is the members, and their weights by number of shown cells.
type team struct {
	fillers [members]filler
	gauss   *gauss.Model
	certain *intervals // how a noisy cell counts
	counts  []int
	weights [][members]float64
}

func newTeam(m Matrix, s settings) (*team, error) {
	t := &team{certain: newIntervals(m, true)}
	regressed, err := newRidge(m, s.penalty)
	if err != nil {
		return nil, err
	}
	local, err := newLocal(m, s.shrinkage, s.bandwidth)
	if err != nil {
		return nil, err
	}
	alone := *regressed
	alone.correlation = mat.NewSymDense(len(m.Columns), nil)
	for j := range m.Columns {
		alone.correlation.SetSym(j, j, 1)
	}
	t.gauss = local.model.Model
	t.fillers = [members]filler{&alone, regressed, gaussFiller{t.gauss}, local}
	return t, nil
}

// completeEach completes a row by every member.
func (t *team) completeEach(row, noise []float64) (values, deviations [members][]float64, err error) {
	for k, f := range t.fillers {
		values[k], deviations[k] = make([]float64, len(row)), make([]float64, len(row))
		if err := f.complete(row, noise, values[k], deviations[k]); err != nil {
			return values, deviations, err
		}
	}
	return values, deviations, nil
}

// heldOutCell is what the members predict for one held-out cell.
type heldOutCell struct {
	row, group, column, count int
	truth, weight             float64
	value, deviation          [members]float64
}

// predictHeldOut holds rows out as calibrate does.
func predictHeldOut(m Matrix, seed uint64, fit func(train Matrix) (*team, error)) ([]heldOutCell, error) {
	var out []heldOutCell
	group := groupNumbers(m)
	err := eachFold(m, seed, fit, func(t *team, i int, rng *rand.Rand) error {
		row, noise := m.Rows[i], m.deviations(i)
		return eachShown(m, row, rng, func(partial []float64, count int) error {
			values, deviations, err := t.completeEach(partial, noise)
			if err != nil {
				return err
			}
			for j, v := range row {
				if math.IsNaN(v) || !math.IsNaN(partial[j]) || !t.informed(j) {
					continue
				}
				h := heldOutCell{row: i, group: group[i], column: j, count: count, truth: v, weight: t.certain.weight(noise, j)}
				for k := range members {
					h.value[k], h.deviation[k] = values[k][j], deviations[k][j]
				}
				out = append(out, h)
			}
			return nil
		})
	})
	return out, err
}

func (t *team) informed(j int) bool {
	return t.fillers[memberGauss].informed(j) && t.fillers[memberRidge].informed(j)
}

// products of the members' errors.
type products [members][members]float64

func (p *products) add(q products, scale float64) {
	for a := range members {
		for b := range members {
			p[a][b] += scale * q[a][b]
		}
	}
}

// learn takes for each number of shown cells the weights, not negative and in sum 1, of the
// least squared error on held-out rows. Without any all trust is in gauss.
func (t *team) learn(predictions []heldOutCell) {
	if len(predictions) == 0 {
		t.counts, t.weights = []int{0}, [][members]float64{{memberGauss: 1}}
		return
	}
	errors, cells, rows := map[int]*products{}, map[int]float64{}, map[int]map[int]bool{}
	var all products
	total := 0.0
	for _, h := range predictions {
		if errors[h.count] == nil {
			errors[h.count], rows[h.count] = &products{}, map[int]bool{}
			t.counts = append(t.counts, h.count)
		}
		var own products
		for a := range members {
			for b := range members {
				own[a][b] = (h.truth - h.value[a]) * (h.truth - h.value[b])
			}
		}
		errors[h.count].add(own, h.weight)
		all.add(own, h.weight)
		cells[h.count] += h.weight
		total += h.weight
		rows[h.count][h.row] = true
	}
	slices.Sort(t.counts)
	for _, count := range t.counts {
		var p products
		p.add(*errors[count], float64(len(rows[count]))/max(cells[count], math.SmallestNonzeroFloat64))
		p.add(all, poolRows/total)
		t.weights = append(t.weights, leastSquares(p))
	}
}

// leastSquares are the weights w ≥ 0 with Σw = 1 of the least wᵀPw: of every subset of members
// the free solution, of those that are not negative the best.
func leastSquares(p products) [members]float64 {
	best, least := [members]float64{memberGauss: 1}, math.Inf(1)
	trace := 0.0
	for a := range members {
		trace += p[a][a]
	}
	for subset := 1; subset < 1<<members; subset++ {
		w, ok := free(p, subset, 1e-9*trace)
		if !ok {
			continue
		}
		e := 0.0
		for a := range members {
			for b := range members {
				e += w[a] * p[a][b] * w[b]
			}
		}
		if e < least {
			best, least = w, e
		}
	}
	return best
}

// free minimises over a subset under Σw = 1 alone: w ∝ (P + εI)⁻¹·1.
func free(p products, subset int, little float64) (w [members]float64, ok bool) {
	var at []int
	for a := range members {
		if subset>>a&1 == 1 {
			at = append(at, a)
		}
	}
	sub, ones := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for x, a := range at {
		for y := x; y < len(at); y++ {
			sub.SetSym(x, y, p[a][at[y]])
		}
		sub.SetSym(x, x, p[a][a]+little)
		ones.SetVec(x, 1)
	}
	var factor mat.Cholesky
	var solved mat.VecDense
	if !factor.Factorize(sub) || factor.SolveVecTo(&solved, ones) != nil {
		return w, false
	}
	sum := mat.Sum(&solved)
	for x, a := range at {
		if w[a] = solved.AtVec(x) / sum; !(w[a] >= 0) {
			return w, false
		}
	}
	return w, true
}

// weightsAt a number of shown cells.
func (t *team) weightsAt(shown float64) (w [members]float64) {
	below, above, share := between(t.counts, shown)
	for k := range w {
		w[k] = (1-share)*t.weights[below][k] + share*t.weights[above][k]
	}
	return w
}

// combine returns the mean and the deviation of the mixture of what the members predict: where
// they differ, less is known.
func combine(w, value, deviation [members]float64) (mean, spread float64) {
	for k := range w {
		mean += w[k] * value[k]
	}
	for k := range w {
		away := value[k] - mean
		spread += w[k] * (deviation[k]*deviation[k] + away*away)
	}
	return mean, math.Sqrt(spread)
}

// complete implements filler.
func (t *team) complete(row, noise, out, deviation []float64) error {
	values, deviations, err := t.completeEach(row, noise)
	if err != nil {
		return err
	}
	w := t.weightsAt(t.certain.shownCells(row, noise))
	for j := range row {
		var v, d [members]float64
		for k := range members {
			v[k], d[k] = values[k][j], deviations[k][j]
		}
		out[j], deviation[j] = combine(w, v, d)
		if !math.IsNaN(row[j]) && noise != nil {
			deviation[j] = min(deviation[j], noise[j]) // members differ within their posteriors
		}
	}
	return nil
}

// stacked is a fitted stack with its intervals.
type stacked struct {
	*team
	width *intervals
}

func (s *stacked) Complete(row, deviations []float64) ([]Cell, error) {
	if _, _, err := observed(row, deviations, s.gauss.Columns()); err != nil {
		return nil, err
	}
	return completeWith(s.team, row, deviations, s.width)
}

// Plan returns which further columns are worth measuring most, by the distribution of all
// rows.
func (s *stacked) Plan(known []int, count int, allowed func(int) bool) ([]int, error) {
	return s.gauss.Plan(known, count, allowed)
}

// Leftovers are the variances of the columns when known are measured.
func (s *stacked) Leftovers(known []int) ([]float64, error) { return s.gauss.Leftovers(known) }
