package trace

import (
	"fmt"
	"strings"
)

// Readers lists every format, sorted by name.
func Readers() []Descriptor {
	return []Descriptor{
		alibaba2017,
		alibaba2018,
		alibabaGPU2023,
		azureVM2017,
		genericCSV,
		facebookSWIM,
		google2011,
		philly,
		swf,
	}
}

// Names lists the names of the formats.
func Names() []string {
	var names []string
	for _, d := range Readers() {
		names = append(names, d.Name)
	}
	return names
}

// Lookup returns the format of that name, or an error that lists the known ones.
func Lookup(name string) (Descriptor, error) {
	for _, d := range Readers() {
		if d.Name == name {
			return d, nil
		}
	}
	return Descriptor{}, fmt.Errorf("unknown trace format %q; known: %s", name, strings.Join(Names(), ", "))
}
