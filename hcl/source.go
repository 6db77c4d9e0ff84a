package hcl

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	hclv2 "github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds on what is given to the parser, which recurses with the text. They
// are far beyond any sensible file and far below what costs memory.
const (
	maxDepth        = 200    // brackets inside brackets; a jobspec has about ten
	maxUnaryRun     = 16     // `!` or `-` in a row
	maxConditionals = 10_000 // `?` in a file: each recurses
)

// position is where a text begins in its file, from 1.
type position struct{ line, column int }

// source is a text that is being read, with the problems found so far.
type source struct {
	text     []byte
	filename string
	start    position
	problems Diagnostics
}

func newSource(text []byte, filename string, start position) *source {
	if filename == "" {
		filename = "performance"
	}
	return &source{text: text, filename: filename, start: start}
}

// message is the words of a diagnostic.
type message struct {
	summary, detail, hint string
}

func (s *source) fail(at hclv2.Range, m message) { s.add(SeverityError, at, m) }

func (s *source) warn(at hclv2.Range, m message) { s.add(SeverityWarning, at, m) }

func (s *source) add(severity Severity, at hclv2.Range, m message) {
	d := Diagnostic{
		File: s.filename, Line: max(1, at.Start.Line), Column: max(1, at.Start.Column),
		Severity: severity, Summary: m.summary, Detail: m.detail, Hint: m.hint,
	}
	d.Snippet, d.SnippetColumn, d.SnippetWidth = s.quote(at)
	s.problems = append(s.problems, d)
}

// failAll reports a problem of the text as a whole, which is not quoted.
func (s *source) failAll(m message) {
	s.problems = append(s.problems, Diagnostic{
		File: s.filename, Line: s.start.line, Column: s.start.column,
		Severity: SeverityError, Summary: m.summary, Detail: m.detail, Hint: m.hint,
	})
}

// quote returns the line that at begins on, and its place in that line. Long
// lines are cut around the place.
func (s *source) quote(at hclv2.Range) (line string, column, width int) {
	from := min(max(0, at.Start.Byte), len(s.text))
	to := min(max(from, at.End.Byte), len(s.text))
	lineFrom := bytes.LastIndexByte(s.text[:from], '\n') + 1
	lineTo := len(s.text)
	if i := bytes.IndexByte(s.text[from:], '\n'); i >= 0 {
		lineTo = from + i
	}
	before := []rune(string(s.text[lineFrom:from]))
	if lineFrom == 0 && s.start.column > 1 {
		// The text was cut from the middle of a line; what stood before is gone.
		before = append([]rune(strings.Repeat(" ", s.start.column-1)), before...)
	}
	marked := []rune(strings.TrimRight(string(s.text[from:min(to, lineTo)]), "\r"))
	after := []rune(strings.TrimRight(string(s.text[min(to, lineTo):lineTo]), "\r"))
	if len(before) > maxSnippetRunes/2 {
		before = append([]rune("…"), before[len(before)-maxSnippetRunes/2:]...)
	}
	if len(marked) > maxSnippetRunes/2 {
		marked = append(marked[:maxSnippetRunes/2:maxSnippetRunes/2], '…')
		after = nil
	}
	if room := maxSnippetRunes - len(before) - len(marked); len(after) > room {
		after = append(after[:max(0, room):max(0, room)], '…')
	}
	line = string(before) + string(marked) + string(after)
	if strings.TrimSpace(line) == "" {
		return "", 0, 0
	}
	if from == to {
		return line, 0, 0
	}
	return line, len(before) + 1, len(marked)
}

// parse checks that the text can be parsed in bounded space, then parses it.
// It returns nil where problems were found.
func (s *source) parse(maxBytes int) *hclsyntax.Body {
	if !s.plainText(maxBytes) || !s.shallow() {
		return nil
	}
	file, diags := hclsyntax.ParseConfig(s.text, s.filename, s.parserStart())
	for _, d := range diags {
		s.syntax(d)
	}
	if s.problems.HasErrors() {
		return nil
	}
	return file.Body.(*hclsyntax.Body)
}

