package hcl

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	hclv2 "github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// MaxTextBytes is the longest text of a performance block that is read. A
// sensible block is under 2 KiB; what is longer is refused before parsing.
const MaxTextBytes = 64 << 10

// Decode reads the text of a performance block: the bare body, or a whole
// `performance { … }`. filename is what errors call the text. The error, if any, is
// of type Diagnostics.
//
// The bound of slowdown_max, use_max of a disk and the timeout of a probe are filled in where
// the text has none; what depends on the agent (policy, hold, length of a profile)
// stays zero. Sizes of scale come back in ascending order.
func (o Options) Decode(src []byte, filename string) (performance.Spec, []string, error) {
	return o.decodeAt(newSource(src, filename, position{line: 1, column: 1}))
}

// DecodeBlock reads a block that Extract cut from a jobspec; lines and columns
// are those of the jobspec.
func (o Options) DecodeBlock(b Block, filename string) (performance.Spec, []string, error) {
	return o.decodeAt(newSource([]byte(b.Text), filename, position{line: b.Line, column: b.Column}))
}

func (o Options) decodeAt(s *source) (performance.Spec, []string, error) {
	spec := o.decode(s)
	problems := s.problems.sorted()
	if err := problems.Err(); err != nil {
		return performance.Spec{}, problems.Warnings(), err
	}
	return spec, problems.Warnings(), nil
}

func (o Options) decode(s *source) performance.Spec {
	body := s.parse(MaxTextBytes)
	if body == nil {
		return performance.Spec{}
	}
	schema := performanceSchema(o)
	body, at, ok := s.unwrap(body, schema.name)
	if !ok {
		return performance.Spec{}
	}
	r := s.read(body, at, schema, schema)
	spec := performance.Spec{
		Target:             s.target(r),
		Scale:              scale(r.block("scale")),
		Disk:               diskPromise(r.block("disk")),
		SlowdownMaxPercent: performance.DefaultSlowdownMaxPercent,
		Policy:             r.text("policy"),
		Hold:               r.span("hold"),
		Profile:            profile(r.block("profile")),
		Move:               r.truth("move"),
		Near:               s.near(r),
	}
	if r.has("slowdown_max") {
		spec.SlowdownMaxPercent = r.number("slowdown_max")
	}
	spec.Probe = s.probe(r, spec.Target, o)
	if p := r.block("profile"); spec.Profile.Skip && (p.has("seconds") || p.has("sources") || p.has("when") || p.has("allow")) {
		s.warn(p.where("skip"), message{
			summary: "seconds, sources, when and allow of profile have no effect with skip = true",
			hint:    "remove them",
		})
	}
	return spec
}

// near are the names of peers. Whether there are such jobs is known when the group is placed.
func (s *source) near(r *reading) []string {
	names := r.texts("near")
	for i, name := range names {
		switch {
		case name == "" || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }):
			s.fail(r.where("near"), message{
				summary: fmt.Sprintf("near has %q, which is not the name of a job", shorten(name)),
				hint:    `write "job" or "job/group"; both are of the job's own namespace`,
			})
		case slices.Contains(names[:i], name):
			s.fail(r.where("near"), message{summary: fmt.Sprintf("near has %q twice", shorten(name)), hint: "remove one"})
		}
	}
	return names
}

// unwrap goes inside a `performance { … }` where the text is a whole block.
func (s *source) unwrap(body *hclsyntax.Body, name string) (*hclsyntax.Body, hclv2.Range, bool) {
	var outer []*hclsyntax.Block
	for _, b := range body.Blocks {
		if b.Type == name {
			outer = append(outer, b)
		}
	}
	if len(outer) == 0 {
		start := hclv2.Range{Filename: s.filename, Start: s.parserStart(), End: s.parserStart()}
		return body, start, true
	}
	first := outer[0]
	for _, b := range outer[1:] {
		s.fail(b.DefRange(), message{
			summary: fmt.Sprintf("a second performance block; the first is on line %d", first.DefRange().Start.Line),
			hint:    "a group has one performance block; put both into one",
		})
	}
	if len(first.Labels) > 0 {
		s.fail(first.LabelRanges[0], message{summary: "performance takes no label", hint: "write performance { … }"})
	}
	for _, a := range body.Attributes {
		s.fail(a.NameRange, outsideWrapper(a.Name))
	}
	for _, b := range body.Blocks {
		if b.Type != name {
			s.fail(b.DefRange(), outsideWrapper(b.Type))
		}
	}
	return first.Body, first.DefRange(), !s.problems.HasErrors()
}

