package kmeans_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/numeric/kmeans"
)

// blobs are groups of points around centres ten apart, 0.5 wide.
func blobs(rng *rand.Rand, groups, each int) (points [][]float64, of []int) {
	for g := range groups {
		for range each {
			points = append(points, []float64{10*float64(g%3) + 0.5*rng.NormFloat64(), 10*float64(g/3) + 0.5*rng.NormFloat64()})
			of = append(of, g)
		}
	}
	return points, of
}

func TestFindsSeparateGroups(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		points, of := blobs(rand.New(rand.NewPCG(seed, 1)), 6, 20)
		c, err := kmeans.Fit(points, kmeans.Config{Clusters: 6, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for i := range points {
			for j := range points {
				if (of[i] == of[j]) != (c.Assigned[i] == c.Assigned[j]) {
					t.Fatalf("seed %d: points %d and %d: groups %d and %d, clusters %d and %d", seed, i, j, of[i], of[j], c.Assigned[i], c.Assigned[j])
				}
			}
		}
	}
}

// Four points on a line: {0, 1} and {10, 11}, each 0.5 from its centre.
func TestInertia(t *testing.T) {
	t.Parallel()
	c, err := kmeans.Fit([][]float64{{0}, {1}, {10}, {11}}, kmeans.Config{Clusters: 2, Seed: 1})
	if err != nil || math.Abs(c.Inertia-1) > 1e-12 {
		t.Errorf("%+v, %v", c, err)
	}
	if k, d := c.Nearest([]float64{9}); math.Abs(c.Centres[k][0]-10.5) > 1e-12 || math.Abs(d-2.25) > 1e-12 {
		t.Errorf("nearest of 9: centre %v, squared distance %v", c.Centres[k], d)
	}
}

// Every point is with its nearest centre, every centre is the mean of its points,
// and equal input gives an equal result.
func TestIsAFixedPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(1, 40).Draw(t, "points"), rapid.IntRange(1, 4).Draw(t, "dimensions")
		points := make([][]float64, n)
		for i := range points {
			// Whole numbers: many points coincide.
			for range d {
				points[i] = append(points[i], float64(rapid.IntRange(0, 3).Draw(t, "coordinate")))
			}
		}
		config := kmeans.Config{Clusters: rapid.IntRange(1, 8).Draw(t, "clusters"), Iterations: 1000, Seed: rapid.Uint64().Draw(t, "seed")}
		c, err := kmeans.Fit(points, config)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := kmeans.Fit(points, config); !reflect.DeepEqual(c, again) {
			t.Fatalf("not repeatable: %+v, then %+v", c, again)
		}
		checkFixed(t, points, c)
		if want := min(config.Clusters, distinct(points)); len(c.Centres) != want || slices.Contains(c.Sizes(), 0) {
			t.Fatalf("%d clusters of sizes %v, want %d", len(c.Centres), c.Sizes(), want)
		}
	})
}

func checkFixed(t *rapid.T, points [][]float64, c kmeans.Clustering) {
	sums, sizes, inertia := make([][]float64, len(c.Centres)), c.Sizes(), 0.0
	for i, p := range points {
		k := c.Assigned[i]
		own := 0.0
		for j, v := range p {
			own += (v - c.Centres[k][j]) * (v - c.Centres[k][j])
			if sums[k] == nil {
				sums[k] = make([]float64, len(p))
			}
			sums[k][j] += v / float64(sizes[k])
		}
		if _, least := c.Nearest(p); own > least+1e-9 {
			t.Fatalf("point %d is %v from its centre, %v from another", i, own, least)
		}
		inertia += own
	}
	if math.Abs(inertia-c.Inertia) > 1e-9 {
		t.Fatalf("inertia %v, want %v", c.Inertia, inertia)
	}
	for k, sum := range sums {
		for j, v := range sum {
			if math.Abs(v-c.Centres[k][j]) > 1e-9 {
				t.Fatalf("centre %d is %v, the mean of its points %v", k, c.Centres[k], sum)
			}
		}
	}
}

func distinct(points [][]float64) int {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, slices.Compare[[]float64])
	return len(slices.CompactFunc(sorted, slices.Equal[[]float64]))
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		points [][]float64
		config kmeans.Config
		want   error
	}{
		"no points":   {nil, kmeans.Config{Clusters: 1}, kmeans.ErrNoPoints},
		"no clusters": {[][]float64{{1}}, kmeans.Config{}, kmeans.ErrShape},
		"uneven":      {[][]float64{{1}, {1, 2}}, kmeans.Config{Clusters: 1}, kmeans.ErrShape},
		"NaN":         {[][]float64{{math.NaN()}}, kmeans.Config{Clusters: 1}, kmeans.ErrShape},
	} {
		if _, err := kmeans.Fit(c.points, c.config); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// LSH paper, Algorithm 1: n/k of each cluster; a smaller one is taken whole and
// the shortfall drawn from the rest.
func TestDraw(t *testing.T) {
	t.Parallel()
	c := kmeans.Clustering{Centres: make([][]float64, 3), Assigned: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2}}
	drawn := c.Draw(6, rand.New(rand.NewPCG(1, 1)))
	counts := make([]int, 3)
	for _, i := range drawn {
		counts[c.Assigned[i]]++
	}
	if len(drawn) != 6 || !slices.IsSorted(drawn) || len(slices.Compact(slices.Clone(drawn))) != 6 || counts[2] != 1 || counts[0] < 2 || counts[1] < 2 {
		t.Errorf("%v: %v per cluster", drawn, counts)
	}
	if all := c.Draw(99, rand.New(rand.NewPCG(1, 1))); len(all) != 10 {
		t.Errorf("%v", all)
	}
	if none := c.Draw(0, rand.New(rand.NewPCG(1, 1))); len(none) != 0 {
		t.Errorf("%v", none)
	}
}

// Every member of a group is as likely as any other.
func TestDrawIsUniformInAGroup(t *testing.T) {
	t.Parallel()
	const tries = 6000
	c := kmeans.Clustering{Centres: make([][]float64, 2), Assigned: []int{0, 0, 0, 0, 0, 0, 1, 1, 1}}
	rng, counts := rand.New(rand.NewPCG(7, 7)), make([]int, 9)
	for range tries {
		for _, i := range c.Draw(4, rng) {
			counts[i]++
		}
	}
	for i, n := range counts {
		p := 2.0 / 6
		if i >= 6 {
			p = 2.0 / 3
		}
		if sigma := math.Sqrt(tries * p * (1 - p)); math.Abs(float64(n)-tries*p) > 4*sigma {
			t.Errorf("point %d was drawn %d times of %v expected", i, n, tries*p)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	points, _ := blobs(rand.New(rand.NewPCG(1, 1)), 9, 100)
	for b.Loop() {
		if _, err := kmeans.Fit(points, kmeans.Config{Clusters: 9, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
