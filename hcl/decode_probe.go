package hcl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// probe reads the probe block and checks it against the target.
func (s *source) probe(r *reading, t performance.Target, o Options) *performance.ProbeSpec {
	p := r.block("probe")
	if p == nil && r.has("probe") {
		return nil // reported when it was read
	}
	if p == nil {
		if t.Kind != "" && t.Kind != performance.BestEffort {
			s.fail(r.at, message{
				summary: fmt.Sprintf("a target of %s needs a probe", t.Kind),
				detail:  knownAre(probeSchema().variantNames()),
				hint:    probeHint(t.Kind),
			})
		}
		return nil
	}
	if p.label == "" {
		return nil // reported when it was read
	}
	spec := performance.ProbeSpec{
		Type: p.label,
		Task: p.text("task"), Port: p.text("port"), Path: p.text("path"),
		Rate: p.text("rate"), Latency: p.text("latency"),
		Pattern: p.text("pattern"), Stream: p.text("stream"),
		Command: p.texts("command"), Mode: performance.ProbeMode(p.text("mode")),
		Work: p.number("work"), Timeout: p.span("timeout"),
	}
	if spec.Timeout == 0 {
		spec.Timeout = performance.DefaultProbeTimeout
	}
	s.checkProbe(p, spec, t)
	s.askProbe(p, spec, t, o)
	return &spec
}

// probeNamed is the probe of that name, which the schema has checked.
func probeNamed(name string) probeInfo {
	all := probes()
	if i := slices.IndexFunc(all, func(p probeInfo) bool { return p.name == name }); i >= 0 {
		return all[i]
	}
	return probeInfo{}
}

func probeHint(k performance.Kind) string {
	if k == performance.FinishWithin {
		return `add probe "completion" { } if nothing can be read before the end`
	}
	return `add probe "prometheus" { … } if the workload serves metrics, probe "log" { … } if it prints its progress`
}

// checkProbe holds the probe against the target: what the target asks for must
// be something the probe can see.
func (s *source) checkProbe(p *reading, spec performance.ProbeSpec, t performance.Target) {
	if spec.Path != "" && !strings.HasPrefix(spec.Path, "/") {
		s.fail(p.where("path"), message{
			summary: fmt.Sprintf("path %q does not start with /", shorten(spec.Path)),
			hint:    fmt.Sprintf("write path = %q", "/"+shorten(spec.Path)),
		})
	}
	if len(spec.Command) > 0 && strings.TrimSpace(spec.Command[0]) == "" {
		s.fail(p.where("command"), message{summary: "command does not name a program", hint: "its first entry is the program"})
	}
	switch info := probeNamed(spec.Type); {
	case !info.progress:
		s.checkBlindProbe(p, t)
		return
	case info.copyOnly && t.Kind == performance.Rate:
		s.warn(p.at, message{
			summary: "whether the job reaches its target is not seen while it runs",
			detail:  fmt.Sprintf("Probe %q reads only copies under profile.", spec.Type),
			hint:    "use a probe that counts the job's own work, if it is to be watched and corrected",
		})
	case info.copyOnly:
		return // which targets go with it, the probe knows
	}
	switch {
	case t.Kind == performance.FinishWithin && !p.has("work"):
		s.checkNoWork(p, spec)
	case t.Kind != "" && t.Kind != performance.FinishWithin && p.has("work"):
		s.fail(p.where("work"), message{
			summary: "work is given without finish_within",
			detail:  "work is how much a job with a finish time has to do in all.",
			hint:    "remove it, or make finish_within the target",
		})
	}
	if t.Latency != nil && spec.Latency == "" {
		s.fail(p.at, message{
			summary: "the latency bound of the target is not measured by this probe",
			detail:  "It needs a histogram of response times in seconds.",
			hint:    `add latency = "…" to a probe "prometheus", or remove the latency block`,
		})
	}
}

// checkBlindProbe checks a probe that sees only the end of the work.
func (s *source) checkBlindProbe(p *reading, t performance.Target) {
	switch {
	case t.Kind == performance.QPS:
		s.fail(p.at, message{
			summary: fmt.Sprintf("probe %q cannot measure requests per second", p.label),
			detail:  "It notices only that the job has ended.",
			hint:    `use probe "prometheus", "log" or "exec"`,
		})
	case t.Kind == performance.Rate && !p.has("work"):
		s.fail(p.at, message{
			summary: fmt.Sprintf("probe %q cannot measure a rate unless work is given", p.label),
			detail:  "The rate is the work divided by the time to its end.",
			hint:    "add work = …, the units of work in the whole job",
		})
	}
}

// checkNoWork: a finish time is predicted from the work that is left. A running
// total still shows slowdown; a rate alone says nothing of the end.
func (s *source) checkNoWork(p *reading, spec performance.ProbeSpec) {
	m := message{
		summary: "the target is finish_within, but the probe is not given the amount of work",
		hint:    "add work = …, the units of work in the whole job",
	}
	if spec.Mode == performance.ModeRate {
		s.fail(p.at, m)
		return
	}
	m.summary += "; the end cannot be predicted"
	s.warn(p.at, m)
}

// askProbe asks the probe itself, once nothing else is wrong.
func (s *source) askProbe(p *reading, spec performance.ProbeSpec, t performance.Target, o Options) {
	if o.ValidateProbe == nil || s.problems.HasErrors() {
		return
	}
	schema, _ := probeSchema().variant(spec.Type)
	for _, err := range splitErrors(o.ValidateProbe(spec, t)) {
		text := strings.TrimPrefix(err.Error(), fmt.Sprintf("probe %q: ", spec.Type))
		m, at := message{summary: fmt.Sprintf("probe %q: %s", spec.Type, text)}, p.at
		name, _, _ := strings.Cut(text, ": ")
		if a, ok := schema.attribute(name); ok {
			m.detail, at = sentence(name+" is "+a.summary), p.where(name)
		}
		s.fail(at, m)
	}
}

// splitErrors are the errors that errors.Join put together.
func splitErrors(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
