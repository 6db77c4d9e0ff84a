package hcl

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Encode writes a spec as the canonical text of its performance block. Decoding
// that text gives the same spec for every spec that Decode can give.
func Encode(spec performance.Spec) []byte {
	w := &writer{}
	w.open("performance")
	w.target(spec.Target)
	if spec.Probe != nil {
		w.probe(*spec.Probe)
	}
	w.scale(spec.Scale)
	if spec.Disk != nil {
		w.open("disk")
		w.line("bandwidth", true, formatNumber(spec.Disk.BandwidthMBPerSec))
		w.line("use_max", true, quoted(formatNumber(spec.Disk.MostPercent)+"%"))
		w.line("limit", spec.Disk.Limit, "true")
		w.close()
	}
	w.line("slowdown_max", spec.SlowdownMaxPercent != 0, quoted(formatNumber(spec.SlowdownMaxPercent)+"%"))
	w.text("policy", spec.Policy)
	w.line("hold", spec.Hold != 0, quoted(formatSpan(spec.Hold)))
	w.profile(spec.Profile)
	w.line("move", spec.Move, "true")
	w.list("near", mapped(spec.Near, quoted))
	w.close()
	return w.out.Bytes()
}

// writer writes blocks as `hcl fmt` would: two spaces of indentation, the = of
// neighbouring lines under each other.
type writer struct {
	out   bytes.Buffer
	depth int
	lines [][2]string // attributes not yet written, which are aligned together
}

func (w *writer) open(head string) {
	w.flush()
	w.indent()
	fmt.Fprintf(&w.out, "%s {\n", head)
	w.depth++
}

func (w *writer) close() {
	w.flush()
	w.depth--
	w.indent()
	w.out.WriteString("}\n")
}

func (w *writer) indent() { w.out.WriteString(strings.Repeat("  ", w.depth)) }

func (w *writer) flush() {
	width := 0
	for _, l := range w.lines {
		width = max(width, len(l[0]))
	}
	for _, l := range w.lines {
		w.indent()
		fmt.Fprintf(&w.out, "%-*s = %s\n", width, l[0], l[1])
	}
	w.lines = nil
}

// line writes an attribute if it is given.
func (w *writer) line(name string, given bool, value string) {
	if given {
		w.lines = append(w.lines, [2]string{name, value})
	}
}

func (w *writer) text(name, value string) { w.line(name, value != "", quoted(value)) }

func (w *writer) list(name string, values []string) {
	w.line(name, len(values) > 0, "["+strings.Join(values, ", ")+"]")
}

func (w *writer) target(t performance.Target) {
	w.open("target")
	w.line("qps", t.Kind == performance.QPS, formatNumber(t.QPS))
	w.line("finish_within", t.Kind == performance.FinishWithin, quoted(formatSpan(t.FinishWithin)))
	w.line("rate", t.Kind == performance.Rate, formatNumber(t.Rate))
	w.text("unit", t.Unit)
	w.line("best_effort", t.Kind == performance.BestEffort, "true")
	if t.Latency != nil {
		w.open("latency")
		w.line("percentile", true, formatNumber(t.Latency.Percentile))
		w.line("max", true, quoted(formatSpan(t.Latency.Max)))
		w.close()
	}
	w.close()
}

func (w *writer) probe(p performance.ProbeSpec) {
	w.open("probe " + quoted(p.Type))
	w.text("port", p.Port)
	w.text("rate", p.Rate)
	w.text("latency", p.Latency)
	w.text("path", p.Path)
	w.text("pattern", p.Pattern)
	w.list("command", mapped(p.Command, quoted))
	w.text("task", p.Task)
	w.text("stream", p.Stream)
	w.text("mode", string(p.Mode))
	w.line("work", p.Work != 0, formatNumber(p.Work))
	w.line("timeout", p.Timeout != 0, quoted(formatSpan(p.Timeout)))
	w.close()
}

func (w *writer) scale(s performance.ScaleSpec) {
	if len(s.Count)+len(s.Cores)+len(s.MemoryMB) == 0 {
		return
	}
	w.open("scale")
	w.list("count", mapped(s.Count, strconv.Itoa))
	w.list("cores", mapped(s.Cores, strconv.Itoa))
	w.list("memory", mapped(s.MemoryMB, strconv.Itoa))
	w.close()
}

func (w *writer) profile(p performance.ProfileSpec) {
	if p.Seconds == 0 && len(p.Sources) == 0 && !p.Skip && p.When == "" && len(p.Allow) == 0 {
		return
	}
	w.open("profile")
	w.line("seconds", p.Seconds != 0, strconv.Itoa(p.Seconds))
	w.list("sources", mapped(p.Sources, func(s interference.Source) string { return quoted(string(s)) }))
	w.line("skip", p.Skip, "true")
	w.text("when", string(p.When))
	w.list("allow", mapped(p.Allow, func(a performance.Permission) string { return quoted(string(a)) }))
	w.close()
}

func mapped[T any](in []T, f func(T) string) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// quoted writes text as HCL reads it in quotes.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	runes := []rune(s)
	for i, r := range runes {
		opens := (r == '$' || r == '%') && i+1 < len(runes) && runes[i+1] == '{'
		doubled := opens && i > 0 && runes[i-1] == r
		switch {
		case doubled: // a third $ would be read as part of the escape
			fmt.Fprintf(&b, `\u%04x`, r)
		case opens:
			b.WriteRune(r)
			b.WriteRune(r)
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
