package predict

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

var wmmLearner = Learner{
	Name:    "wmm",
	Summary: "weighted mean of the three nearest observations, in four principal components",
	Paper:   "Chiang and Huang 2011, §3.1 (WMM, after Koh et al. 2007)",
	Learn:   learnWMM,
}

const (
	wmmComponents = 4
	wmmNearest    = 3
)

// wmm is Y = Σ (y_i/d_i) / Σ 1/d_i over the nearest observations, d the Euclidean
// distance in the space of the first principal components of the standardised
// characteristics. At distance 0 it is the mean of what was observed there.
type wmm struct {
	standard standard
	axes     [][]float64 // by component
	points   [][]float64
	response []float64
}

// learnWMM finds the components. O(observations · characteristics² +
// characteristics³).
func learnWMM(all []Observation) (Regression, error) {
	if err := checkObservations(all); err != nil {
		return nil, err
	}
	w := &wmm{standard: standardise(all)}
	k := len(w.standard.varying())
	if k == 0 {
		return nil, fmt.Errorf("%w: no characteristic varies", ErrObservations)
	}
	rows := make([][]float64, len(all))
	covariance := mat.NewSymDense(len(w.standard.mean), nil)
	for i, o := range all {
		rows[i] = w.standard.of(o.Own, o.CoRunners)
		w.response = append(w.response, o.Response)
		for a, x := range rows[i] {
			for b := a; b < len(rows[i]); b++ {
				covariance.SetSym(a, b, covariance.At(a, b)+x*rows[i][b]/float64(len(all)))
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return nil, fmt.Errorf("%w: no principal components", ErrObservations)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for c := range min(wmmComponents, k) { // eigenvalues ascend
		w.axes = append(w.axes, mat.Col(nil, len(w.standard.mean)-1-c, &vectors))
	}
	for _, row := range rows {
		w.points = append(w.points, w.project(row))
	}
	return w, nil
}

func (w *wmm) project(row []float64) []float64 {
	out := make([]float64, len(w.axes))
	for c, axis := range w.axes {
		for j, v := range row {
			out[c] += v * axis[j]
		}
	}
	return out
}

// Predict implements Regression. O(observations).
func (w *wmm) Predict(own, coRunners []float64) float64 {
	at := w.project(w.standard.of(own, coRunners))
	distances := make([]float64, len(w.points))
	for i, p := range w.points {
		sum := 0.0
		for c, v := range p {
			sum += (v - at[c]) * (v - at[c])
		}
		distances[i] = math.Sqrt(sum)
	}
	return nearestMean(distances, w.response, wmmNearest)
}

// nearestMean weighs the responses of the nearest by 1/distance.
func nearestMean(distances, response []float64, nearest int) float64 {
	order := make([]int, len(distances))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case distances[a] < distances[b]:
			return -1
		case distances[a] > distances[b]:
			return 1
		}
		return 0
	})
	if distances[order[0]] == 0 {
		sum, n := 0.0, 0
		for _, i := range order {
			if distances[i] == 0 {
				sum += response[i]
				n++
			}
		}
		return sum / float64(n)
	}
	sum, weight := 0.0, 0.0
	for _, i := range order[:min(nearest, len(order))] {
		sum += response[i] / distances[i]
		weight += 1 / distances[i]
	}
	return sum / weight
}
