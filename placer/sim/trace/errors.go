package trace

import (
	"errors"
	"fmt"
)

// ErrFormat: a file is not what its format says.
var ErrFormat = errors.New("malformed trace")

// FormatError says where a file could not be read, and what to do about it.
type FormatError struct {
	File    string
	Line    int    // from 1; 0: the whole file
	Column  int    // byte of the line, from 1; 0: the whole line
	Field   string // name of the column; may be empty
	Problem string
	Hint    string // may be empty
	Err     error  // cause; may be nil
}

// Error prints file:line:column, problem and hint.
func (e *FormatError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, e.Line)
	}
	if e.Column > 0 {
		where = fmt.Sprintf("%s:%d", where, e.Column)
	}
	text := where + ": "
	if e.Field != "" {
		text += e.Field + ": "
	}
	text += e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap makes the error match ErrFormat and its cause.
func (e *FormatError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrFormat}
	}
	return []error{ErrFormat, e.Err}
}

// inOneCell tells errors of a single row, behind which reading may go on, from
// those of a whole file.
func inOneCell(err error) bool {
	var bad *FormatError
	return errors.As(err, &bad) && bad.Field != ""
}
