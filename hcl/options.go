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
	// Strategies and Mappings are those of rented nodes that an agent's file may name.
	Strategies, Mappings []string
	// ValidateProbe is asked after the table of probes found nothing wrong, for
	// what only the probe knows (a regular expression, a metric's name). Errors
	// may be joined; one that begins `probe "type": attribute: ` is shown at that
	// attribute.
	ValidateProbe func(performance.ProbeSpec, performance.Target) error
}

// probeInfo says which attributes of the probe block a probe takes, by their
// names in the block.
type probeInfo struct {
	name       string
	summary    string
	attributes []string
	required   []string
	// progress says whether readings show progress while the workload runs.
	progress bool
	// copyOnly says that only a copy under profile is read, and no running job.
	copyOnly bool
}

// probes are the probes that a block may name, sorted.
func probes() []probeInfo {
	return []probeInfo{
		{
			name:       "completion",
			summary:    "reads nothing while the job runs; the time until its end is measured",
			attributes: []string{"task", "work", "timeout"},
		},
		{
			name:       "exec",
			summary:    "runs a command inside the task, with its rights; it prints one number. Refused while profiling where the task is bound by seccomp (Docker's default), a user namespace, AppArmor or SELinux: name another probe there",
			attributes: []string{"command", "task", "mode", "work", "timeout"},
			required:   []string{"command"},
			progress:   true,
		},
		{
			name:       "instructions",
			summary:    "counts the instructions that the processor completes for the task. Read only while a copy is profiled, on nodes with hardware counters; the target is best_effort, or a rate with unit = \"instructions\"",
			attributes: []string{"task", "timeout"},
			progress:   true,
			copyOnly:   true,
		},
		{
			name:       "log",
			summary:    "matches a regular expression against the task's output; its one group is the number",
			attributes: []string{"pattern", "task", "stream", "mode", "work", "timeout"},
			required:   []string{"pattern"},
			progress:   true,
		},
		{
			name:       "prometheus",
			summary:    "reads a counter, and a histogram for latency, from the workload's metrics page",
			attributes: []string{"port", "rate", "latency", "path", "work", "timeout"},
			required:   []string{"port", "rate"},
			progress:   true,
		},
	}
}

// sourceNames are the sources of interference that a block or the agent's file may
// name.
func sourceNames() []string {
	var out []string
	for _, s := range interference.Sources() {
		out = append(out, string(s.Source))
	}
	return out
}
