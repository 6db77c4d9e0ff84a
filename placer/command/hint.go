package command

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"strings"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
)

// hinted is an error that knows what helps against it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// WithHint adds a hint to an error; none is no hint.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return hinted{err, hint}
}

// hintOf is the hint that was given where an error arose.
func hintOf(err error) string {
	var own hinted
	if errors.As(err, &own) {
		return own.hint
	}
	return ""
}

// commonHint is what is known of errors that any program may meet.
func commonHint(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "is the path right, seen from the folder you are in?"
	}
	return ""
}

// unknownFlag is how package flag begins the error of a flag that is not
// there; it has no type of its own.
const unknownFlag = "flag provided but not defined: -"

func flagProblem(err error) string {
	if name, ok := strings.CutPrefix(err.Error(), unknownFlag); ok {
		return "unknown option -" + name
	}
	return err.Error()
}

// flagHint names the option that was probably meant.
func flagHint(err error, f *flag.FlagSet) string {
	name, ok := strings.CutPrefix(err.Error(), unknownFlag)
	if !ok {
		return ""
	}
	known := []string{"help"}
	f.VisitAll(func(g *flag.Flag) { known = append(known, g.Name) })
	if near := jobhcl.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean -%s?", near)
	}
	return ""
}
