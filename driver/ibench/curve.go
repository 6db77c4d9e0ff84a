package ibench

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Curve is a transfer curve: the impact measured at growing knobs, both in
// percent. Impact never falls. The zero Curve is the identity.
type Curve struct {
	KnobPercent   []float64 `json:"knob_percent,omitempty"`
	ImpactPercent []float64 `json:"impact_percent,omitempty"`
}

// FitCurve makes the impacts monotone by their least-squares non-decreasing fit
// (Ayer et al. 1955). Knobs must grow.
// O(n). It panics where the lengths differ.
func FitCurve(knobPercent, impactPercent []float64) Curve {
	if len(knobPercent) != len(impactPercent) {
		panic("ibench: a curve needs one impact per knob")
	}
	return Curve{KnobPercent: slices.Clone(knobPercent), ImpactPercent: nonDecreasing(impactPercent)}
}

// nonDecreasing returns the non-decreasing sequence closest to y in least squares.
func nonDecreasing(y []float64) []float64 {
	negate := func(y []float64) []float64 {
		out := make([]float64, len(y))
		for i, v := range y {
			out[i] = 0 - v // of 0 it is 0, and not -0
		}
		return out
	}
	return negate(stat.NonIncreasing(negate(y), nil))
}

// Knob returns the knob in percent whose impact is x percent: the inverse of
// the curve, linear between its points and the smallest such knob where the
// curve is flat. Impacts outside the curve give its ends; impact 0 is always
// knob 0, and impact 100 always knob 100.
func (c Curve) Knob(xPercent float64) float64 {
	n := len(c.KnobPercent)
	if n == 0 {
		return min(100, max(0, xPercent))
	}
	switch {
	case xPercent <= 0:
		return 0
	case xPercent >= 100:
		return 100
	}
	i := sort.SearchFloat64s(c.ImpactPercent, xPercent)
	switch {
	case i == n:
		return c.KnobPercent[n-1]
	case i == 0:
		return c.KnobPercent[0]
	}
	below, above := c.ImpactPercent[i-1], c.ImpactPercent[i]
	share := (xPercent - below) / (above - below)
	return c.KnobPercent[i-1] + share*(c.KnobPercent[i]-c.KnobPercent[i-1])
}

func (c Curve) check() error {
	if len(c.KnobPercent) != len(c.ImpactPercent) {
		return errors.New("a curve needs one impact per knob")
	}
	for i := range c.KnobPercent {
		if math.IsNaN(c.KnobPercent[i]) || math.IsNaN(c.ImpactPercent[i]) ||
			c.KnobPercent[i] < 0 || c.KnobPercent[i] > 100 {
			return errors.New("a curve point is outside 0 to 100 percent")
		}
	}
	if !sort.Float64sAreSorted(c.KnobPercent) || !sort.Float64sAreSorted(c.ImpactPercent) {
		return errors.New("a curve that falls")
	}
	return nil
}

// KneeSample is the speed of a walk over one footprint.
type KneeSample struct {
	Bytes       int64
	NsPerAccess float64
}

// KneeSweep is a walk over footprints of growing size.
type KneeSweep struct {
	ReportedBytes int64 // what the machine says the size is
	Shared        bool  // others use the cache at the same time
	Samples       []KneeSample
}

// capacity is the smaller of the reported size and the knee; kneeBytes is 0
// where no knee shows. Where the size is not reported the knee alone counts,
// and the largest footprint walked where there is none.
func (k KneeSweep) capacity() (bytes, kneeBytes int64) {
	if k.Shared {
		kneeBytes, _ = HalfKnee(k.Samples)
	} else {
		kneeBytes, _ = Knee(k.Samples)
	}
	switch {
	case kneeBytes == 0 && k.ReportedBytes == 0 && len(k.Samples) > 0:
		return k.Samples[len(k.Samples)-1].Bytes, 0
	case kneeBytes == 0:
		return k.ReportedBytes, 0
	case k.ReportedBytes == 0:
		return kneeBytes, kneeBytes
	}
	return min(k.ReportedBytes, kneeBytes), kneeBytes
}

// The knee rule: one octave of samples makes the plateau, and two samples in a
// row above the plateau's median by the factor end it, so that a single
// disturbed sample does not.
const (
	kneeFactor         = 1.3
	kneePlateauSamples = 8 // one octave in 1/8-octave steps
)

// Knee returns the largest footprint still served at the speed of the level
// it starts in; ok is false where no knee shows, so the level is at least as
// large as the largest sample. Samples must grow in size.
func Knee(samples []KneeSample) (bytes int64, ok bool) {
	if len(samples) <= kneePlateauSamples+1 {
		return 0, false
	}
	var plateau []float64
	for _, s := range samples[:kneePlateauSamples] {
		plateau = append(plateau, s.NsPerAccess)
	}
	limit := kneeFactor * median(plateau)
	for i := kneePlateauSamples; i+1 < len(samples); i++ {
		if samples[i].NsPerAccess > limit && samples[i+1].NsPerAccess > limit {
			return samples[i-1].Bytes, true
		}
	}
	return 0, false
}

// HalfKnee returns the largest footprint of which a cache that is shared still
// serves half: where the time per access is halfway from that of the first
// octave to that of the last, which must be beyond the cache. On such a cache the
// time does not leap but climbs over two octaves, as others take their part, and
// where the climb begins differs from minute to minute. ok is false where the
// last octave is less than twice as slow. Samples must grow in size.
func HalfKnee(samples []KneeSample) (bytes int64, ok bool) {
	if len(samples) <= 2*kneePlateauSamples {
		return 0, false
	}
	plateau := func(samples []KneeSample) float64 {
		var ns []float64
		for _, s := range samples {
			ns = append(ns, s.NsPerAccess)
		}
		return median(ns)
	}
	here, beyond := plateau(samples[:kneePlateauSamples]), plateau(samples[len(samples)-kneePlateauSamples:])
	if beyond < 2*here {
		return 0, false
	}
	limit := (here + beyond) / 2
	for i := 1; i+1 < len(samples); i++ {
		if samples[i].NsPerAccess > limit && samples[i+1].NsPerAccess > limit {
			return samples[i-1].Bytes, true
		}
	}
	return 0, false
}

// kneeSizes returns sizes from first to last in 1/8-octave steps, each a
// multiple of unit.
func kneeSizes(first, last, unit int64) []int64 {
	var out []int64
	for i := 0; ; i++ {
		size := int64(float64(first)*math.Exp2(float64(i)/8)) / unit * unit
		if size > last || size <= 0 {
			return out
		}
		if len(out) == 0 || size > out[len(out)-1] {
			out = append(out, size)
		}
	}
}

// median returns the median of v without changing it; NaN when v is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// midmean returns the mean of the middle half of v: as little moved by outliers
// as the median, and finer than the ticks of a clock. NaN when v is empty.
func midmean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	s = s[len(s)/4 : len(s)-len(s)/4]
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	return sum / float64(len(s))
}
