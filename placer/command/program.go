package command

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

// Version is set by the linker.
var Version = "0.1.0-dev"

// The exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitStock       = 3 // the job runs, but stock Nomad placed it
	ExitInterrupted = 130
)

// Shell is the world around a command: a test brings its own.
type Shell struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	Terminal bool // out is a terminal: colour and a moving progress line
}

// Program is a binary: its commands and what they share.
type Program struct {
	Name    string
	Summary string // a sentence
	// Families are the words that only hold subcommands.
	Families map[string]string
	Commands []*Command // sorted by name
	// Moved are commands that another program has now.
	Moved []Moved
	// Shared are the groups of options that many commands have.
	Shared []SharedFlags
	// Values complete the values of flags, by the kind in their usage.
	Values map[string]Predictor
	// Hint says what helps against an error that brings no hint; nil knows nothing.
	Hint func(error) string
}

// Moved is a command, or a family of commands, that was part of this program.
type Moved struct {
	Name string // "profile evaluate", or "sim" for a whole family
	To   string // the command that does it now
}

// SharedFlags are options that many commands have; the help lists them apart.
type SharedFlags struct {
	Title string
	Add   func(*flag.FlagSet)
}

// Main runs the program with the process' arguments and ends the process.
func (p *Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &Shell{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Now: time.Now, After: time.After,
		Terminal: isatty.IsTerminal(os.Stdout.Fd()),
	}
	code := p.Run(ctx, s, os.Args[1:])
	stop()
	os.Exit(code)
}

// Run runs the command that the arguments name and returns its exit code.
func (p *Program) Run(ctx context.Context, s *Shell, args []string) int {
	app := cli.NewCLI(p.Name, Version)
	app.Args = args
	app.Commands = p.factories(ctx, s)
	app.HelpWriter, app.ErrorWriter = s.Out, s.Err
	app.HelpFunc = p.help
	if s.Getenv(completionLine) == "" {
		if err := p.Misuse(args); err != nil {
			fmt.Fprintf(s.Err, "Error: %s\nHint: %s\n", err, p.hintOf(err))
			return ExitUsage
		}
	}
	code, err := app.Run()
	switch {
	case err != nil:
		fmt.Fprintf(s.Err, "Error: %s\n", err)
		return ExitFailed
	case code == noCommand, code == ExitFailed && p.Families[app.Subcommand()] != "":
		return ExitUsage // the help was printed
	default:
		return code
	}
}

// completionLine is set where a shell asks for completions; the arguments are
// the shell's then.
const completionLine = "COMP_LINE"

// noCommand is what the cli package returns where no command is named.
const noCommand = 127

func (p *Program) factories(ctx context.Context, s *Shell) map[string]cli.CommandFactory {
	out := map[string]cli.CommandFactory{}
	for name, synopsis := range p.Families {
		out[name] = func() (cli.Command, error) { return family{p.Name, name, synopsis}, nil }
	}
	for _, c := range p.Commands {
		out[c.Name] = func() (cli.Command, error) { return &bound{p, c, ctx, s}, nil }
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

// RootFlags are what may come before the command.
var RootFlags = []string{"h", "help", "v", "version", "autocomplete-install", "autocomplete-uninstall"}

// Misuse finds an unknown or moved command or a flag before the command; nil leaves
// the rest to the cli package.
func (p *Program) Misuse(args []string) error {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if !slices.Contains(RootFlags, strings.TrimLeft(args[0], "-")) {
			return WithHint(UsageError("unknown option %s before the command", args[0]), fmt.Sprintf("options follow the command: %s <command> [options]", p.Name))
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
	for _, c := range p.Commands {
		first, second, nested := strings.Cut(c.Name, " ")
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
func (p *Program) movedCommand(args []string) error {
	for _, m := range p.Moved {
		words := strings.Fields(m.Name)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return WithHint(UsageError("%s %s has moved", p.Name, m.Name), "use "+m.To)
		}
	}
	return nil
}

func (p *Program) unknownCommand(family, name string, known []string) error {
	err := UsageError("unknown command %q", family+name)
	if near := jobhcl.Nearest(name, known); near != "" {
		return WithHint(err, fmt.Sprintf("did you mean \"%s %s%s\"?", p.Name, family, near))
	}
	return WithHint(err, fmt.Sprintf("%s %s-help lists the commands", p.Name, family))
}

// help is the page of the program without a subcommand.
func (p *Program) help(all map[string]cli.CommandFactory) string {
	var names []string
	for name := range all {
		if !strings.Contains(name, " ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s <command> [options]\n\n%s\n\nCommands:\n", p.Name, p.Summary)
	for _, name := range names {
		c, err := all[name]()
		if err != nil {
			continue // our factories do not fail
		}
		fmt.Fprintf(&b, "    %-11s %s\n", name, c.Synopsis())
	}
	fmt.Fprintf(&b, "\nEvery command takes -help. %s -autocomplete-install sets up completion in your shell.\n\n", p.Name)
	b.WriteString(exitHelp(p.stock()))
	return b.String()
}

// stock reports that some command may end with exitStock.
func (p *Program) stock() bool {
	return slices.ContainsFunc(p.Commands, func(c *Command) bool { return c.ExitsStock })
}

// hintOf says what helps against an error: what was said where it arose, or
// what the program knows of it.
func (p *Program) hintOf(err error) string {
	own := hintOf(err)
	if own == "" && p.Hint != nil {
		own = p.Hint(err)
	}
	return cmp.Or(own, commonHint(err))
}
