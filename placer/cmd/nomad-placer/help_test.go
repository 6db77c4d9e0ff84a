package main

import (
	"flag"
	"fmt"
	"regexp"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
)

func TestHelpIsGolden(t *testing.T) {
	t.Parallel()
	commandtest.CheckPages(t, nomadPlacer(), commandtest.Pages{
		Golden: "testdata/help.txt", Page: "../../docs/cli.md", Update: *update,
		Intro: "# The command line\n\nEverything `nomad-placer` can do, as its own help says it; `nomad-placer-sim` has [its own page](cli-sim.md). " +
			"`go test ./placer/cmd/nomad-placer -update` writes this page.\n\n" +
			"What a command prints as a page for people it prints as data with `-json`, and through a Go template over the same names with `-t`.\n" +
			"\n## Environment\n\nAn option wins over its variable.\n\n| variable | option |\n| --- | --- |\n" + environment() +
			"| `NO_COLOR`, `NOMAD_CLI_NO_COLOR` | `-no-color` |\n",
	})
}

func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	commandtest.CheckHelp(t, nomadPlacer(), "agent", "proxy")
}

func TestEveryCommandByScript(t *testing.T) {
	t.Parallel()
	commandtest.WalkCommands(t, nomadPlacer())
}

var alsoVariable = regexp.MustCompile(`Also (NOMAD_[A-Z_]+)`)

// environment is a row for every variable that the help of a shared option
// names.
func environment() string {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	new(recordFlags).add(f)
	rows := ""
	f.VisitAll(func(g *flag.Flag) {
		if m := alsoVariable.FindStringSubmatch(g.Usage); m != nil {
			rows += fmt.Sprintf("| `%s` | `-%s` |\n", m[1], g.Name)
		}
	})
	return rows
}
