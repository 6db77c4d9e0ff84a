package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// The help of everything, in one file and as a page of the documentation; both
// are rewritten with -update, so that a change of help is seen in review.
const (
	helpGolden = "testdata/help.txt"
	cliPage    = "../../docs/cli.md"
)

func helpText(t *testing.T, words ...string) string {
	t.Helper()
	out := &output{}
	s := &command.Shell{Out: out, Err: out, Getenv: func(string) string { return "" }}
	if code := nomadPlacer().Run(t.Context(), s, append(words, "-h")); code != command.ExitDone {
		t.Fatalf("%v -h ends with %d", words, code)
	}
	return strings.TrimSpace(out.String())
}

// helpNames are the root, every family and every command, sorted.
func helpNames() []string {
	names := []string{""}
	family := ""
	for _, c := range commands() {
		if first, _, nested := strings.Cut(c.Name, " "); nested && first != family {
			family = first
			names = append(names, first)
		}
		names = append(names, c.Name)
	}
	return names
}

func TestHelpIsGolden(t *testing.T) {
	t.Parallel()
	var golden, page strings.Builder
	page.WriteString("# The command line\n\nEverything `nomad-placer` can do, as its own help says it. `go test ./placer/cmd/nomad-placer -update` writes this page.\n\n" +
		"What a command prints as a page for people it prints as data with `-json`, and through a Go template over the same names with `-t`.\n" +
		"\n## Environment\n\nAn option wins over its variable.\n\n| variable | option |\n| --- | --- |\n" + environment() +
		"| `NO_COLOR`, `NOMAD_CLI_NO_COLOR` | `-no-color` |\n")
	for _, name := range helpNames() {
		title := strings.TrimSpace("nomad-placer " + name)
		help := helpText(t, strings.Fields(name)...)
		fmt.Fprintf(&golden, "$ %s -h\n%s\n\n", title, help)
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s\n```\n", title, help)
	}
	compareGolden(t, helpGolden, golden.String())
	compareGolden(t, cliPage, page.String())
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

func compareGolden(t *testing.T, path, want string) {
	t.Helper()
	have, err := os.ReadFile(path)
	if err == nil && string(have) == want {
		return
	}
	if !*update {
		t.Errorf("%s is not what the commands say (%v); rewrite it with -update and review the difference", path, err)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every help has all its parts, and every option says what it is without being
// given.
func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		help := helpText(t, strings.Fields(c.Name)...)
		for _, want := range []string{"Usage: nomad-placer " + c.Name, "\n  " + c.Synopsis + ".\n", "\nExample:\n\n  nomad-placer " + c.Name, "\nExit codes:\n"} {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s does not say %q", c.Name, want)
			}
		}
		if strings.ContainsAny(c.Synopsis, "\n.") || utf8.RuneCountInString(c.Synopsis) > 80 {
			t.Errorf("%s: the synopsis is not one line: %q", c.Name, c.Synopsis)
		}
		for line := range strings.SplitSeq(help, "\n") {
			if n := utf8.RuneCountInString(line); n > command.PageWidth+10 {
				t.Errorf("%s: a line of %d characters: %q", c.Name, n, line)
			}
		}
		f, _ := c.Flags()
		// Servers print a log; everything else prints data.
		if server := c.Name == "agent" || c.Name == "proxy"; (f.Lookup(command.JSONName) != nil) == server || (f.Lookup(command.TemplateName) != nil) == server {
			t.Errorf("%s: -json and -t are on every command that prints data, and on no other", c.Name)
		}
		f.VisitAll(func(g *flag.Flag) { checkFlagHelp(t, c.Name, g) })
	}
}

// checkFlagHelp wants a sentence that says what follows where the option is
// not given, or its default in the line that is added by itself.
func checkFlagHelp(t *testing.T, command string, g *flag.Flag) {
	t.Helper()
	kind, usage := flag.UnquoteUsage(g)
	if usage == "" || !strings.HasSuffix(usage, ".") {
		t.Errorf("%s -%s: the help is not a sentence: %q", command, g.Name, usage)
	}
	if kind == "string" || kind == "value" {
		t.Errorf("%s -%s: its value has no name: put one in backquotes", command, g.Name)
	}
}

// A script walks every command as a process: help, an unknown option, no
// arguments, empty arguments.
func TestEveryCommandByScript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, c := range commands() {
		var b strings.Builder
		line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		line("exec nomad-placer %s -h", c.Name)
		line("stdout '^Usage: nomad-placer %s'", c.Name)
		line("! stderr .")
		line("exits 2 nomad-placer %s -nonsense", c.Name)
		line("! stdout .")
		line("stderr '^Error: unknown option -nonsense$'")
		line("stderr '^Usage: nomad-placer %s'", c.Name)
		line("exits 2 nomad-placer %s -hlep", c.Name)
		line("stderr '^Hint: did you mean -help'")
		line("exits 2 nomad-placer %s ''", c.Name)
		line("! stderr panic")
		if c.MinArgs > 0 {
			line("exits 2 nomad-placer %s", c.Name)
			line("stderr '^Error: .* takes '")
		}
		file := filepath.Join(folder, strings.ReplaceAll(c.Name, " ", "-")+".txtar")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: folder, Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits}})
}
