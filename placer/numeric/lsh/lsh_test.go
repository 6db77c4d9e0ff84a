package lsh_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// Whatever was inserted and deleted before: the index answers as one that holds
// the same points and never held others.
func TestInsertAndDelete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := lsh.Config{
			Dimensions: rapid.IntRange(1, 5).Draw(t, "dimensions"), Radius: 0.5, Seed: rapid.Uint64().Draw(t, "seed"),
			Reuse: rapid.Bool().Draw(t, "reuse"), Metric: lsh.Metric(rapid.IntRange(0, 1).Draw(t, "metric")),
		}
		x, err := lsh.New(c)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(c.Seed, 1))
		points := map[int][]float64{}
		for range 60 {
			id := rapid.IntRange(0, 12).Draw(t, "id")
			if points[id] != nil {
				if err := x.Delete(id); err != nil {
					t.Fatal(err)
				}
				delete(points, id)
				continue
			}
			points[id] = uniform(random, 1, c.Dimensions)[0]
			if err := x.Insert(id, points[id]); err != nil {
				t.Fatal(err)
			}
		}
		same(t, x, c, points, random)
	})
}

func same(t *rapid.T, x *lsh.Index, c lsh.Config, points map[int][]float64, random *rand.Rand) {
	fresh, err := lsh.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for id, p := range points {
		if err := fresh.Insert(id, p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x.Point(id), p) {
			t.Fatalf("point %d is %v, want %v", id, x.Point(id), p)
		}
	}
	if x.Len() != len(points) {
		t.Fatalf("%d points, want %d", x.Len(), len(points))
	}
	for _, q := range uniform(random, 10, c.Dimensions) {
		a, _, err := x.Near(q, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := fresh.Near(q, 0, nil)
		if err != nil || !slices.Equal(a, b) {
			t.Fatalf("%v, a fresh index %v, %v", a, b, err)
		}
	}
}

// The nearest few are the first of all, in order, and ties go to the lower number.
func TestAtMost(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	points := uniform(random, 300, 3)
	points = append(points, points[:50]...) // twins
	x := filled(t, lsh.Config{Dimensions: 3, Radius: 0.6}, points)
	for _, q := range append(uniform(random, 20, 3), points[7]) {
		all, _, err := x.Near(q, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 5, 40} {
			few, _, err := x.Near(q, n, nil)
			if err != nil || !slices.Equal(few, all[:min(n, len(all))]) {
				t.Fatalf("%v, %v; want %v", few, err, all[:min(n, len(all))])
			}
		}
		for i := 1; i < len(all); i++ {
			if all[i-1].Distance > all[i].Distance || all[i-1].Distance == all[i].Distance && all[i-1].ID > all[i].ID {
				t.Fatalf("out of order: %v", all)
			}
		}
		nearest, err := x.Nearest(q, 400, nil)
		if err != nil || len(nearest) != len(points) {
			t.Fatalf("%d of all points, %v", len(nearest), err)
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]lsh.Config{
		"no dimensions": {Radius: 1}, "no radius": {Dimensions: 1}, "failure": {Dimensions: 1, Radius: 1, Failure: 1},
		"odd halves": {Dimensions: 1, Radius: 1, Functions: 3, Reuse: true}, "metric": {Dimensions: 1, Radius: 1, Metric: 9},
		"width": {Dimensions: 1, Radius: 1, Width: math.NaN()},
	} {
		if _, err := lsh.New(c); !errors.Is(err, lsh.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := filled(t, lsh.Config{Dimensions: 2, Radius: 1}, [][]float64{{0, 0}})
	for name, err := range map[string]error{"twice": x.Insert(0, []float64{1, 1}), "negative": x.Insert(-1, []float64{1, 1}), "gone": x.Delete(5)} {
		if !errors.Is(err, lsh.ErrID) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string][]float64{"short": {1}, "NaN": {1, math.NaN()}} {
		_, _, near := x.Near(p, 0, nil)
		if err := x.Insert(1, p); !errors.Is(err, lsh.ErrPoint) || !errors.Is(near, lsh.ErrPoint) {
			t.Errorf("%s: %v, %v", name, err, near)
		}
	}
	if x.Len() != 1 || x.Point(1) != nil {
		t.Error("what was refused changed the index")
	}
}

// What is chosen reaches the wanted recall and keeps the memory; more functions
// where there are many points, and looking at all where most are near.
func TestChoose(t *testing.T) {
	t.Parallel()
	sample := uniform(rand.New(rand.NewPCG(1, 1)), 1000, 12)
	few, err := lsh.Choose(lsh.Config{Dimensions: 12, Radius: 0.3}, sample, 100, lsh.DefaultCosts)
	if err != nil {
		t.Fatal(err)
	}
	many, err := lsh.Choose(lsh.Config{Dimensions: 12, Radius: 0.3}, sample, 1_000_000, lsh.DefaultCosts)
	if err != nil {
		t.Fatal(err)
	}
	if many.Config.Functions <= few.Config.Functions || many.IndexNanos >= many.ScanNanos {
		t.Errorf("100 points: %+v; a million: %+v", few, many)
	}
	crowded, err := lsh.Choose(lsh.Config{Dimensions: 12, Radius: 1.2}, sample, 1000, lsh.DefaultCosts)
	if err != nil || crowded.IndexNanos <= crowded.ScanNanos {
		t.Errorf("most points are near: %+v, %v", crowded, err)
	}
	for _, c := range []lsh.Config{few.Config, many.Config, crowded.Config} {
		found := lsh.FoundPlain(c.Metric, c.Width, 1, c.Functions, c.Tables)
		if c.Reuse {
			found = lsh.FoundReused(c.Metric, c.Width, 1, c.Functions, c.Tables)
		}
		if found < 0.95 || c.Buckets() > 64 {
			t.Errorf("%+v finds %v", c, found)
		}
	}
}

// Of points that are not wanted no distance is taken, and they count as examined.
func TestEachVisitsOnlyWhatIsWanted(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	points := uniform(random, 300, 5)
	x := filled(t, lsh.Config{Dimensions: 5, Radius: 1, Seed: 1, Functions: 2, Tables: 3}, points) // six functions: four at once, and two
	odd, visited := func(id int) bool { return id%2 == 1 }, 0
	for _, q := range uniform(random, 20, 5) {
		var all, some []int
		every, err := x.Each(q, nil, func(h lsh.Hit) { all = append(all, h.ID) })
		if err != nil {
			t.Fatal(err)
		}
		asked, err := x.Each(q, odd, func(h lsh.Hit) { some = append(some, h.ID) })
		if err != nil || asked != every {
			t.Errorf("%+v, %v; without a question %+v", asked, err, every)
		}
		if want := slices.DeleteFunc(all, func(id int) bool { return !odd(id) }); !slices.Equal(some, want) {
			t.Errorf("visited %v, want %v", some, want)
		}
		visited += len(some)
	}
	if visited == 0 {
		t.Error("none was visited")
	}
}
