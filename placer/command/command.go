package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/cli"
)

// Command is one subcommand: a row of the table in commands.go.
type Command struct {
	Name       string // "job run"
	Arguments  string // "FILE", for the usage line
	Synopsis   string // one line
	About      string // paragraphs
	Example    string // command lines, one a line
	ExitsStock bool   // may end with ExitStock
	MinArgs    int
	MaxArgs    int
	Complete   Predictor // of the arguments; files where arguments says FILE or PATH
	Setup      func(*flag.FlagSet) Runner
}

// Flags are the command's options, and what reads them.
func (c *Command) Flags() (*flag.FlagSet, Runner) {
	f := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, c.Setup(f)
}

// Runner does the work after the flags were read; what it returns as error is
// printed, and its exit code is that of the error.
type Runner func(ctx context.Context, s *Shell, args []string) error

// ExitError is an error with its own exit code. An error that was printed already
// has no text.
type ExitError struct {
	Code int
	text string
}

func (e ExitError) Error() string { return e.text }

// UsageError is a wrong use of a command: nothing was done.
func UsageError(format string, args ...any) error {
	return ExitError{ExitUsage, fmt.Sprintf(format, args...)}
}

// ErrTold is returned after the reason was printed in its own form.
var ErrTold = ExitError{Code: ExitFailed}

// bound is a command with its surroundings, as the cli package wants it.
type bound struct {
	program *Program
	command *Command
	ctx     context.Context
	shell   *Shell
}

var _ cli.CommandAutocomplete = (*bound)(nil)

func (b *bound) Synopsis() string { return b.command.Synopsis }

// Run reads flags wherever they are among the arguments.
func (b *bound) Run(raw []string) int {
	f, work := b.command.Flags()
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
		return nil, WithHint(UsageError("%s", flagProblem(err)), flagHint(err, f))
	case len(args) < b.command.MinArgs || len(args) > b.command.MaxArgs:
		return nil, UsageError("%s takes %s", b.command.Name, argumentsText(b.command.MinArgs, b.command.MaxArgs, b.command.Arguments))
	case slices.Contains(args, ""):
		return nil, WithHint(UsageError("%s: an argument is empty", b.command.Name), "is a variable of your shell not set?")
	default:
		return args, checkOutputFlags(f)
	}
}

func (b *bound) finish(err error) int {
	var exit ExitError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		if exit.text != "" {
			b.tell(err)
		}
		if exit.Code == ExitUsage {
			fmt.Fprintln(b.shell.Err, b.usage()+"\nMore with -help.")
		}
		return exit.Code
	case b.ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		b.tell(err)
		return ExitFailed
	}
}

// tell prints an error, and what helps against it where that is known.
func (b *bound) tell(err error) {
	fmt.Fprintln(b.shell.Err, "Error: "+err.Error())
	if hint := b.program.hintOf(err); hint != "" {
		fmt.Fprintln(b.shell.Err, "Hint: "+hint)
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
