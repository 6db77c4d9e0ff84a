package cluster

import (
	"iter"
	"maps"
	"slices"
)

// Attributes are a node's texts by name. A client with the driver has some sixty, and nodes of
// a fleet have the same names: as two lists, of which nodes can share the names, they are a
// quarter of what a map of them is. The zero value has none.
type Attributes struct {
	names  []string // ascending; not written to
	values []string
}

// NewAttributes are those of a map.
func NewAttributes(m map[string]string) Attributes {
	a := Attributes{names: slices.Sorted(maps.Keys(m)), values: make([]string, len(m))}
	for i, name := range a.names {
		a.values[i] = m[name]
	}
	return a
}

// Of is the attribute of a name, and whether there is one.
func (a Attributes) Of(name string) (string, bool) {
	i, ok := slices.BinarySearch(a.names, name)
	if !ok {
		return "", false
	}
	return a.values[i], true
}

// Text is the attribute of a name; empty where there is none.
func (a Attributes) Text(name string) string {
	text, _ := a.Of(name)
	return text
}

// With is a copy in which one attribute is another, or new.
func (a Attributes) With(name, value string) Attributes {
	m := maps.Collect(a.All())
	m[name] = value
	return NewAttributes(m)
}

// All of them, by ascending name.
func (a Attributes) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i, name := range a.names {
			if !yield(name, a.values[i]) {
				return
			}
		}
	}
}

// Shared has the list of names from share, which may give one that others have, too, and each
// value from text, which is told its name.
func (a Attributes) Shared(share func([]string) []string, text func(name, value string) string) Attributes {
	out := Attributes{names: share(a.names), values: make([]string, len(a.values))}
	for i, name := range a.names {
		out.values[i] = text(name, a.values[i])
	}
	return out
}
