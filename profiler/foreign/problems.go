package foreign

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

// maxProblems is how many faults are told: enough to see a pattern (chosen by
// us).
const maxProblems = 10

// problems collects faults; all tables of a data set share one.
type problems struct {
	list []error
	more int
}

func (p *problems) add(e *InputError) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, e)
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more problems", p.more))...)
	}
	return errors.Join(p.list...)
}

// count is the number of faults so far. A row that has one is not looked at for
// what may follow from it.
func (p *problems) count() int { return len(p.list) + p.more }
