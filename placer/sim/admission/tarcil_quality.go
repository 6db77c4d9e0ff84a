package admission

import "github.com/nomad-placer/nomad-placer/placer/numeric/digits"

// demand is what an ask needs of a resource unit (Delimitrou 2015, §7.2, Eq.
// 7.1–7.4): its caused scores, the highest first, are one number T; a unit's
// contention in the same order is 1 − U, and the ask keeps its QoS where U ≥ T.
type demand struct{ digits.Number }

func demandOf(caused []float64) demand { return demand{digits.Sorted(digits.Number{}, caused)} }

// keeps reports U ≥ T. An ask without scores is kept anywhere.
func (d demand) keeps(contention []float64) bool {
	return len(d.Order) == 0 || 1-d.Read(contention) >= d.Value
}
