package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

func listCommand() *command.Command {
	return &command.Command{
		Name: "list", Arguments: "[FOLDER]", Synopsis: "See what a scenario can be made of",
		About:   "Lists the policies, admission controllers, adapters, cluster shapes and trace formats that a scenario file can name, and the scenarios of a folder.",
		Example: "nomad-placer-sim list examples/sim",
		MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			o := command.OutputFlags{}
			o.Add(f)
			return func(_ context.Context, s *command.Shell, args []string) error { return simList(s, &o, args) }
		},
	}
}

// simItem is one name that a scenario file may use.
type simItem struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Paper   string `json:"paper,omitempty"`
}

func simList(s *command.Shell, o *command.OutputFlags, args []string) error {
	items := simItems()
	if len(args) > 0 {
		found, err := simScenarios(args[0])
		if err != nil {
			return err
		}
		items = append(found, items...)
	}
	return o.Print(s, items, func(p *command.Page) { simTable(p, items) })
}

func simTable(p *command.Page, items []simItem) {
	var rows [][]command.Cell
	for _, i := range items {
		rows = append(rows, []command.Cell{{Text: i.Kind, Hue: command.Faint}, {Text: i.Name, Hue: command.Bold}, {Text: i.Summary}, {Text: i.Paper, Hue: command.Faint}})
	}
	p.Table([]string{"Kind", "Name", "What", "Source"}, rows)
}

func simItems() []simItem {
	var out []simItem
	for _, d := range policy.Selectors() {
		out = append(out, simItem{"policy", d.Name, d.Summary, d.Paper})
	}
	for _, d := range admission.Controllers() {
		out = append(out, simItem{"admission", d.Name, d.Summary, d.Paper})
	}
	for _, d := range adapt.Adapters() {
		out = append(out, simItem{"adapter", d.Name, d.Summary, d.Paper})
	}
	for _, d := range shape.Shapes() {
		out = append(out, simItem{"shape", d.Name, d.Summary, ""})
	}
	for _, d := range trace.Readers() {
		out = append(out, simItem{"trace", d.Name, d.Summary, d.Source})
	}
	return out
}

// simScenarios reads every scenario of a folder; a bad one is an error.
func simScenarios(folder string) ([]simItem, error) {
	if _, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	names, err := scenario.Files(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("scenarios: %w", err)
	}
	var out []simItem
	var bad []error
	for _, name := range names {
		sc, err := scenario.Load(filepath.Join(folder, name))
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, simItem{"scenario", sc.Name, sc.Title, sc.Source})
	}
	return out, errors.Join(bad...)
}
