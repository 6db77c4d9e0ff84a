package validate

import (
	"fmt"
	"slices"
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
	fmt.Fprintf(b, "\n## %s\n\n", t.Title)
	if t.Note != "" {
		fmt.Fprintf(b, "%s\n\n", t.Note)
	}
	if len(t.Rows) == 0 {
		b.WriteString("None.\n")
		return
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(t.Head, " | "), strings.Repeat(" --- |", len(t.Head)))
	for _, row := range t.Rows {
		b.WriteString("|")
		for _, f := range row {
			fmt.Fprintf(b, " %s |", markdownText(f.Text))
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
		Title: "Cross-talk matrix",
		Note:  fmt.Sprintf("Loss in percent of the kernel of the column at %d, by the kernel of the row at 100.", observerPercent),
		Head:  []string{"from \\ to"},
	}
	sources := r.measured()
	for _, s := range sources {
		t.Head = append(t.Head, string(s))
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
		t.Rows = append(t.Rows, row)
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
	// Without the columns that are too wide for a terminal.
	victims, yardsticks := r.victimTable().without(1), r.yardstickTable().without(6)
	for _, t := range []table{r.counts(), r.linearityTable(), victims, yardsticks, r.missTable(), r.failureTable()} {
		if len(t.Rows) > 0 {
			t.summary(&b, coloured)
		}
	}
	return b.String()
}

func (t table) without(column int) table {
	out := table{Title: t.Title, Note: t.Note, Head: slices.Delete(slices.Clone(t.Head), column, column+1)}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, slices.Delete(slices.Clone(row), column, column+1))
	}
	return out
}

func (t table) summary(b *strings.Builder, coloured bool) {
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = utf8.RuneCountInString(h)
	}
	for _, row := range t.Rows {
		for i, f := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(f.Text))
		}
	}
	fmt.Fprintf(b, "%s\n", t.Title)
	for i, h := range t.Head {
		b.WriteString("  " + pad(h, widths[i], i == len(t.Head)-1))
	}
	b.WriteString("\n")
	for _, row := range t.Rows {
		for i, f := range row {
			cell := pad(f.Text, widths[i], i == len(row)-1)
			if colour := colours[f.Mark]; coloured && colour != "" {
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
	return fmt.Sprintf("%-*s", width, s)
}
