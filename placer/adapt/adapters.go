package adapt

import (
	"fmt"
	"strings"
)

// Adapters is the table, sorted by name.
func Adapters() []Descriptor {
	return []Descriptor{
		{Name: "close", Summary: "stops adding to a node whose workload is slower than predicted", Paper: "Delimitrou 2015, §3.3.5", New: newClose},
		{Name: "enlarge", Summary: "gives a workload that falls short more CPU where it is, and does nothing else", Paper: "Delimitrou 2015, §8.3.3", New: newEnlarge},
		{Name: "expected", Summary: "as quasar, and moves workloads to where they are worth more", New: newExpected},
		{Name: "kflr", Summary: "as quasar, but work with a finish time is corrected as soon as it is predicted to miss it", Paper: "Sampaio, KFLR", New: newKFLR},
		{Name: "none", Summary: "changes nothing", New: newNone},
		{Name: "obfit", Summary: "empties under-used nodes, by best fit at full speed", Paper: "Sampaio, §VI (baseline, reconstructed)", New: newOBFIT},
		{Name: "pp-rtte", Summary: "caps and moves tasks so that they end in time on the fewest watts; as kflr where there are no caps", Paper: "Sampaio, Algorithm 1", New: newPPRTTE},
		{Name: "quasar", Summary: "classifies again, resizes, scales and moves to keep the target", Paper: "Delimitrou 2015, §4.3.4", New: newQuasar},
		{Name: "rtte", Summary: "empties under-used nodes, expecting no slowdown", Paper: "Sampaio, §VI (baseline, reconstructed)", New: newRTTE},
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
