package tables

import (
	"errors"
	"fmt"
	"strings"
)

// InputError is one fault of a file, where it is, and what would be right.
type InputError struct {
	File    string
	Line    int    // 0: the whole file
	Column  string // empty: the whole line
	Problem string
	Hint    string // may be empty
}

// Error prints "file:line: column x: problem (hint)".
func (e *InputError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Column != "" {
		b.WriteString("column " + e.Column + ": ")
	}
	b.WriteString(e.Problem)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// maxProblems is how many faults are listed: enough to see a pattern (chosen by
// us).
const maxProblems = 10

// Problems collects faults; all tables of a data set share one. The zero value is
// ready to use.
type Problems struct {
	list []error
	more int
}

// Add notes a fault.
func (p *Problems) Add(e *InputError) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, e)
}

// Err joins the faults; nil where there are none.
func (p *Problems) Err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.list...)
}

// Count is the number of faults so far. A row that has one is not looked at for
// what may follow from it.
func (p *Problems) Count() int { return len(p.list) + p.more }