func (s *source) parserStart() hclv2.Pos {
	return hclv2.Pos{Line: s.start.line, Column: s.start.column}
}

func (s *source) plainText(maxBytes int) bool {
	if len(s.text) > maxBytes {
		s.failAll(message{
			summary: fmt.Sprintf("the text is %d bytes long and was not read", len(s.text)),
			detail:  fmt.Sprintf("At most %d bytes are read.", maxBytes),
			hint:    "a performance block is a few lines; look for a file that was included by mistake",
		})
		return false
	}
	for at := 0; at < len(s.text); {
		r, size := utf8.DecodeRune(s.text[at:])
		if r == utf8.RuneError && size == 1 {
			s.fail(s.rangeOf(at, at), message{
				summary: fmt.Sprintf("byte 0x%02x is not UTF-8 text", s.text[at]),
				hint:    "save the file as UTF-8",
			})
			last := &s.problems[len(s.problems)-1]
			last.Snippet, last.SnippetColumn, last.SnippetWidth = "", 0, 0
			return false
		}
		at += size
	}
	return true
}

// rangeOf is the range of bytes [from, to) where the parser gives none.
func (s *source) rangeOf(from, to int) hclv2.Range {
	line := s.start.line + bytes.Count(s.text[:from], []byte{'\n'})
	lineFrom := bytes.LastIndexByte(s.text[:from], '\n') + 1
	column := utf8.RuneCount(s.text[lineFrom:from]) + 1
	if lineFrom == 0 {
		column += s.start.column - 1
	}
	return hclv2.Range{
		Filename: s.filename,
		Start:    hclv2.Pos{Line: line, Column: column, Byte: from},
		End:      hclv2.Pos{Line: line, Column: column + to - from, Byte: to},
	}
}

// shallow refuses texts whose nesting would make the parser recurse without
// bound. It looks at tokens only, which costs linear time.
func (s *source) shallow() bool {
	tokens, _ := hclsyntax.LexConfig(s.text, s.filename, s.parserStart())
	depth, unary, conditionals := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
			hclsyntax.TokenTemplateSeqEnd:
			depth = max(0, depth-1)
		case hclsyntax.TokenQuestion:
			conditionals++
		}
		if t.Type == hclsyntax.TokenBang || t.Type == hclsyntax.TokenMinus {
			unary++
		} else {
			unary = 0
		}
		if depth > maxDepth || unary > maxUnaryRun || conditionals > maxConditionals {
			s.fail(t.Range, message{
				summary: "the text is nested too deeply and was not read",
				detail:  fmt.Sprintf("Brackets may be nested %d deep.", maxDepth),
			})
			return false
		}
	}
	return true
}

// syntax reports a problem the parser found, with our hint.
func (s *source) syntax(d *hclv2.Diagnostic) {
	at := hclv2.Range{Filename: s.filename, Start: s.parserStart()}
	if d.Subject != nil {
		at = *d.Subject
	}
	hint := syntaxHint(d.Summary, d.Detail)
	if hint == "" && bytes.HasPrefix(bytes.TrimSpace(s.text), []byte("{")) {
		hint = "this is HCL and not JSON: write name = value, without outer braces"
	}
	s.fail(at, message{summary: lowerFirst(d.Summary), detail: d.Detail, hint: hint})
}

// syntaxHint says what a user most likely wanted where the parser only knows
// what it could not read.
func syntaxHint(summary, detail string) string {
	oneLine := strings.Contains(summary, "single-argument block") || strings.Contains(detail, "single-line block")
	switch {
	case oneLine:
		return "a block on one line holds one attribute; put each attribute, and each block, on a line of its own"
	case strings.Contains(summary, "escape sequence"):
		return `in quotes a backslash is written \\; in a regular expression [0-9] needs none`
	case strings.Contains(summary, "template interpolation"), strings.Contains(summary, "template directive"):
		return "write $${ or %%{ for a literal ${ or %{"
	case strings.Contains(summary, "Unclosed configuration block"), strings.Contains(summary, "Unclosed"):
		return "look for a missing } above"
	default:
		return ""
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
