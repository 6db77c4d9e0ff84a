package network

import (
	"errors"
	"fmt"
)

// ErrFormat: a file is not what it should be.
var ErrFormat = errors.New("malformed traffic")

// FormatError says where a file could not be read, and what to do about it.
type FormatError struct {
	File    string
	Line    int // from 1; 0: the whole file
	Problem string
	Hint    string // may be empty
	Err     error  // cause; may be nil
}

// Error prints file:line, problem and hint.
func (e *FormatError) Error() string {
	text := e.File
	if e.Line > 0 {
		text = fmt.Sprintf("%s:%d", text, e.Line)
	}
	text += ": " + e.Problem
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
