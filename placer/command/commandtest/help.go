// Package commandtest holds what every program's command line is tested with: its
// help, a walk over all commands, and the documents that show them.
package commandtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// Main runs a package's tests, and lets its scripts run the test binary as a
// program, never on a terminal.
func Main(m *testing.M, p *command.Program) {
	testscript.Main(m, map[string]func(){
		p.Name: func() {
			s := &command.Shell{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, After: time.After}
			os.Exit(p.Run(context.Background(), s, os.Args[1:]))
		},
	})
}

// Scripts runs testdata/script; with update it writes the output they expect.
func Scripts(t *testing.T, update bool) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": Exits},
	})
}

func helpText(t *testing.T, p *command.Program, words ...string) string {
	t.Helper()
	out := &strings.Builder{}
	s := &command.Shell{Out: out, Err: out, Getenv: func(string) string { return "" }}
	if code := p.Run(t.Context(), s, append(words, "-h")); code != command.ExitDone {
		t.Fatalf("%v -h ends with %d", words, code)
	}
	return strings.TrimSpace(out.String())
}

// helpNames are the root, every family and every command, sorted.
func helpNames(p *command.Program) []string {
	names := []string{""}
	family := ""
	for _, c := range p.Commands {
		if first, _, nested := strings.Cut(c.Name, " "); nested && first != family {
			family = first
			names = append(names, first)
		}
		names = append(names, c.Name)
	}
	return names
}

// CheckPages compares the help of everything with a file of the package and a
// page of the documentation; both are rewritten with update, so that a change of
// help is seen in review.
func CheckPages(t *testing.T, p *command.Program, pages Pages) {
	t.Helper()
	var golden, page strings.Builder
	page.WriteString(pages.Intro)
	for _, name := range helpNames(p) {
		title := strings.TrimSpace(p.Name + " " + name)
		help := helpText(t, p, strings.Fields(name)...)
		fmt.Fprintf(&golden, "$ %s -h\n%s\n\n", title, help)
		fmt.Fprintf(&page, "\n## %s\n\n```text\n%s\n```\n", title, help)
	}
	compareGolden(t, pages.Golden, golden.String(), pages.Update)
	compareGolden(t, pages.Page, page.String(), pages.Update)
}

// Pages are where the help of a program is written down.
type Pages struct {
	Golden, Page string // paths
	Intro        string // of the page
	Update       bool
}

func compareGolden(t *testing.T, path, want string, update bool) {
	t.Helper()
	have, err := os.ReadFile(path)
	if err == nil && string(have) == want {
		return
	}
	if !update {
		t.Errorf("%s is not what the commands say (%v); rewrite it with -update and review the difference", path, err)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// CheckHelp wants all parts of every help, and of every option what it is without
// being given. Servers print a log; everything else prints data.
func CheckHelp(t *testing.T, p *command.Program, servers ...string) {
	t.Helper()
	for _, c := range p.Commands {
		help := helpText(t, p, strings.Fields(c.Name)...)
		for _, want := range []string{"Usage: " + p.Name + " " + c.Name, "\n  " + c.Synopsis + ".\n", "\nExample:\n\n  " + p.Name + " " + c.Name, "\nExit codes:\n"} {
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
		if server := slices.Contains(servers, c.Name); (f.Lookup(command.JSONName) != nil) == server || (f.Lookup(command.TemplateName) != nil) == server {
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

// WalkCommands runs every command as a process: help, an unknown option, no
// arguments, empty arguments. The test's main lets scripts run the program.
func WalkCommands(t *testing.T, p *command.Program) {
	t.Helper()
	folder := t.TempDir()
	for _, c := range p.Commands {
		var b strings.Builder
		line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		line("exec %s %s -h", p.Name, c.Name)
		line("stdout '^Usage: %s %s'", p.Name, c.Name)
		line("! stderr .")
		line("exits 2 %s %s -nonsense", p.Name, c.Name)
		line("! stdout .")
		line("stderr '^Error: unknown option -nonsense$'")
		line("stderr '^Usage: %s %s'", p.Name, c.Name)
		line("exits 2 %s %s -hlep", p.Name, c.Name)
		line("stderr '^Hint: did you mean -help'")
		line("exits 2 %s %s ''", p.Name, c.Name)
		line("! stderr panic")
		if c.MinArgs > 0 {
			line("exits 2 %s %s", p.Name, c.Name)
			line("stderr '^Error: .* takes '")
		}
		file := filepath.Join(folder, strings.ReplaceAll(c.Name, " ", "-")+".txtar")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, testscript.Params{Dir: folder, Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": Exits}})
}

// Exits runs a program and wants an exit code: exits 2 program argument...
func Exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits code program [argument...]")
	}
	code := 0
	var failed *exec.ExitError
	err := ts.Exec(args[1], args[2:]...)
	switch {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
