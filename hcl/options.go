package hcl

import (
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Options are what the reader of a performance block knows of the rest of the
// program.
type Options struct {
	// Policies are the placement policies a block may name; without them it may
	// name none.
	Policies []string
	// Sources are the sources of interference a block may name; default all.
	Sources []interference.Source
	// Probes are the probes a block may name, with their attributes.
	Probes []ProbeSchema
	// ValidateProbe is asked after the table of Probes found nothing wrong, for
	// what only the probe knows (a regular expression, a metric's name). Errors
	// may be joined; one that begins `probe "type": attribute: ` is shown at that
	// attribute.
	ValidateProbe func(performance.ProbeSpec, performance.Target) error
}

// ProbeSchema says which attributes of the probe block a probe takes, by their
// names in the block.
type ProbeSchema struct {
	Name       string
	Summary    string
	Attributes []string
	Required   []string
	// Progress says whether readings show progress while the workload runs.
	Progress bool
}

// DefaultProbes are the probes known without Options, sorted.
func DefaultProbes() []ProbeSchema {
	return []ProbeSchema{
		{
			Name:       "completion",
			Summary:    "reads nothing while the job runs; the time until its end is measured",
			Attributes: []string{"task", "work", "timeout"},
		},
		{
			Name:       "exec",
			Summary:    "runs a command inside the task; it prints one number",
			Attributes: []string{"command", "task", "mode", "work", "timeout"},
			Required:   []string{"command"},
			Progress:   true,
		},
		{
			Name:       "log",
			Summary:    "matches a regular expression against the task's output; its one group is the number",
			Attributes: []string{"pattern", "task", "stream", "mode", "work", "timeout"},
			Required:   []string{"pattern"},
			Progress:   true,
		},
		{
			Name:       "prometheus",
			Summary:    "reads a counter, and a histogram for latency, from the workload's metrics page",
			Attributes: []string{"port", "rate", "latency", "path", "work", "timeout"},
			Required:   []string{"port", "rate"},
			Progress:   true,
		},
	}
}

func (o Options) withDefaults() Options {
	if o.Sources == nil {
		for _, s := range interference.Sources() {
			o.Sources = append(o.Sources, s.Source)
		}
	}
	if o.Probes == nil {
		o.Probes = DefaultProbes()
	}
	return o
}

func sourceNames(sources []interference.Source) []string {
	out := make([]string, len(sources))
	for i, s := range sources {
		out[i] = string(s)
	}
	return out
}
