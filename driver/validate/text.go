package validate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Markdown is the report as Markdown, for a repository.
func (r Report) Markdown() string {
	var b strings.Builder
	b.WriteString("# Validation of the interference kernels\n\nWritten by `nomad-driver-ibench validate`.\n\n")
	for _, h := range r.head() {
		fmt.Fprintf(&b, "- %s: %s\n", h[0], markdownText(h[1]))
	}
	r.counts().markdown(&b)
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	r.matrixTable().markdown(&b)
	return b.String()
}

func (t table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", t.title)
	if t.note != "" {
		fmt.Fprintf(b, "%s\n\n", t.note)
	}
	if len(t.rows) == 0 {
		b.WriteString("None.\n")
		return
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
	for _, row := range t.rows {
		b.WriteString("|")
		for _, f := range row {
			fmt.Fprintf(b, " %s |", markdownText(f.text))
		}
		b.WriteString("\n")
	}
}

func markdownText(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(s)
}

// matrixTable is the cross-talk matrix as numbers.
func (r Report) matrixTable() table {
	t := table{
		title: "Cross-talk matrix",
		note:  fmt.Sprintf("Loss in percent of the kernel of the column at %d, by the kernel of the row at 100.", observerPercent),
		head:  []string{"from \\ to"},
	}
	sources := r.measured()
	for _, s := range sources {
		t.head = append(t.head, string(s))
	}
	for _, from := range sources {
		row := []field{text(string(from))}
		for _, to := range sources {
			c, ok := r.crossTalk(from, to)
			switch {
			case from == to:
				row = append(row, text(""))
			case !ok:
				row = append(row, text("–"))
			default:
				row = append(row, text(number(c.Loss.Center, "%.0f")+suffix(c.Verdict)))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func suffix(v Verdict) string {
	if v == VerdictMiss {
		return " MISS"
	}
	return ""
}

// measured are the sources with a linearity curve, in the report's order.
func (r Report) measured() []interference.Source {
	var out []interference.Source
	for _, l := range r.Linearity {
		out = append(out, l.Source)
	}
	return out
}

func (r Report) crossTalk(from, to interference.Source) (CrossTalk, bool) {
	for _, c := range r.CrossTalk {
		if c.From == from && c.To == to {
			return c, true
		}
	}
	return CrossTalk{}, false
}

// The colours of a terminal.
var colours = map[mark]string{good: "\x1b[32m", bad: "\x1b[31m", weak: "\x1b[2m"}

const colourEnd = "\x1b[0m"

// Summary is the report for a terminal.
func (r Report) Summary(coloured bool) string {
	var b strings.Builder
	for _, t := range []table{r.counts(), r.linearityTable(), r.victimSummary(), r.yardstickSummary(), r.missTable(), r.failureTable()} {
		if len(t.rows) > 0 {
			t.summary(&b, coloured)
		}
	}
	return b.String()
}

// victimSummary and yardstickSummary leave out what is too wide for a terminal.
func (r Report) victimSummary() table { return r.victimTable().without(1) }

func (r Report) yardstickSummary() table { return r.yardstickTable().without(6) }

func (t table) without(column int) table {
	drop := func(fields []field) []field {
		return append(append([]field(nil), fields[:column]...), fields[column+1:]...)
	}
	t.head = append(append([]string(nil), t.head[:column]...), t.head[column+1:]...)
	rows := make([][]field, len(t.rows))
	for i, row := range t.rows {
		rows[i] = drop(row)
	}
	t.rows = rows
	return t
}

func (t table) summary(b *strings.Builder, coloured bool) {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = utf8.RuneCountInString(h)
	}
	for _, row := range t.rows {
		for i, f := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(f.text))
		}
	}
	fmt.Fprintf(b, "%s\n", t.title)
	for i, h := range t.head {
		b.WriteString("  " + pad(h, widths[i], i == len(t.head)-1))
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		for i, f := range row {
			cell := pad(f.text, widths[i], i == len(row)-1)
			if colour := colours[f.mark]; coloured && colour != "" {
				cell = colour + cell + colourEnd
			}
			b.WriteString("  " + cell)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func pad(s string, width int, last bool) string {
	if last {
		return s
	}
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
