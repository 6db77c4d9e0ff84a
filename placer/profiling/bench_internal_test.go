package profiling

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// BenchmarkFit fits the models of a namespace to the shipped rows and so many of its own;
// BenchmarkKnowledge then combines a profile with them, which is done for each submission.
func BenchmarkFit(b *testing.B) {
	shipped, err := training.Load()
	if err != nil {
		b.Fatal(err)
	}
	for _, own := range []int{0, 10, 60} {
		rows := slices.Clone(shipped)
		for i := range own {
			p := shipped[i%len(shipped)]
			p.Key = fmt.Sprint("own", i)
			rows = append(rows, p)
		}
		b.Run(fmt.Sprint(own), func(b *testing.B) {
			for b.Loop() {
				if _, err := fit(rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKnowledge(b *testing.B) {
	shipped, err := training.Load()
	if err != nil {
		b.Fatal(err)
	}
	of, err := fit(shipped)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		classify.Knowledge(&shipped[0], of.models, DefaultColumns(), nil)
	}
}
