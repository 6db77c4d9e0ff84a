package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
)

// TestMain lets the scripts run this test binary as workload.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"workload": func() {
			s := &command.Shell{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now, After: time.After}
			os.Exit(workload().Run(context.Background(), s, os.Args[1:]))
		},
	})
}

func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	commandtest.CheckHelp(t, workload())
}

func TestEveryCommandByScript(t *testing.T) {
	t.Parallel()
	commandtest.WalkCommands(t, workload())
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": commandtest.Exits}})
}
