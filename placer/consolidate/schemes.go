package consolidate

import (
	"fmt"
	"strings"
)

// Scheme is a way to consolidate: BLOC, or one of what it is compared with.
type Scheme struct {
	Name    string // as on the command line
	Summary string
	// Isolated keeps one instance on each node.
	Isolated bool
	// Chunks divides instances into objects of a size; else an instance is one object.
	Chunks bool
	// Peak places by the 95th percentile of the demand instead of the first one.
	Peak bool
	// Dynamic updates the placement every interval.
	Dynamic bool
	// Bound places nothing: it is the lower bound on the power.
	Bound bool
	Rules func() Rules
}

func withRules(change func(*Rules)) func() Rules {
	return func() Rules {
		r := PaperRules()
		change(&r)
		return r
	}
}

// Schemes lists every scheme, sorted by name (§B.7; the last two of ours say what parts of
// BLOC are worth).
func Schemes() []Scheme {
	return []Scheme{
		{Name: "b-dyn", Summary: "Algorithms 1 and 2 over whole instances", Dynamic: true, Rules: PaperRules},
		{Name: "b-fine", Summary: "Algorithm 1 once, over chunks, by the first demand", Chunks: true, Rules: PaperRules},
		{Name: "b-max", Summary: "Algorithm 1 once, over whole instances, by the 95th percentile of their demand", Peak: true, Rules: PaperRules},
		{Name: "bloc", Summary: "Algorithms 1 and 2 over chunks, with prediction", Chunks: true, Dynamic: true, Rules: PaperRules},
		{Name: "bloc-first-fit", Summary: "BLOC that looks at all nodes in use, not at the last one only", Chunks: true, Dynamic: true, Rules: withRules(func(r *Rules) { r.FirstFit = true })},
		{Name: "bloc-no-interference", Summary: "BLOC without the losses of pairs", Chunks: true, Dynamic: true, Rules: withRules(func(r *Rules) { r.NoInterference = true })},
		{Name: "capacity", Summary: "first-fit by capacity; bandwidth and interference do not count", Rules: withRules(func(r *Rules) { r.CapacityOnly = true })},
		{Name: "none", Summary: "one instance on each node, all nodes on", Isolated: true, Rules: PaperRules},
		{Name: "oracle", Summary: "a bound on the power: demand is known, moves are free, nothing interferes", Bound: true, Rules: PaperRules},
	}
}

// LookupScheme returns the scheme of that name, or an error that lists the known ones.
func LookupScheme(name string) (Scheme, error) {
	var names []string
	for _, s := range Schemes() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scheme{}, fmt.Errorf("unknown scheme %q; known: %s", name, strings.Join(names, ", "))
}
