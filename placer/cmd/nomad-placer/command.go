package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/cli"
	"github.com/posener/complete"
)

// command is one subcommand: a row of the table in commands.go.
type command struct {
	name      string // "job run"
	arguments string // "FILE", for the usage line
	synopsis  string // one line
	about     string // paragraphs
	minArgs   int
	maxArgs   int
	setup     func(*flag.FlagSet) runner
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
	*command
	ctx   context.Context
	shell *shell
}

var _ cli.CommandAutocomplete = (*bound)(nil)

func (b *bound) Synopsis() string { return b.synopsis }

func (b *bound) flags() (*flag.FlagSet, runner) {
	f := flag.NewFlagSet(b.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, b.setup(f)
}

func (b *bound) usage() string {
	return strings.TrimSpace(fmt.Sprintf("Usage: nomad-placer %s [options] %s", b.name, b.arguments))
}

// Help prints usage, description and every flag with its default.
func (b *bound) Help() string {
	f, _ := b.flags()
	var out strings.Builder
	out.WriteString(b.usage() + "\n\n" + indent(wrap(b.about, pageWidth-2), "  "))
	first := true
	f.VisitAll(func(g *flag.Flag) {
		if first {
			out.WriteString("\n\nOptions:")
			first = false
		}
		value, text := flag.UnquoteUsage(g)
		if value != "" {
			value = "=" + value
		}
		if g.DefValue != "" && g.DefValue != "false" && g.DefValue != "0" && g.DefValue != "0s" {
			text += " Default: " + g.DefValue + "."
		}
		out.WriteString("\n\n  -" + g.Name + value + "\n" + indent(wrap(text, pageWidth-6), "      "))
	})
	return out.String()
}

// Run reads flags wherever they stand among the arguments.
func (b *bound) Run(raw []string) int {
	f, work := b.flags()
	args, err := parseInterspersed(f, raw)
	if err == nil && (len(args) < b.minArgs || len(args) > b.maxArgs) {
		err = usageError("%s takes %s", b.name, argumentsText(b.minArgs, b.maxArgs, b.arguments))
	} else if err != nil {
		err = usageError("%s", err)
	}
	if err == nil {
		err = work(b.ctx, b.shell, args)
	}
	return b.finish(err)
}

func (b *bound) finish(err error) int {
	var exit exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		if exit.text != "" {
			fmt.Fprintln(b.shell.err, "Error: "+exit.text)
		}
		if exit.code == exitUsage {
			fmt.Fprintln(b.shell.err, b.usage()+"\nMore with -help.")
		}
		return exit.code
	case b.ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		fmt.Fprintln(b.shell.err, "Error: "+err.Error())
		return exitFailed
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

// AutocompleteArgs completes file names where the command takes one.
func (b *bound) AutocompleteArgs() complete.Predictor {
	switch strings.Trim(b.arguments, "[]") {
	case "FILE", "PATH":
		return complete.PredictFiles("*")
	}
	return complete.PredictNothing
}

// AutocompleteFlags completes the names of all flags.
func (b *bound) AutocompleteFlags() complete.Flags {
	f, _ := b.flags()
	out := complete.Flags{}
	f.VisitAll(func(g *flag.Flag) { out["-"+g.Name] = complete.PredictAnything })
	return out
}

// printJSON is the output of every command with -json.
func printJSON(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("as JSON: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// outputFlags are the flags of commands that print records.
type outputFlags struct {
	json    bool
	noColor bool
}

func (o *outputFlags) add(f *flag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "Print the records as JSON.")
	f.BoolVar(&o.noColor, "no-color", false, "Print without colour. Colour is only ever used on a terminal.")
}

// page starts a text page for the shell's output.
func (o *outputFlags) page(s *shell) *page {
	color := s.terminal && !o.noColor && s.getenv("NO_COLOR") == "" && s.getenv("NOMAD_CLI_NO_COLOR") == ""
	return &page{color: color}
}
