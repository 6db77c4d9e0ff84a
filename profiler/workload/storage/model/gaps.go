package model

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Family is a family of distributions of the gaps between I/Os (§A.3.4).
type Family string

// The families. Poisson draws whole milliseconds: a Poisson process has exponential gaps,
// and the text lists both.
const (
	UnknownFamily Family = ""
	Static        Family = "static"
	Normal        Family = "normal"
	Exponential   Family = "exponential"
	Poisson       Family = "poisson"
	Gamma         Family = "gamma"
)

// Families are all of them, sorted by name.
func Families() []Family { return []Family{Exponential, Gamma, Normal, Poisson, Static} }

// FamilyOf finds a family by its name.
func FamilyOf(name string) (Family, error) {
	if f := Family(name); slices.Contains(Families(), f) {
		return f, nil
	}
	var names []string
	for _, f := range Families() {
		names = append(names, string(f))
	}
	return UnknownFamily, fmt.Errorf("no family of gaps %q; known: %s", name, strings.Join(names, ", "))
}

// Gap is a distribution of gaps. Without a family it is unknown: no gap was seen.
type Gap struct {
	Family           Family  `json:"family,omitempty"`
	MeanMicroseconds float64 `json:"mean_microseconds,omitempty"`
	// Variation is the coefficient of variation: standard deviation over mean.
	Variation float64 `json:"variation,omitempty"`
}

// Known tells whether a gap was seen.
func (g Gap) Known() bool { return g.Family != UnknownFamily }

// Shape is that of the gamma distribution with this mean and variation, k = mean²/var.
// The text's default, scale = mean, is k = 1.
func (g Gap) Shape() float64 { return 1 / max(g.Variation*g.Variation, leastVariance) }

// leastVariance keeps the shape of a gamma distribution finite: at a variation of 0.1 %
// it cannot be told from a constant.
const leastVariance = 1e-6

// gapBins is how many classes of gaps are counted: below 1 µs, then doubling, to 19 hours.
const gapBins = 37

// gapStats is what is kept of the gaps of a transition, in bounded memory.
type gapStats struct {
	n            int64
	sum, squares float64 // µs, µs²
	bins         [gapBins]uint32
}

func (s *gapStats) add(gap time.Duration) {
	us := float64(gap) / float64(time.Microsecond)
	s.n++
	s.sum += us
	s.squares += us * us
	bin := min(bits.Len64(uint64(gap/time.Microsecond)), gapBins-1)
	if s.bins[bin] < math.MaxUint32 {
		s.bins[bin]++
	}
}

func (s *gapStats) merge(o *gapStats) {
	s.n += o.n
	s.sum += o.sum
	s.squares += o.squares
	for i, n := range o.bins {
		s.bins[i] = uint32(min(uint64(s.bins[i])+uint64(n), math.MaxUint32))
	}
}

// leastGaps is from how many gaps on a family is chosen. A transition with fewer has the
// family and the variation of its type; of a type they are taken as exponential (chosen by
// us: below, the distance between families is within chance).
const leastGaps = 30

// gapOf fits the gaps of one transition of a type.
func (s *gapStats) gapOf(whole Gap) Gap {
	g := s.gap()
	if g.Known() && s.n < leastGaps && g.MeanMicroseconds > 0 {
		g.Family, g.Variation = whole.Family, whole.Variation
	}
	return g
}

// gap fits a distribution: by mean and variance, and of the family that is nearest by the
// distance of Kolmogorov and Smirnov at the borders of the classes. Two are equally near
// where chance could tell them apart, 1/√n; then the first one is taken, and exponential is
// first. Poisson is no candidate: it is there for those who ask for it.
func (s *gapStats) gap() Gap {
	if s.n == 0 {
		return Gap{}
	}
	mean := s.sum / float64(s.n)
	g := Gap{Family: Exponential, MeanMicroseconds: mean, Variation: 1}
	if mean == 0 {
		return Gap{Family: Static}
	}
	if v := s.squares/float64(s.n)/mean/mean - 1; v >= leastVariance {
		g.Variation = math.Sqrt(v)
	} else {
		g.Variation = 0 // what is below is rounding
	}
	if s.n < leastGaps {
		return g
	}
	nearest := math.Inf(1)
	for _, f := range []Family{Exponential, Static, Normal, Gamma} {
		if d := s.distance(Gap{f, mean, g.Variation}); d < nearest-1/math.Sqrt(float64(s.n)) {
			nearest, g.Family = d, f
		}
	}
	return g
}

// distance is the largest difference between the distribution of the classes and a fitted
// one.
func (s *gapStats) distance(g Gap) float64 {
	below, largest := 0.0, 0.0
	total := 0.0
	for _, n := range s.bins {
		total += float64(n)
	}
	for i := range gapBins - 1 {
		below += float64(s.bins[i])
		border := math.Ldexp(1, i) // bin i holds gaps below 2^i µs
		largest = max(largest, math.Abs(below/total-g.CDF(border)))
	}
	return largest
}

// CDF is the part of the gaps that are shorter, in µs.
func (g Gap) CDF(microseconds float64) float64 {
	mean := g.MeanMicroseconds
	switch g.Family {
	case Exponential:
		return distuv.Exponential{Rate: 1 / mean}.CDF(microseconds)
	case Gamma:
		k := g.Shape()
		return distuv.Gamma{Alpha: k, Beta: k / mean}.CDF(microseconds)
	case Normal:
		// Truncated at 0: there is no gap below.
		n := distuv.Normal{Mu: mean, Sigma: mean * max(g.Variation, math.Sqrt(leastVariance))}
		zero := n.CDF(0)
		return (n.CDF(microseconds) - zero) / (1 - zero)
	case Poisson:
		const perMillisecond = 1000
		return distuv.Poisson{Lambda: mean / perMillisecond}.CDF(math.Floor(microseconds / perMillisecond))
	default:
		if microseconds > mean {
			return 1
		}
		return 0
	}
}
