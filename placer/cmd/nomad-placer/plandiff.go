package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// The types of a change in Nomad's diffs, and how they are printed.
var diffMarks = map[string]command.Cell{
	"Added":   {Text: "+", Hue: command.Good},
	"Deleted": {Text: "-", Hue: command.Bad},
	"Edited":  {Text: "~", Hue: command.Warn},
}

// pageObject is the part of a job where the placer writes its page; it is no
// news to anybody.
const pageObject = "UI"

// printDiff prints what changes, like Nomad's own plan.
func printDiff(p *command.Page, d *api.JobDiff) {
	if d == nil || d.Type == "None" {
		p.Line(command.Text("  The job does not change."))
		return
	}
	diffLine(p, 1, d.Type, "job "+d.ID)
	diffContent(p, 2, d.Type, d.Fields, d.Objects)
	for _, g := range d.TaskGroups {
		if g.Type == "None" && len(g.Updates) == 0 {
			continue
		}
		diffLine(p, 2, g.Type, fmt.Sprintf("group %s%s", g.Name, updatesText(g.Updates)))
		diffContent(p, 3, g.Type, g.Fields, g.Objects)
		for _, t := range g.Tasks {
			if t.Type == "None" {
				continue
			}
			diffLine(p, 3, t.Type, "task "+t.Name+annotationsText(t.Annotations))
			diffContent(p, 4, t.Type, t.Fields, t.Objects)
		}
	}
}

func diffLine(p *command.Page, depth int, kind, what string) {
	mark, ok := diffMarks[kind]
	if !ok {
		mark = command.Text(" ")
	}
	p.Line(command.Text(strings.Repeat("  ", depth) + p.Paint(mark.Hue, mark.Text) + " " + what))
}

// diffContent prints what changed inside. What is new or gone as a whole is in
// the user's file, with every default of Nomad's around it: its name is enough.
func diffContent(p *command.Page, depth int, kind string, fields []*api.FieldDiff, objects []*api.ObjectDiff) {
	if kind == "Edited" {
		diffFields(p, depth, fields)
		diffObjects(p, depth, objects)
	}
}

func diffFields(p *command.Page, depth int, fields []*api.FieldDiff) {
	for _, f := range fields {
		if f.Type == "None" {
			continue
		}
		diffLine(p, depth, f.Type, f.Name+": "+changeText(p, f)+annotationsText(f.Annotations))
	}
}

// maxFieldText bounds one side of a printed change; a shortlist of nodes is
// long.
const maxFieldText = 60

func changeText(p *command.Page, f *api.FieldDiff) string {
	old, next := quoted(p, f.Old), quoted(p, f.New)
	switch f.Type {
	case "Added":
		return next
	case "Deleted":
		return old
	default:
		return old + " => " + next
	}
}

func quoted(p *command.Page, s string) string {
	return `"` + p.Cut(strings.ReplaceAll(s, "\n", "⏎"), maxFieldText) + `"`
}

func diffObjects(p *command.Page, depth int, objects []*api.ObjectDiff) {
	for _, o := range objects {
		if o.Type == "None" || o.Name == pageObject {
			continue
		}
		diffLine(p, depth, o.Type, o.Name)
		diffFields(p, depth+1, o.Fields)
		diffObjects(p, depth+1, o.Objects)
	}
}

func annotationsText(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

func updatesText(updates map[string]uint64) string {
	if len(updates) == 0 {
		return ""
	}
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(updates)) {
		out = append(out, fmt.Sprintf("%d %s", updates[kind], kind))
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// printPlacements says whether Nomad could place everything.
func printPlacements(p *command.Page, plan *api.JobPlanResponse) {
	if len(plan.FailedTGAllocs) == 0 {
		p.Line(command.Cell{Text: "  All tasks can be placed.", Hue: command.Good})
		return
	}
	for _, group := range slices.Sorted(maps.Keys(plan.FailedTGAllocs)) {
		m := plan.FailedTGAllocs[group]
		p.Item(command.Bad, fmt.Sprintf("group %s cannot be placed now: %d nodes evaluated%s", group, m.NodesEvaluated, failureText(m)))
	}
}

func failureText(m *api.AllocationMetric) string {
	var out []string
	for _, counts := range []map[string]int{m.ConstraintFiltered, m.ClassFiltered, m.DimensionExhausted} {
		for _, what := range slices.Sorted(maps.Keys(counts)) {
			out = append(out, fmt.Sprintf("%s (%d)", what, counts[what]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}
