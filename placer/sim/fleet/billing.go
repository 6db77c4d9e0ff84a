package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// billed is when a node is paid for until the end of an account: from when it is
// ready until it is given back.
func (r *Rented) billed(end Instant) (from, to Instant, ok bool) {
	to = r.Returned
	if to == Never || to > end {
		to = end
	}
	return r.Ready, to, to > r.Ready
}

// MeanCores are the rented cores that are billed on average until a moment: each node by the
// second, for minimum at least.
func MeanCores(rented []Rented, end Instant, minimum time.Duration) float64 {
	if end <= 0 {
		return 0
	}
	sum := 0.0
	for i := range rented {
		if from, to, ok := rented[i].billed(end); ok {
			sum += float64(rented[i].Cores) * provision.Billed((to-from).Seconds(), minimum.Seconds())
		}
	}
	return sum / end.Hours()
}

// Spent is what rented nodes cost until a moment: each by the second, for minimum at least, at the price
// of its type.
func Spent(rented []Rented, end Instant, minimum time.Duration) float64 {
	sum := 0.0
	for i := range rented {
		if from, to, ok := rented[i].billed(end); ok {
			sum += rented[i].PricePerHour * provision.Billed((to-from).Seconds(), minimum.Seconds())
		}
	}
	return sum
}

// MeanNodes is how many nodes are there on average until a moment.
func MeanNodes(rented []Rented, end Instant) float64 {
	if end <= 0 {
		return 0
	}
	sum := 0.0
	for i := range rented {
		if from, to, ok := rented[i].billed(end); ok {
			sum += (to - from).Seconds()
		}
	}
	return sum / end.Seconds()
}

// SustainedCores is MeanCores where a provider gives a discount on sustained use, as if what
// happened until the end went on for a month. Nodes of one type count together: the first is
// used while one at least is there, the second while two are, and so on (Google's inferred
// instances), and each is billed by the share of the month for which it is used.
func SustainedCores(rented []Rented, end Instant, steps []provision.Discount) float64 {
	if end <= 0 {
		return 0
	}
	byType := map[string][]Rented{}
	for _, r := range rented {
		byType[r.Type] = append(byType[r.Type], r)
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(byType)) {
		of := byType[name]
		for _, share := range shares(of, end) {
			sum += float64(of[0].Cores) * share * provision.Sustained(share, steps)
		}
	}
	return sum
}

// shares of the time for which one node at least is there, two at least, and so on.
func shares(rented []Rented, end Instant) []float64 {
	type change struct {
		at   Instant
		more int
	}
	var changes []change
	for i := range rented {
		if from, to, ok := rented[i].billed(end); ok {
			changes = append(changes, change{from, 1}, change{to, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more)) })
	var out []float64
	there, since := 0, Instant(0)
	for _, c := range changes {
		for k := range there {
			out[k] += (c.at - since).Seconds() / end.Seconds()
		}
		there, since = there+c.more, c.at
		if there > len(out) {
			out = append(out, 0)
		}
	}
	return out
}
