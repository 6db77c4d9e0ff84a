package main

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m, workload()) }

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
	commandtest.Scripts(t, false)
}
