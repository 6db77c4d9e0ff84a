package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

// pageWidth bounds every line of a text page, in characters; a single word
// longer than that is not broken.
const pageWidth = 100

// hue is the meaning of a colour.
type hue string

// The hues, as ANSI sequences.
const (
	plain hue = ""
	bold  hue = "\x1b[1m"
	good  hue = "\x1b[32m"
	warn  hue = "\x1b[33m"
	bad   hue = "\x1b[31m"
	faint hue = "\x1b[2m"
)

const resetHue = "\x1b[0m"

// cell is one field of a table.
type cell struct {
	text  string
	hue   hue
	right bool
}

func text(s string) cell    { return cell{text: s} }
func number(s string) cell  { return cell{text: s, right: true} }
func heading(s string) cell { return cell{text: s, hue: bold} }

// page collects the lines of a text page.
type page struct {
	b       strings.Builder
	color   bool
	verbose bool // print in full what is cut short otherwise
}

func (p *page) paint(h hue, s string) string {
	if !p.color || h == plain || s == "" {
		return s
	}
	return string(h) + s + resetHue
}

// line writes one line of painted parts, separated by two spaces.
func (p *page) line(parts ...cell) {
	for i, c := range parts {
		if i > 0 && c.text != "" {
			p.b.WriteString("  ")
		}
		p.b.WriteString(p.paint(c.hue, c.text))
	}
	p.b.WriteByte('\n')
}

// section begins a titled part after an empty line.
func (p *page) section(title string) {
	p.b.WriteString("\n" + p.paint(bold, title) + "\n")
}

// fact writes "name   value", the value wrapped under itself.
func (p *page) fact(name, value string) {
	const names = 12
	lines := strings.Split(wrap(value, pageWidth-names), "\n")
	p.b.WriteString(p.paint(faint, pad(name, names)) + lines[0] + "\n")
	for _, l := range lines[1:] {
		p.b.WriteString(strings.Repeat(" ", names) + l + "\n")
	}
}

// item writes a wrapped list item.
func (p *page) item(h hue, s string) {
	for i, l := range strings.Split(wrap(s, pageWidth-4), "\n") {
		mark := "  - "
		if i > 0 {
			mark = "    "
		}
		p.b.WriteString(mark + p.paint(h, l) + "\n")
	}
}

// table writes aligned columns, two spaces apart. The last column is wrapped
// into what is left of the page; a row's cells keep their colour.
func (p *page) table(header []string, rows [][]cell) {
	all := rows
	if header != nil {
		head := make([]cell, len(header))
		for i, h := range header {
			head[i] = heading(h)
			if len(rows) > 0 && i < len(rows[0]) {
				head[i].right = rows[0][i].right
			}
		}
		all = append([][]cell{head}, rows...)
	}
	if len(all) == 0 {
		return
	}
	widths := columnWidths(all)
	for _, row := range all {
		p.row(row, widths)
	}
}

func columnWidths(rows [][]cell) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

func (p *page) row(row []cell, widths []int) {
	left := 2
	p.b.WriteString("  ")
	for i, c := range row {
		if i == len(row)-1 {
			p.lastCell(c, widths[i], left)
			return
		}
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text))
		if c.right {
			p.b.WriteString(gap + p.paint(c.hue, c.text) + "  ")
		} else {
			p.b.WriteString(p.paint(c.hue, c.text) + gap + "  ")
		}
		left += widths[i] + 2
	}
}

// minWrap is the least room the last column is wrapped into.
const minWrap = 24

func (p *page) lastCell(c cell, width, left int) {
	if c.right {
		p.b.WriteString(strings.Repeat(" ", width-utf8.RuneCountInString(c.text)))
	}
	for i, l := range strings.Split(wrap(c.text, max(minWrap, pageWidth-left)), "\n") {
		if i > 0 {
			p.b.WriteString(strings.Repeat(" ", left))
		}
		p.b.WriteString(p.paint(c.hue, l) + "\n")
	}
}

// String is the page without spaces at the ends of lines.
func (p *page) String() string {
	lines := strings.Split(p.b.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func (p *page) print(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// wrap breaks text at spaces into lines of at most width characters; its own
// line breaks stay.
func wrap(s string, width int) string {
	var out []string
	for _, paragraph := range strings.Split(s, "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(paragraph) {
			n := utf8.RuneCountInString(word)
			if used > 0 && used+1+n > width {
				out, line, used = append(out, line), "", 0
			}
			if used > 0 {
				line, used = line+" ", used+1
			}
			line, used = line+word, used+n
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func indent(s, by string) string {
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

// cut shortens text, except on a page that leaves nothing out.
func (p *page) cut(s string, limit int) string {
	if p.verbose {
		return s
	}
	return shorten(s, limit)
}

// shorten cuts text to limit characters.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// gauge draws a fraction of 0..1 in characters.
func gauge(fraction float64, width int) string {
	full := int(min(1, max(0, fraction))*float64(width) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
