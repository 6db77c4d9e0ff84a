package main

import (
	"flag"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata, and the page of placer/docs that is generated")

func TestMain(m *testing.M) { commandtest.Main(m, simulator()) }

func TestScripts(t *testing.T) {
	t.Parallel()
	commandtest.Scripts(t, *update)
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
