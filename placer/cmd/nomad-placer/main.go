// Command nomad-placer places Nomad jobs by what they must achieve: it is the
// agent that runs as a system job, and the command line around it.
//
// What a command is called, takes, prints and ends with is in its own help, and
// all of it in placer/docs/cli.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/cli"
	"github.com/mattn/go-isatty"
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &shell{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now, after: time.After,
		terminal: isatty.IsTerminal(os.Stdout.Fd()),
	}
	code := run(ctx, s, os.Args[1:])
	stop()
	os.Exit(code)
}

// shell is the world around a command: a test brings its own.
type shell struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	after    func(time.Duration) <-chan time.Time
	terminal bool // out is a terminal: colour and a moving progress line
}

func run(ctx context.Context, s *shell, args []string) int {
	app := cli.NewCLI("nomad-placer", version)
	app.Args = args
	app.Commands = factories(ctx, s)
	app.HelpWriter, app.ErrorWriter = s.out, s.err
	app.HelpFunc = helpOf
	if s.getenv(completionLine) == "" {
		if err := misuse(args); err != nil {
			fmt.Fprintf(s.err, "Error: %s\nHint: %s\n", err, hintOf(err))
			return exitUsage
		}
	}
	code, err := app.Run()
	switch {
	case err != nil:
		fmt.Fprintf(s.err, "Error: %s\n", err)
		return exitFailed
	case code == noCommand, code == exitFailed && families[app.Subcommand()] != "":
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