func outsideWrapper(name string) message {
	return message{
		summary: fmt.Sprintf("%q is outside the performance block", shorten(name)),
		hint:    "move it inside the braces of performance",
	}
}

// targetNames are the attributes that say what kind of target it is.
var targetNames = []string{"qps", "finish_within", "rate", "best_effort"}

func (s *source) target(r *reading) performance.Target {
	t := r.block("target")
	if t == nil && r.has("target") {
		return performance.Target{} // reported when it was read
	}
	if t == nil {
		s.fail(r.at, message{
			summary: "performance has no target",
			detail:  "A target is one of qps, finish_within, rate and best_effort.",
			hint:    "add target { qps = … }, or target { best_effort = true } for work without a target",
		})
		return performance.Target{}
	}
	kind := s.targetKind(t)
	s.checkTargetParts(t)
	target := performance.Target{
		Kind: kind, QPS: t.number("qps"), FinishWithin: t.span("finish_within"),
		Rate: t.number("rate"), Unit: t.text("unit"),
	}
	if l := t.block("latency"); l != nil {
		target.Latency = &performance.Latency{Percentile: l.number("percentile"), Max: l.span("max")}
	}
	return target
}

// targetKind is the kind of target that is given, or "" where there is none or
// more than one.
func (s *source) targetKind(t *reading) performance.Kind {
	var given []string
	for _, name := range targetNames {
		if t.has(name) {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 1:
		return performance.Kind(given[0])
	case 0:
		s.fail(t.at, message{
			summary: "the target is empty",
			detail:  "A target is one of qps, finish_within, rate and best_effort.",
			hint:    "for example qps = 20000",
		})
	default:
		second := given[1]
		for _, name := range given[2:] {
			if t.where(name).Start.Byte > t.where(second).Start.Byte {
				second = name
			}
		}
		if t.where(given[0]).Start.Byte > t.where(second).Start.Byte {
			second = given[0]
		}
		s.fail(t.where(second), message{
			summary: fmt.Sprintf("%d targets: %s", len(given), strings.Join(given, ", ")),
			detail:  "A group has exactly one target.",
			hint:    "keep the one that matters; split the group if two matter",
		})
	}
	return ""
}

// checkTargetParts refuses what does not go with the target.
func (s *source) checkTargetParts(t *reading) {
	if l := t.block("latency"); l != nil && !t.has("qps") {
		s.fail(l.at, message{
			summary: "latency is given without qps",
			detail:  "Only requests answered within the bound count towards qps.",
			hint:    "add qps = …, the requests per second the group must answer within the bound",
		})
	}
	if t.has("unit") && !t.has("rate") {
		s.fail(t.where("unit"), message{
			summary: "unit is given without rate",
			detail:  "unit names what rate counts.",
			hint:    "add rate = …, or remove unit",
		})
	}
	if v, ok := t.values["best_effort"]; ok && !v.truth {
		s.fail(v.at, message{
			summary: "best_effort is false",
			detail:  "best_effort is either true or left out.",
			hint:    "remove the line and name a target: qps, finish_within or rate",
		})
	}
}

func scale(r *reading) performance.ScaleSpec {
	return performance.ScaleSpec{Count: r.sizes("count"), Cores: r.sizes("cores"), MemoryMB: r.sizes("memory")}
}

// diskPromise is nil without a block.
func diskPromise(r *reading) *performance.DiskSpec {
	if r == nil {
		return nil
	}
	out := &performance.DiskSpec{BandwidthMBPerSec: r.number("bandwidth"), MostPercent: performance.DefaultDiskMostPercent}
	if r.has("use_max") {
		out.MostPercent = r.number("use_max")
	}
	out.Limit = r.truth("limit")
	return out
}

func profile(r *reading) performance.ProfileSpec {
	out := performance.ProfileSpec{
		Seconds: int(r.number("seconds")), Sources: sourcesOf(r, "sources"), Skip: r.truth("skip"), When: performance.When(r.text("when")),
	}
	for _, name := range r.texts("allow") {
		out.Allow = append(out.Allow, performance.Permission(name))
	}
	return out
}

func sourcesOf(r *reading, attribute string) []interference.Source {
	var out []interference.Source
	for _, name := range r.texts(attribute) {
		out = append(out, interference.Source(name))
	}
	return out
}
