package lsh

import "math"

// FoundPlain is the probability that tables of so many functions find a point at a
// distance.
func FoundPlain(m Metric, width, distance float64, functions, tables int) float64 {
	return 1 - math.Pow(1-math.Pow(Collision(m, width, distance), float64(functions)), float64(tables))
}
