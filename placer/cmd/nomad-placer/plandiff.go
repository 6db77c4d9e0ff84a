package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"
)

// The types of a change in Nomad's diffs, and how they are printed.
var diffMarks = map[string]cell{
	"Added":   {text: "+", hue: good},
	"Deleted": {text: "-", hue: bad},
	"Edited":  {text: "~", hue: warn},
}

// pageObject is the part of a job where the placer writes its page; it is no
// news to anybody.
const pageObject = "UI"

// printDiff prints what changes, like Nomad's own plan.
func printDiff(p *page, d *api.JobDiff) {
	if d == nil || d.Type == "None" {
		p.line(text("  The job does not change."))
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

func diffLine(p *page, depth int, kind, what string) {
	mark, ok := diffMarks[kind]
	if !ok {
		mark = text(" ")
	}
	p.line(text(strings.Repeat("  ", depth) + p.paint(mark.hue, mark.text) + " " + what))
}

// diffContent prints what changed inside. What is new or gone as a whole is in
// the user's file, with every default of Nomad's around it: its name is enough.
func diffContent(p *page, depth int, kind string, fields []*api.FieldDiff, objects []*api.ObjectDiff) {
	if kind == "Edited" {
		diffFields(p, depth, fields)
		diffObjects(p, depth, objects)
	}
}

func diffFields(p *page, depth int, fields []*api.FieldDiff) {
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

func changeText(p *page, f *api.FieldDiff) string {
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

func quoted(p *page, s string) string {
	return `"` + p.cut(strings.ReplaceAll(s, "\n", "⏎"), maxFieldText) + `"`
}

func diffObjects(p *page, depth int, objects []*api.ObjectDiff) {
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
func printPlacements(p *page, plan *api.JobPlanResponse) {
	if len(plan.FailedTGAllocs) == 0 {
		p.line(cell{text: "  All tasks can be placed.", hue: good})
		return
	}
	for _, group := range slices.Sorted(maps.Keys(plan.FailedTGAllocs)) {
		m := plan.FailedTGAllocs[group]
		p.item(bad, fmt.Sprintf("group %s cannot be placed now: %d nodes evaluated%s", group, m.NodesEvaluated, failureText(m)))
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
