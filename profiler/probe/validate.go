package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// AttributeError says what is wrong with one attribute of a probe block. Its
// Attribute is the HCL name, so that an editor can point at it.
type AttributeError struct {
	Probe     string
	Attribute string
	Detail    string
}

// Error prints probe, attribute and detail.
func (e *AttributeError) Error() string {
	return fmt.Sprintf("probe %q: %s: %s", e.Probe, e.Attribute, e.Detail)
}

// attribute is one field of a ProbeSpec under its HCL name.
type attribute struct {
	name string
	set  func(performance.ProbeSpec) bool
}

// attributes lists the fields a probe may or may not use, in the order of the
// ProbeSpec. A new field is one line here.
var attributes = []attribute{
	{"task", func(s performance.ProbeSpec) bool { return s.Task != "" }},
	{"port", func(s performance.ProbeSpec) bool { return s.Port != "" }},
	{"path", func(s performance.ProbeSpec) bool { return s.Path != "" }},
	{"rate", func(s performance.ProbeSpec) bool { return s.Rate != "" }},
	{"latency", func(s performance.ProbeSpec) bool { return s.Latency != "" }},
	{"pattern", func(s performance.ProbeSpec) bool { return s.Pattern != "" }},
	{"stream", func(s performance.ProbeSpec) bool { return s.Stream != "" }},
	{"command", func(s performance.ProbeSpec) bool { return len(s.Command) > 0 }},
	{"mode", func(s performance.ProbeSpec) bool { return s.Mode != "" }},
	{"work", func(s performance.ProbeSpec) bool { return s.Work != 0 }},
	{"timeout", func(s performance.ProbeSpec) bool { return s.Timeout != 0 }},
}

// checker collects what is wrong with one spec.
type checker struct {
	probe  string
	spec   performance.ProbeSpec
	target performance.Target
	errs   []error
}

func check(probe string, spec performance.ProbeSpec, target performance.Target) *checker {
	return &checker{probe: probe, spec: spec, target: target}
}

func (c *checker) fail(attribute, format string, args ...any) {
	c.errs = append(c.errs, &AttributeError{c.probe, attribute, fmt.Sprintf(format, args...)})
}

// uses refuses every attribute that is set and not in names. timeout is every
// probe's; work goes with a finish time.
func (c *checker) uses(names ...string) *checker {
	for _, a := range attributes {
		if a.name == "timeout" || a.name == "work" || !a.set(c.spec) || slices.Contains(names, a.name) {
			continue
		}
		c.fail(a.name, "not an attribute of this probe, which uses %s and timeout", strings.Join(names, ", "))
	}
	return c
}

// needs names every attribute in names that is missing.
func (c *checker) needs(names ...string) *checker {
	for _, a := range attributes {
		if slices.Contains(names, a.name) && !a.set(c.spec) {
			c.fail(a.name, "missing")
		}
	}
	return c
}

// common checks the attributes every probe shares.
func (c *checker) common() *checker {
	if c.spec.Timeout < 0 {
		c.fail("timeout", "%s is negative", c.spec.Timeout)
	}
	if !usable(c.spec.Work) {
		c.fail("work", "%v is not an amount of work", c.spec.Work)
	}
	switch c.spec.Mode {
	case "", performance.ModeTotal, performance.ModeRate:
	default:
		c.fail("mode", "%q is neither %q nor %q", c.spec.Mode, performance.ModeTotal, performance.ModeRate)
	}
	return c
}

// progressing checks what goes for every probe that reads a count of work.
func (c *checker) progressing() *checker {
	if c.spec.Work != 0 && c.target.Kind != performance.FinishWithin {
		c.fail("work", "goes with a finish_within target only")
	}
	return c
}

// noLatency refuses a target whose latency bound this probe cannot measure.
func (c *checker) noLatency() *checker {
	if c.target.Latency != nil {
		c.fail("latency", "the target bounds a latency, which only the prometheus probe measures")
	}
	return c
}

func (c *checker) err() error { return errors.Join(c.errs...) }
