package admission

import (
	"fmt"
	"strings"
)

// Controllers lists every controller, sorted by name.
func Controllers() []Descriptor {
	return []Descriptor{
		arqDescriptor,
		fifoDescriptor,
		greedyFitDescriptor,
		hcloudDescriptor,
		lotesDescriptor,
		mibsDescriptor,
		mixDescriptor,
		noneDescriptor,
		patientDescriptor,
		tarcilDescriptor,
		targetValueDescriptor,
		tetrisDescriptor,
	}
}

// Lookup returns the controller of that name, or an error that lists the known
// ones.
func Lookup(name string) (Descriptor, error) {
	all := Controllers()
	names := make([]string, len(all))
	for i, d := range all {
		if d.Name == name {
			return d, nil
		}
		names[i] = d.Name
	}
	return Descriptor{}, fmt.Errorf("unknown admission %q; known: %s", name, strings.Join(names, ", "))
}
