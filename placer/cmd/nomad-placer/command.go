package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/cli"
)

// command is one subcommand: a row of the table in commands.go.
type command struct {
	name       string // "job run"
	arguments  string // "FILE", for the usage line
	synopsis   string // one line
	about      string // paragraphs
	example    string // command lines, one a line
	exitsStock bool   // may end with exitStock
	minArgs    int
	maxArgs    int
	complete   predictor // of the arguments; files where arguments says FILE or PATH
	setup      func(*flag.FlagSet) runner
}

// flags are the command's options, and what reads them.
func (c *command) flags() (*flag.FlagSet, runner) {
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, c.setup(f)
}

// runner does the work after the flags were read; what it returns as error is
// printed, and its exit code is that of the error.
type runner func(ctx context.Context, s *shell, args []string) error

// exitError is an error with its own exit code. An error that was told already
// has no text.
type exitError struct {
	code int
	text string
}

func (e exitError) Error() string { return e.text }

func usageError(format string, args ...any) error {
	return exitError{exitUsage, fmt.Sprintf(format, args...)}
}

// errTold is returned after the reason was printed in its own form.
var errTold = exitError{code: exitFailed}

// bound is a command with its surroundings, as the cli package wants it.
type bound struct {
	program *program
	command *command
	ctx     context.Context
	shell   *shell
}

var _ cli.CommandAutocomplete = (*bound)(nil)

func (b *bound) Synopsis() string { return b.command.synopsis }

// Run reads flags wherever they stand among the arguments.
func (b *bound) Run(raw []string) int {
	f, work := b.command.flags()
	args, err := b.parse(f, raw)
	if err == nil {
		err = work(b.ctx, b.shell, args)
	}
	return b.finish(err)
}

// parse finds every wrong use that can be seen before anything is done.
func (b *bound) parse(f *flag.FlagSet, raw []string) ([]string, error) {
	args, err := parseInterspersed(f, raw)
	switch {
	case err != nil:
		return nil, withHint(usageError("%s", flagProblem(err)), flagHint(err, f))
	case len(args) < b.command.minArgs || len(args) > b.command.maxArgs:
		return nil, usageError("%s takes %s", b.command.name, argumentsText(b.command.minArgs, b.command.maxArgs, b.command.arguments))
	case slices.Contains(args, ""):
		return nil, withHint(usageError("%s: an argument is empty", b.command.name), "is a variable of your shell not set?")
	default:
		return args, checkOutputFlags(f)
	}
}

func (b *bound) finish(err error) int {
	var exit exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		if exit.text != "" {
			b.tell(err)
		}
		if exit.code == exitUsage {
			fmt.Fprintln(b.shell.err, b.usage()+"\nMore with -help.")
		}
		return exit.code
	case b.ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		b.tell(err)
		return exitFailed
	}
}

// tell prints an error, and what helps against it where that is known.
func (b *bound) tell(err error) {
	fmt.Fprintln(b.shell.err, "Error: "+err.Error())
	if hint := b.program.hintOf(err); hint != "" {
		fmt.Fprintln(b.shell.err, "Hint: "+hint)
	}
}

func argumentsText(low, high int, names string) string {
	switch {
	case high == 0:
		return "no arguments"
	case low == high:
		return "exactly: " + names
	default:
		return "at most: " + names
	}
}

// parseInterspersed takes flags before, between and after the arguments; after
// "--" everything is an argument.
func parseInterspersed(f *flag.FlagSet, raw []string) ([]string, error) {
	var args []string
	for {
		if err := f.Parse(raw); err != nil {
			return nil, err
		}
		rest := f.Args()
		if consumed := len(raw) - len(rest); consumed > 0 && raw[consumed-1] == "--" {
			return append(args, rest...), nil
		}
		if len(rest) == 0 {
			return args, nil
		}
		args, raw = append(args, rest[0]), rest[1:]
	}
}
