package command

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// PageWidth bounds every line of a text page, in characters; a single word
// longer than that is not broken.
const PageWidth = 100

// Hue is the meaning of a colour.
type Hue string

// The hues, as ANSI sequences.
const (
	Plain Hue = ""
	Bold  Hue = "\x1b[1m"
	Good  Hue = "\x1b[32m"
	Warn  Hue = "\x1b[33m"
	Bad   Hue = "\x1b[31m"
	Faint Hue = "\x1b[2m"
)

const resetHue = "\x1b[0m"

// Cell is one field of a table.
type Cell struct {
	Text  string
	Hue   Hue
	right bool
}

// Text is a plain cell.
func Text(s string) Cell { return Cell{Text: s} }

// Number is a cell aligned to the right.
func Number(s string) Cell { return Cell{Text: s, right: true} }

// Heading is a bold cell.
func Heading(s string) Cell { return Cell{Text: s, Hue: Bold} }

// Page collects the lines of a text page.
type Page struct {
	b       strings.Builder
	color   bool
	Verbose bool // print in full what is cut short otherwise
}

func (p *Page) Paint(h Hue, s string) string {
	if !p.color || h == Plain || s == "" {
		return s
	}
	return string(h) + s + resetHue
}

// Line writes one line of painted parts, separated by two spaces.
func (p *Page) Line(parts ...Cell) {
	for i, c := range parts {
		if i > 0 && c.Text != "" {
			p.b.WriteString("  ")
		}
		p.b.WriteString(p.Paint(c.Hue, c.Text))
	}
	p.b.WriteByte('\n')
}

// Section begins a titled part after an empty line.
func (p *Page) Section(title string) {
	p.b.WriteString("\n" + p.Paint(Bold, title) + "\n")
}

// Fact writes "name   value", the value wrapped under itself.
func (p *Page) Fact(name, value string) {
	const names = 12
	lines := strings.Split(Wrap(value, PageWidth-names), "\n")
	p.b.WriteString(p.Paint(Faint, pad(name, names)) + lines[0] + "\n")
	for _, l := range lines[1:] {
		p.b.WriteString(strings.Repeat(" ", names) + l + "\n")
	}
}

// Item writes a wrapped list item.
func (p *Page) Item(h Hue, s string) {
	for i, l := range strings.Split(Wrap(s, PageWidth-4), "\n") {
		mark := "  - "
		if i > 0 {
			mark = "    "
		}
		p.b.WriteString(mark + p.Paint(h, l) + "\n")
	}
}

// Table writes aligned columns, two spaces apart. The last column is wrapped
// into what is left of the page; a row's cells keep their colour.
func (p *Page) Table(header []string, rows [][]Cell) {
	all := rows
	if header != nil {
		head := make([]Cell, len(header))
		for i, h := range header {
			head[i] = Heading(h)
			if len(rows) > 0 && i < len(rows[0]) {
				head[i].right = rows[0][i].right
			}
		}
		all = append([][]Cell{head}, rows...)
	}
	if len(all) == 0 {
		return
	}
	widths := columnWidths(all)
	for _, row := range all {
		p.row(row, widths)
	}
}

func columnWidths(rows [][]Cell) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.Text))
		}
	}
	return widths
}

func (p *Page) row(row []Cell, widths []int) {
	left := 2
	p.b.WriteString("  ")
	for i, c := range row {
		if i == len(row)-1 {
			p.lastCell(c, widths[i], left)
			return
		}
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.Text))
		if c.right {
			p.b.WriteString(gap + p.Paint(c.Hue, c.Text) + "  ")
		} else {
			p.b.WriteString(p.Paint(c.Hue, c.Text) + gap + "  ")
		}
		left += widths[i] + 2
	}
}

// minWrap is the least room the last column is wrapped into.
const minWrap = 24

func (p *Page) lastCell(c Cell, width, left int) {
	if c.right {
		p.b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(c.Text)))
	}
	for i, l := range strings.Split(Wrap(c.Text, max(minWrap, PageWidth-left)), "\n") {
		if i > 0 {
			p.b.WriteString(strings.Repeat(" ", left))
		}
		p.b.WriteString(p.Paint(c.Hue, l) + "\n")
	}
}

// String is the page without spaces at the ends of lines.
func (p *Page) String() string {
	lines := strings.Split(p.b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func (p *Page) print(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// Wrap breaks text at spaces into lines of at most width characters; its own
// line breaks stay.
func Wrap(s string, width int) string { return wordwrap.WrapString(s, uint(width)) }

// Indent puts by before every line that is not empty.
func Indent(s, by string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = by + l
		}
	}
	return strings.Join(lines, "\n")
}

func pad(s string, width int) string {
	if n := utf8.RuneCountInString(s); n < width {
		return s + strings.Repeat(" ", width-n)
	}
	return s
}

// Cut shortens text, except on a page that leaves nothing out.
func (p *Page) Cut(s string, limit int) string {
	if p.Verbose {
		return s
	}
	return wording.Shorten(s, limit)
}

// Gauge draws a fraction of 0..1 in characters.
func Gauge(fraction float64, width int) string {
	full := int(min(1, max(0, fraction))*float64(width) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
