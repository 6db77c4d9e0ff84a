package lsh

import (
	"math"
	"math/rand/v2"
)

// Metric is a distance for which there is a stable distribution.
type Metric int

// The metrics.
const (
	Euclidean Metric = iota // normal
	Manhattan               // Cauchy
)

// String is the metric's name.
func (m Metric) String() string {
	if m == Manhattan {
		return "manhattan"
	}
	return "euclidean"
}

// stable draws from the distribution.
func (m Metric) stable(random *rand.Rand) float64 {
	if m == Manhattan {
		return math.Tan(math.Pi * (random.Float64() - 0.5))
	}
	return random.NormFloat64()
}

func (m Metric) distance(a, b []float64) float64 {
	b = b[:len(a)]
	var sum float64
	if m == Manhattan {
		for j, v := range a {
			sum += math.Abs(v - b[j])
		}
		return sum
	}
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return math.Sqrt(sum)
}

// Collision is the probability that one function of a width agrees on two points
// at a distance, both in units of the radius (Datar 2004, §3.2).
func Collision(m Metric, width, distance float64) float64 {
	if distance <= 0 {
		return 1
	}
	r := width / distance
	if m == Manhattan {
		return 2*math.Atan(r)/math.Pi - math.Log1p(r*r)/(math.Pi*r)
	}
	normal := 0.5 * math.Erfc(r/math.Sqrt2) // Φ(−r)
	return 1 - 2*normal - 2/(math.Sqrt(2*math.Pi)*r)*(1-math.Exp(-r*r/2))
}

// FoundReused is the same with tables of pairs of halves.
func FoundReused(m Metric, width, distance float64, functions, halves int) float64 {
	q := math.Pow(Collision(m, width, distance), float64(functions)/2)
	n := float64(halves)
	return 1 - math.Pow(1-q, n) - n*q*math.Pow(1-q, n-1)
}

// Tables is the least number of tables of so many functions that misses a point
// at the radius with probability failure at most: ⌈ln failure / ln(1 − p(1)^k)⌉.
func Tables(m Metric, width float64, functions int, failure float64) int {
	return int(math.Ceil(math.Log(failure) / math.Log1p(-math.Pow(Collision(m, width, 1), float64(functions)))))
}

// Halves is the least number of halves that does, where tables are pairs of them.
func Halves(m Metric, width float64, functions int, failure float64) int {
	n := 2
	for FoundReused(m, width, 1, functions, n) < 1-failure {
		n++
	}
	return n
}
