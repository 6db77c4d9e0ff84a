package deadline

import (
	"fmt"
	"strings"
)

// DefaultDetector is the one the paper proposes.
const DefaultDetector = "kflr"

// Detectors lists every detector, sorted by name.
func Detectors() []Descriptor {
	return []Descriptor{
		{Name: "atd", Summary: "alarm where the mean of the last five samples exceeds a tenth", New: newATD},
		{Name: "etd", Summary: "alarm where the mean of three such means, one sample apart, does", New: newETD},
		{Name: "kflr", Summary: "alarm where the regression of filtered samples ends past the deadline", New: newKFLR},
		{Name: "lr", Summary: "alarm where the regression of raw samples does", New: newLR},
		{Name: "std", Summary: "alarm where three of the last five samples exceed a tenth", New: newSTD},
	}
}

// Lookup returns the detector of that name, or an error that lists the known ones.
func Lookup(name string) (Descriptor, error) {
	var known []string
	for _, d := range Detectors() {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return Descriptor{}, fmt.Errorf("unknown detector %q; known: %s", name, strings.Join(known, ", "))
}
