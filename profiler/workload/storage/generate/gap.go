package generate

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// drawGap draws a gap in µs. One that is unknown is drawn as if it were other.
func drawGap(g, other model.Gap, family model.Family, rng *rand.Rand) float64 {
	if !g.Known() {
		g = other
	}
	if family != model.UnknownFamily {
		g.Family = family
	}
	mean := g.MeanMicroseconds
	if mean <= 0 {
		return 0
	}
	switch g.Family {
	case model.Exponential:
		return mean * rng.ExpFloat64()
	case model.Normal:
		return max(0, mean+mean*g.Variation*rng.NormFloat64())
	case model.Gamma:
		k := g.Shape()
		return distuv.Gamma{Alpha: k, Beta: k / mean, Src: rng}.Rand()
	case model.Poisson:
		const perMillisecond = 1000
		return perMillisecond * distuv.Poisson{Lambda: mean / perMillisecond, Src: rng}.Rand()
	default:
		return mean
	}
}
