package stat

import "math"

// Point is one observation of two quantities.
type Point struct{ X, Y float64 }

const (
	slopeRounds = 10
	// slopeTuning: residuals beyond so many scales lose weight (Huber 1981, §7.8:
	// 95 % efficient at the normal distribution).
	slopeTuning = 1.345
	slopeLeast  = 3 // points
)

// Slope is the slope through the origin of Y over X with its standard error: robust
// against outliers in Y (Huber's weights, iterated), and shrunk towards 0 as by a
// normal prior of mean 0 and this spread, +Inf for none. The prior is all that is
// known where there are fewer than three points.
func Slope(points []Point, spread float64) (slope, standardError float64) {
	if len(points) < slopeLeast {
		return 0, spread
	}
	residuals := make([]float64, len(points))
	for range slopeRounds {
		for i, p := range points {
			residuals[i] = math.Abs(p.Y - slope*p.X)
		}
		scale := madToSigma * Median(residuals)
		xx, xy := 0.0, 0.0
		for i, p := range points {
			w := 1.0
			if limit := slopeTuning * scale; residuals[i] > limit {
				w = limit / residuals[i]
			}
			xx += w * p.X * p.X
			xy += w * p.X * p.Y
		}
		xx += scale * scale / (spread * spread)
		if !(xx > 0) {
			return 0, spread
		}
		slope, standardError = xy/xx, scale/math.Sqrt(xx)
	}
	return slope, standardError
}

// SpikeAndSlab is what is known of a quantity that is mostly next to nothing: a
// mixture of two normal distributions about 0, one narrow and one wide (Mitchell and
// Beauchamp 1988).
type SpikeAndSlab struct {
	Spike, Slab float64 // spreads
	InSpike     float64 // probability
}

// Update is the mean and the spread of the quantity after an estimate of it with a
// standard error.
func (p SpikeAndSlab) Update(estimate, standardError float64) (mean, spread float64) {
	if math.IsInf(standardError, 1) {
		return 0, math.Sqrt(p.InSpike*p.Spike*p.Spike + (1-p.InSpike)*p.Slab*p.Slab)
	}
	var weight, center, variance [2]float64
	for i, part := range []struct{ prior, spread float64 }{{p.InSpike, p.Spike}, {1 - p.InSpike, p.Slab}} {
		total := part.spread*part.spread + standardError*standardError
		weight[i] = part.prior * math.Exp(-estimate*estimate/(2*total)) / math.Sqrt(total)
		center[i] = estimate * part.spread * part.spread / total
		variance[i] = part.spread * part.spread * standardError * standardError / total
	}
	slab := 1.0 // also where the estimate is out of all proportion to the spike
	if sum := weight[0] + weight[1]; sum > 0 {
		slab = weight[1] / sum
	}
	mean = (1-slab)*center[0] + slab*center[1]
	square := (1-slab)*(variance[0]+center[0]*center[0]) + slab*(variance[1]+center[1]*center[1])
	return mean, math.Sqrt(max(0, square-mean*mean))
}
