package main

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata, and the page of placer/docs that is generated")

// TestMain lets the scripts run this test binary as nomad-placer-sim, never on a
// terminal.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		programName: func() {
			s := &command.Shell{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, After: time.After}
			os.Exit(simulator().Run(context.Background(), s, os.Args[1:]))
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": commandtest.Exits},
	})
}

func TestHelpIsGolden(t *testing.T) {
	t.Parallel()
	commandtest.CheckPages(t, simulator(), commandtest.Pages{
		Golden: "testdata/help.txt", Page: "../../docs/cli-sim.md", Update: *update,
		Intro: "# The command line for research\n\nEverything `nomad-placer-sim` can do, as its own help says it; `nomad-placer` has [its own page](cli.md). " +
			"`go test ./placer/cmd/nomad-placer-sim -update` writes this page. It needs no Nomad.\n",
	})
}

func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	commandtest.CheckHelp(t, simulator())
}

func TestEveryCommandByScript(t *testing.T) {
	t.Parallel()
	commandtest.WalkCommands(t, simulator())
}

func TestDocumentsShowRealCommands(t *testing.T) {
	t.Parallel()
	if shown := commandtest.CheckDocuments(t, simulator()); shown < 10 {
		t.Errorf("only %d commands were found: are they still read?", shown)
	}
}
