package adapt

import (
	"fmt"
	"strings"
)

// Adapters is the table, sorted by name.
func Adapters() []Descriptor {
	return []Descriptor{
		{Name: "close", Summary: "stops adding to a node whose workload is slower than predicted", Paper: "Delimitrou 2015, §3.3.5", New: newClose},
		{Name: "none", Summary: "leaves everything as it was placed", New: newNone},
		{Name: "quasar", Summary: "classifies anew, resizes, scales and moves to hold the target", Paper: "Delimitrou 2015, §4.3.4", New: newQuasar},
	}
}

// Lookup returns the adapter of that name.
func Lookup(name string) (Descriptor, error) {
	var known []string
	for _, d := range Adapters() {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return Descriptor{}, fmt.Errorf("unknown adapter %q; known: %s", name, strings.Join(known, ", "))
}
