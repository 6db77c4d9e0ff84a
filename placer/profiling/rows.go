package profiling

import (
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The most rows that are learnt from, so that neither memory nor the time of a fit grows
// with what somebody stores (chosen by us: thousands of rows hardly predict better than
// hundreds).
const (
	rowsOfAScope = 400
	rowsOfAll    = 4000
)

// rows are the stored profiles that are learnt from, by scope. Where there are too many,
// the oldest go: of their own scope, or of that which has most.
type rows struct {
	of    map[string][]profile.Profile
	count int
}

// add takes a profile in place of one with the same key. What is not learnt from is left
// out: a ramp is most of a profile, and what it says of a score without one is kept. Nobody learns from a profile that says not whose it is.
func (r *rows) add(scope string, p profile.Profile) {
	if scope == "" {
		return
	}
	p = curve.Completed(p)
	p.Ramp, p.Warnings, p.Provenance = nil, nil, nil
	if r.of == nil {
		r.of = map[string][]profile.Profile{}
	}
	list := slices.Clone(r.of[scope]) // models may be fitted to the old one
	if i := slices.IndexFunc(list, func(q profile.Profile) bool { return q.Key == p.Key }); i >= 0 {
		list[i] = p
		r.of[scope] = list
		return
	}
	r.of[scope] = append(list, p)
	r.count++
	if len(r.of[scope]) > rowsOfAScope {
		r.dropOldest(scope)
	}
	if r.count > rowsOfAll {
		r.dropOldest(r.largest())
	}
}

func (r *rows) dropOldest(scope string) {
	list := r.of[scope]
	oldest := 0
	for i, p := range list {
		if p.Taken.Before(list[oldest].Taken) {
			oldest = i
		}
	}
	r.of[scope] = slices.Delete(list, oldest, oldest+1)
	r.count--
}

func (r *rows) largest() string {
	found := ""
	for _, scope := range slices.Sorted(maps.Keys(r.of)) {
		if len(r.of[scope]) > len(r.of[found]) {
			found = scope
		}
	}
	return found
}

// without takes away the rows of some keys, and says of which scopes there were any.
func (r *rows) without(keys []string) (scopes []string) {
	for _, scope := range slices.Sorted(maps.Keys(r.of)) {
		list := slices.DeleteFunc(slices.Clone(r.of[scope]), func(p profile.Profile) bool { return slices.Contains(keys, p.Key) })
		if dropped := len(r.of[scope]) - len(list); dropped > 0 {
			scopes, r.count = append(scopes, scope), r.count-dropped
			r.of[scope] = list
		}
		if len(list) == 0 {
			delete(r.of, scope)
		}
	}
	return scopes
}

// sole are the rows of the only scope that has any.
func (r *rows) sole() ([]profile.Profile, bool) {
	if len(r.of) != 1 {
		return nil, false
	}
	for _, list := range r.of {
		return list, true
	}
	return nil, false
}

func (r *rows) clone() rows { return rows{maps.Clone(r.of), r.count} }
