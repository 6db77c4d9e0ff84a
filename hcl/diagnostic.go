package hcl

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a problem stops the text from being used.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// maxDiagnostics bounds what one text can make us say; a text with more is
// broken as a whole.
const maxDiagnostics = 50

// maxSnippetRunes bounds the quoted line, for files without line breaks.
const maxSnippetRunes = 120

// Diagnostic is one problem of a text, written as a compiler writes it.
type Diagnostic struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1
	Column   int      `json:"column"` // from 1
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"`           // what is wrong
	Detail   string   `json:"detail,omitempty"`  // what is allowed
	Hint     string   `json:"hint,omitempty"`    // what to do
	Snippet  string   `json:"snippet,omitempty"` // the offending line
	// SnippetColumn and SnippetWidth say where in Snippet the offending text
	// is, in characters from 1. Width is 0 where the whole text is meant.
	SnippetColumn int `json:"snippet_column,omitempty"`
	SnippetWidth  int `json:"snippet_width,omitempty"`
}

// String prints the diagnostic over several lines, without a final newline.
func (d Diagnostic) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s", d.File, d.Line, d.Column, d.Severity, d.Summary)
	if d.Snippet != "" {
		fmt.Fprintf(&b, "\n%5d | %s", d.Line, d.Snippet)
		if d.SnippetWidth > 0 {
			fmt.Fprintf(&b, "\n      | %s%s", indentLike(d.Snippet, d.SnippetColumn-1), strings.Repeat("^", d.SnippetWidth))
		}
	}
	if d.Detail != "" {
		fmt.Fprintf(&b, "\n  %s", d.Detail)
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "\n  hint: %s", d.Hint)
	}
	return b.String()
}

// indentLike is white space as wide as the first n characters of line: tabs
// stay tabs, so that the mark is under its text on any terminal.
func indentLike(line string, n int) string {
	out := make([]rune, 0, n)
	for _, r := range line {
		if len(out) == n {
			break
		}
		if r != '\t' {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// Diagnostics are the problems of one text in the order of the text. As an
// error they print like a compiler's output.
type Diagnostics []Diagnostic

// Error prints every diagnostic.
func (ds Diagnostics) Error() string {
	parts := make([]string, len(ds))
	for i, d := range ds {
		parts[i] = d.String()
	}
	return strings.Join(parts, "\n")
}

// HasErrors reports whether any problem stops the text from being used.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == SeverityError })
}

// Err is the errors of ds, without its warnings, or nil where there are none.
func (ds Diagnostics) Err() error {
	var errs Diagnostics
	for _, d := range ds {
		if d.Severity == SeverityError {
			errs = append(errs, d)
		}
	}
	if errs == nil {
		return nil
	}
	return errs
}

// Warnings are the one-line forms of the warnings.
func (ds Diagnostics) Warnings() []string {
	var out []string
	for _, d := range ds {
		if d.Severity != SeverityWarning {
			continue
		}
		line := fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Summary)
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		out = append(out, line)
	}
	return out
}

// sorted orders the diagnostics by position and bounds their number.
func (ds Diagnostics) sorted() Diagnostics {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	ds = slices.Compact(ds)
	if len(ds) <= maxDiagnostics {
		return ds
	}
	rest := len(ds) - maxDiagnostics
	last := ds[maxDiagnostics]
	return append(ds[:maxDiagnostics:maxDiagnostics], Diagnostic{
		File: last.File, Line: last.Line, Column: last.Column, Severity: SeverityError,
		Summary: fmt.Sprintf("%d more problems are not shown", rest),
	})
}
