package lsh_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/numeric/lsh"
)

// BenchmarkNear compares the index, in the scheme that Choose takes, with looking
// at every point: uniform points, of which a query wants all within the radius.
// near is how many there are. The rows of placer/docs/lsh.md.
func BenchmarkNear(b *testing.B) {
	for _, of := range []struct {
		dimensions int
		radius     float64
	}{{4, 0.4}, {4, 0.05}, {12, 1.2}, {12, 0.4}, {20, 2.0}, {20, 0.6}} {
		for _, n := range []int{150, 1_000, 10_000, 100_000} {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			points, queries := uniform(random, n, of.dimensions), uniform(random, 256, of.dimensions)
			config := lsh.Config{Dimensions: of.dimensions, Radius: of.radius, Seed: 1}
			chosen, err := lsh.Choose(config, points, n, lsh.DefaultCosts)
			if err != nil {
				b.Fatal(err)
			}
			x := filled(b, chosen.Config, points)
			name := fmt.Sprintf("d=%d/R=%g/n=%d", of.dimensions, of.radius, n)
			b.Run(name+"/index", func(b *testing.B) { benchNear(b, x, queries, true) })
			b.Run(name+"/scan", func(b *testing.B) { benchNear(b, x, queries, false) })
		}
	}
}

func benchNear(b *testing.B, x *lsh.Index, queries [][]float64, indexed bool) {
	var out []lsh.Hit
	var near, i int
	for b.Loop() {
		q := queries[i%len(queries)]
		i++
		var err error
		if indexed {
			out, _, err = x.Near(q, 5, out)
		} else {
			out, err = x.Scan(q, 5, out)
		}
		if err != nil {
			b.Fatal(err)
		}
		near += len(out)
	}
	b.ReportMetric(float64(near)/float64(b.N), "near")
	b.ReportMetric(float64(x.Config().Functions), "k")
	b.ReportMetric(float64(x.Config().Buckets()), "tables")
}

// BenchmarkCosts measures the terms of DefaultCosts: what a query takes where one
// of them dominates.
func BenchmarkCosts(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	b.Run("product", func(b *testing.B) { // 40 functions of 100 dimensions, nothing to look at
		x := filled(b, lsh.Config{Dimensions: 100, Radius: 1, Functions: 40, Tables: 1}, nil)
		perQuery(b, x, uniform(random, 64, 100), 4000)
	})
	b.Run("lookup", func(b *testing.B) { // 2,000 tables without what is asked for
		x := filled(b, lsh.Config{Dimensions: 1, Radius: 1e-4, Functions: 1, Tables: 2000}, uniform(random, 1000, 1))
		perQuery(b, x, [][]float64{{5}, {-5}}, 2000)
	})
	b.Run("collect", func(b *testing.B) { // the same 1,000 points in 50 tables
		x := filled(b, lsh.Config{Dimensions: 1, Radius: 1e9, Functions: 1, Tables: 50}, uniform(random, 1000, 1))
		perQuery(b, x, uniform(random, 64, 1), 50_000)
	})
	b.Run("examine", func(b *testing.B) { // 20,000 points in one table, none near
		x := filled(b, lsh.Config{Dimensions: 1, Radius: 1e-9, Width: 1e12, Functions: 1, Tables: 1}, uniform(random, 20_000, 1))
		perQuery(b, x, uniform(random, 64, 1), 20_000)
	})
}

// perQuery reports the time of a query over so many operations.
func perQuery(b *testing.B, x *lsh.Index, queries [][]float64, operations float64) {
	var out []lsh.Hit
	i := 0
	for b.Loop() {
		var err error
		if out, _, err = x.Near(queries[i%len(queries)], 1, out); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/operations, "ns/operation")
}

// BenchmarkUpdate deletes a point and inserts it again.
func BenchmarkUpdate(b *testing.B) {
	points := uniform(rand.New(rand.NewPCG(1, 1)), 10_000, 20)
	x := filled(b, lsh.Config{Dimensions: 20, Radius: 2}, points)
	i := 0
	for b.Loop() {
		id := i % len(points)
		i++
		if err := x.Delete(id); err != nil {
			b.Fatal(err)
		}
		if err := x.Insert(id, points[id]); err != nil {
			b.Fatal(err)
		}
	}
}
