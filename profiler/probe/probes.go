package probe

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// probes is the list, sorted by name; a new probe is one file and one line.
var probes = []Descriptor{
	completionProbe,
	execProbe,
	instructionsProbe,
	logProbe,
	prometheusProbe,
}

// Probes lists every probe by name. The slice is the caller's own.
func Probes() []Descriptor { return append([]Descriptor(nil), probes...) }

// Lookup returns the probe of that name.
func Lookup(name string) (d Descriptor, ok bool) {
	for _, d := range probes {
		if d.Name == name {
			return d, true
		}
	}
	return Descriptor{}, false
}

// Names lists the probes' names, for messages.
func Names() string {
	names := make([]string, len(probes))
	for i, d := range probes {
		names[i] = d.Name
	}
	return strings.Join(names, ", ")
}

// New makes the probe a spec asks for; task is the default task.
func New(spec performance.ProbeSpec, reach Reach, task string) (Probe, error) {
	d, ok := Lookup(spec.Type)
	if !ok {
		return nil, fmt.Errorf("unknown probe %q; known: %s", spec.Type, Names())
	}
	return d.New(spec, reach, task)
}
