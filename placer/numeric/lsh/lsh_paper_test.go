package lsh_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// The check values of the scheme: p(1), p(2) at w = 4, and L, m for delta = 0.05.
func TestTableOfSchemes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		metric         lsh.Metric
		distance, want float64
	}{{lsh.Euclidean, 1, 0.8005}, {lsh.Euclidean, 2, 0.6095}, {lsh.Manhattan, 1, 0.6186}, {lsh.Euclidean, 0, 1}, {lsh.Manhattan, 0, 1}} {
		if got := lsh.Collision(c.metric, 4, c.distance); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("%v, distance %v: %v, want %v", c.metric, c.distance, got, c.want)
		}
	}
	plain, halves := []int{3, 6, 10, 17, 27, 42, 66, 104}, []int{4, 6, 8, 10, 13, 17, 21, 27}
	pairs := []int{6, 15, 28, 45, 78, 136, 210, 351}
	for i := range plain {
		k := 2 * (i + 1)
		if got := lsh.Tables(lsh.Euclidean, 4, k, 0.05); got != plain[i] {
			t.Errorf("k = %d: %d tables, want %d", k, got, plain[i])
		}
		m := lsh.Halves(lsh.Euclidean, 4, k, 0.05)
		x, err := lsh.New(lsh.Config{Dimensions: 1, Radius: 1, Functions: k, Reuse: true})
		if err != nil || m != halves[i] || x.Config().Buckets() != pairs[i] {
			t.Errorf("k = %d: %d halves, want %d; %d tables, want %d; %v", k, m, halves[i], x.Config().Buckets(), pairs[i], err)
		}
	}
}

// Table I: six scores of five applications, two of them profiled; R = 0.2.
func TestTableI(t *testing.T) {
	t.Parallel()
	rows := [][]float64{
		{.1, .3, .7, .6, .1, .3}, {.7, .6, .4, .5, .9, .7}, {.2, .4, .6, .5, .3, .2},
		{.5, .2, .4, .1, .8, .6}, {.7, .6, .1, .2, .5, .5},
	}
	x, err := lsh.New(lsh.Config{Dimensions: 2, Radius: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if err := x.Insert(i, row[:2]); err != nil {
			t.Fatal(err)
		}
	}
	all, err := x.Nearest([]float64{.2, .3}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]float64{0: .1, 1: .583, 2: .1, 3: .316, 4: .583}
	for _, h := range all {
		if math.Abs(h.Distance-want[h.ID]) > 5e-4 {
			t.Errorf("t%d is %v away, want %v", h.ID+1, h.Distance, want[h.ID])
		}
	}
	near, err := x.Scan([]float64{.2, .3}, 0, nil)
	if err != nil || len(near) != 2 || !slices.Contains([]int{0, 2}, near[0].ID) || !slices.Contains([]int{0, 2}, near[1].ID) || near[0].ID == near[1].ID {
		t.Errorf("%v, %v", near, err)
	}
	for j, median := range []float64{.65, .55, .20, .25} {
		if got := (rows[0][2+j] + rows[2][2+j]) / 2; math.Abs(got-median) > 1e-12 {
			t.Errorf("score %d: %v, want %v", j+3, got, median)
		}
	}
}

// A point at distance R exactly is found as often, over the draw of functions, as
// the formula says: within three deviations.
func TestRecallAtTheRadius(t *testing.T) {
	t.Parallel()
	const indexes = 4000
	for name, c := range map[string]struct {
		config lsh.Config
		want   float64
	}{
		"k 4, L 6": {lsh.Config{Functions: 4, Tables: 6}, 0.9581},
		"k 2, L 3": {lsh.Config{Functions: 2, Tables: 3}, 0.9537},
		"reuse":    {lsh.Config{Functions: 6, Reuse: true}, lsh.FoundReused(lsh.Euclidean, 4, 1, 6, 8)},
		"Cauchy":   {lsh.Config{Functions: 4, Metric: lsh.Manhattan}, lsh.FoundPlain(lsh.Manhattan, 4, 1, 4, lsh.Tables(lsh.Manhattan, 4, 4, 0.05))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			found := 0
			for seed := range uint64(indexes) {
				config := c.config
				config.Dimensions, config.Radius, config.Seed = 4, 0.4, seed
				if at(t, random, config) {
					found++
				}
			}
			share, sigma := float64(found)/indexes, math.Sqrt(c.want*(1-c.want)/indexes)
			if math.Abs(share-c.want) > 3*sigma+5e-5 {
				t.Errorf("found %.4f, want %.4f ± %.4f", share, c.want, 3*sigma)
			}
		})
	}
}

// at reports whether an index finds a point that lies at the radius of a query.
func at(t *testing.T, random *rand.Rand, c lsh.Config) bool {
	t.Helper()
	x, err := lsh.New(c)
	if err != nil {
		t.Fatal(err)
	}
	query, point, length := make([]float64, c.Dimensions), make([]float64, c.Dimensions), 0.0
	for j := range query {
		query[j], point[j] = random.Float64(), random.NormFloat64()
		if c.Metric == lsh.Manhattan {
			length += math.Abs(point[j])
		} else {
			length = math.Hypot(length, point[j])
		}
	}
	for j := range point {
		point[j] = query[j] + (1-1e-12)*c.Radius*point[j]/length
	}
	if err := x.Insert(0, point); err != nil {
		t.Fatal(err)
	}
	hits, _, err := x.Near(query, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return len(hits) == 1
}

// Over 10,000 random queries at least 95 of 100 true neighbours are found, and
// nothing else.
func TestRecallOfRandomQueries(t *testing.T) {
	t.Parallel()
	const indexes, queries = 25, 400
	for _, d := range []int{4, 12, 20} {
		random := rand.New(rand.NewPCG(uint64(d), 1))
		var found, truth int
		for seed := range uint64(indexes) {
			x := filled(t, lsh.Config{Dimensions: d, Radius: float64(d) / 10, Seed: seed, Reuse: seed%2 == 1}, uniform(random, 150, d))
			for _, q := range uniform(random, queries, d) {
				got, want := answers(t, x, q)
				found, truth = found+len(got), truth+len(want)
				for _, h := range got {
					if !slices.Contains(want, h) {
						t.Fatalf("%v is not in the exact answer", h)
					}
				}
			}
		}
		if share := float64(found) / float64(truth); share < 0.95 || truth < indexes*queries {
			t.Errorf("%d dimensions: %d of %d neighbours found, %.4f", d, found, truth, share)
		}
	}
}

func uniform(random *rand.Rand, n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		for range d {
			out[i] = append(out[i], random.Float64())
		}
	}
	return out
}

func filled(tb testing.TB, c lsh.Config, points [][]float64) *lsh.Index {
	tb.Helper()
	x, err := lsh.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	for i, p := range points {
		if err := x.Insert(i, p); err != nil {
			tb.Fatal(err)
		}
	}
	return x
}

func answers(tb testing.TB, x *lsh.Index, q []float64) (found, exact []lsh.Hit) {
	tb.Helper()
	found, _, err := x.Near(q, 0, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if exact, err = x.Scan(q, 0, nil); err != nil {
		tb.Fatal(err)
	}
	return found, exact
}
