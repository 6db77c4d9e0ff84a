package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/cli"
	"github.com/mattn/go-isatty"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
)

// version is set by the linker.
var version = "0.1.0-dev"

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitStock       = 3 // the job runs, but stock Nomad placed it
	exitInterrupted = 130
)

// shell is the world around a command: a test brings its own.
type shell struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	after    func(time.Duration) <-chan time.Time
	terminal bool // out is a terminal: colour and a moving progress line
}

// program is a binary: its commands and what they share.
type program struct {
	name    string
	summary string // a sentence
	// families are the words that only hold subcommands.
	families map[string]string
	commands []*command // sorted by name
	// moved are words or commands that another program has now.
	moved []moved
	// shared are the groups of options that many commands have.
	shared []sharedFlags
	// values complete the values of flags, by the kind in their usage.
	values map[string]predictor
	// hint says what helps against an error that brings no hint; nil knows nothing.
	hint func(error) string
}

// moved is a command, or a family of commands, that was part of this program.
type moved struct {
	name string // "dev load", or "sim" for a whole family
	to   string // the command line that does it now
}

// sharedFlags are options that many commands have; the help lists them apart.
type sharedFlags struct {
	title string
	add   func(*flag.FlagSet)
}

// main runs the program with the process' arguments and ends the process.
func (p *program) main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &shell{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now, after: time.After,
		terminal: isatty.IsTerminal(os.Stdout.Fd()),
	}
	code := p.run(ctx, s, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs the command that the arguments name and returns its exit code.
func (p *program) run(ctx context.Context, s *shell, args []string) int {
	app := cli.NewCLI(p.name, version)
	app.Args = args
	app.Commands = p.factories(ctx, s)
	app.HelpWriter, app.ErrorWriter = s.out, s.err
	app.HelpFunc = p.help
	if s.getenv(completionLine) == "" {
		if err := p.misuse(args); err != nil {
			fmt.Fprintf(s.err, "Error: %s\nHint: %s\n", err, p.hintOf(err))
			return exitUsage
		}
	}
	code, err := app.Run()
	switch {
	case err != nil:
		fmt.Fprintf(s.err, "Error: %s\n", err)
		return exitFailed
	case code == noCommand, code == exitFailed && p.families[app.Subcommand()] != "":
		return exitUsage // the help was printed
	default:
		return code
	}
}

// completionLine is set where a shell asks for completions; the arguments are
// the shell's then.
const completionLine = "COMP_LINE"

// noCommand is what the cli package returns where no command is named.
const noCommand = 127

func (p *program) factories(ctx context.Context, s *shell) map[string]cli.CommandFactory {
	out := map[string]cli.CommandFactory{}
	for name, synopsis := range p.families {
		out[name] = func() (cli.Command, error) { return family{p.name, name, synopsis}, nil }
	}
	for _, c := range p.commands {
		out[c.name] = func() (cli.Command, error) { return &bound{p, c, ctx, s}, nil }
	}
	return out
}

// family is a command that only lists its subcommands; the cli package adds
// the list.
type family struct{ program, name, synopsis string }

// Help is the usage and the synopsis.
func (f family) Help() string {
	return fmt.Sprintf("Usage: %s %s <subcommand> [options]\n\n  %s.", f.program, f.name, f.synopsis)
}

// Synopsis is one line.
func (f family) Synopsis() string { return f.synopsis }

// Run prints the help.
func (f family) Run([]string) int { return cli.RunResultHelp }

// rootFlags are what may stand before the command.
var rootFlags = []string{"h", "help", "v", "version", "autocomplete-install", "autocomplete-uninstall"}

// misuse finds an unknown or moved command or a flag before the command; nil leaves
// the rest to the cli package.
func (p *program) misuse(args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if !slices.Contains(rootFlags, strings.TrimLeft(args[0], "-")) {
			return withHint(usageError("unknown option %s before the command", args[0]), fmt.Sprintf("options follow the command: %s <command> [options]", p.name))
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return nil
	}
	if err := p.movedCommand(args); err != nil {
		return err
	}
	var names, within []string // all commands, and those of the family
	for _, c := range p.commands {
		first, second, nested := strings.Cut(c.name, " ")
		if nested && first == args[0] {
			within = append(within, second)
		}
		names = append(names, first)
	}
	if !slices.Contains(names, args[0]) {
		return p.unknownCommand("", args[0], slices.Compact(names))
	}
	if len(within) > 0 && len(args) > 1 && !strings.HasPrefix(args[1], "-") && !slices.Contains(within, args[1]) {
		return p.unknownCommand(args[0]+" ", args[1], within)
	}
	return nil
}

// movedCommand names the program that has the command now.
func (p *program) movedCommand(args []string) error {
	for _, m := range p.moved {
		words := strings.Fields(m.name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return withHint(usageError("%q is not a command of %s any more", m.name, p.name), m.to)
		}
	}
	return nil
}

func (p *program) unknownCommand(family, name string, known []string) error {
	err := usageError("unknown command %q", family+name)
	if near := jobhcl.Nearest(name, known); near != "" {
		return withHint(err, fmt.Sprintf("did you mean \"%s %s%s\"?", p.name, family, near))
	}
	return withHint(err, fmt.Sprintf("%s %s-help lists the commands", p.name, family))
}

// help is the page of the program without a subcommand.
func (p *program) help(all map[string]cli.CommandFactory) string {
	var names []string
	for name := range all {
		if !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s <command> [options]\n\n%s\n\nCommands:\n", p.name, p.summary)
	for _, name := range names {
		c, err := all[name]()
		if err != nil {
			continue // our factories do not fail
		}
		fmt.Fprintf(&b, "    %-9s %s\n", name, c.Synopsis())
	}
	fmt.Fprintf(&b, "\nEvery command takes -help. %s -autocomplete-install sets up completion in your shell.\n\n", p.name)
	b.WriteString(exitHelp(p.stock()))
	return b.String()
}

// stock reports that some command may end with exitStock.
func (p *program) stock() bool {
	return slices.ContainsFunc(p.commands, func(c *command) bool { return c.exitsStock })
}

// hintOf says what helps against an error: what was said where it arose, or
// what the program knows of it.
func (p *program) hintOf(err error) string {
	own := hintOf(err)
	if own == "" && p.hint != nil {
		own = p.hint(err)
	}
	return cmp.Or(own, commonHint(err))
}
