package nomadapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// sizableOf finds the task of a group that may be given another size, and what of
// others decide the group's size.
func sizableOf(group object, spec performance.Spec) cluster.Sizable {
	out := countSizable(group.object("Scaling"))
	task, why := sizedTask(group, spec)
	if task == nil {
		out.SizeFixed = why
		return out
	}
	out.Task, out.Own = task.text("Name"), ownAsk(task)
	for _, scaling := range task.objects("ScalingPolicies") {
		if enabled(scaling) {
			out.SizeFixed = fmt.Sprintf("the scaling blocks of task %q control it", out.Task)
		}
	}
	var others []taskAsk
	for _, t := range group.objects("Tasks") {
		ask := taskAskOf(t)
		if t.text("Name") == out.Task {
			ask.resources = cluster.Resources{MemoryMB: ask.resources.MemoryMB - out.Own.MemoryMB}
		}
		others = append(others, ask)
	}
	prestart, main, poststop, cores := phases(others)
	out.Others = main.Add(cluster.Resources{Cores: cores, DiskMB: diskOf(group)})
	out.Least = cluster.Resources{
		CPUMHz: max(prestart.CPUMHz, poststop.CPUMHz), MemoryMB: max(prestart.MemoryMB, poststop.MemoryMB),
	}
	return out
}

// countSizable yields to whoever else sets the group's count: with an enabled
// scaling block that is an autoscaler, or people with buttons.
func countSizable(scaling object) cluster.Sizable {
	switch {
	case scaling == nil:
		return cluster.Sizable{}
	case enabled(scaling):
		return cluster.Sizable{CountFixed: "the group's own scaling block controls it"}
	}
	return cluster.Sizable{CountMin: int(scaling.number("Min")), CountMax: int(scaling.number("Max"))}
}

// enabled is true unless a scaling block says otherwise, as in Nomad.
func enabled(scaling object) bool {
	v, given := scaling["Enabled"].(bool)
	return v || !given
}

// sizedTask is the task whose size makes the group's performance: the one that
// the probe names, else the only one that does the group's work.
func sizedTask(group object, spec performance.Spec) (task object, why string) {
	var main []object
	for _, t := range group.objects("Tasks") {
		if t.object("Lifecycle").text("Hook") != "" {
			continue
		}
		if spec.Probe != nil && spec.Probe.Task == t.text("Name") && spec.Probe.Task != "" {
			return t, ""
		}
		main = append(main, t)
	}
	switch {
	case len(main) == 1:
		return main[0], ""
	case len(main) == 0:
		return nil, "the group has no main task"
	}
	return nil, fmt.Sprintf("the group has %d main tasks: name the one to size with task in the probe block", len(main))
}

// setSize gives a task other cores or MHz, and memory; zero fields stay.
func setSize(task object, size cluster.Resources) {
	r := task.object("Resources")
	if r == nil {
		r = object{}
	}
	if size.Cores > 0 {
		r["Cores"], r["CPU"] = size.Cores, 0
	} else if size.CPUMHz > 0 {
		r["CPU"], r["Cores"] = size.CPUMHz, 0
	}
	if size.MemoryMB > 0 {
		r["MemoryMB"] = size.MemoryMB
		if most := r.number("MemoryMaxMB"); most > 0 && most < int64(size.MemoryMB) {
			r["MemoryMaxMB"] = size.MemoryMB
		}
	}
	task["Resources"] = map[string]any(r)
}

// sizeMark is what a group carries once its size was written: what the user had
// and what was put there instead, so that the one can come back and a change that
// others made since is distinguished from ours. It is the right side of a constraint that
// always holds, since a change of meta would restart tasks (decision 0012).
type sizeMark struct {
	Count  *change           `json:"count,omitempty"`
	Task   string            `json:"task,omitempty"`
	Fields map[string]change `json:"resources,omitempty"` // of the task, by Nomad's names
}

type change struct {
	Was int64 `json:"was"`
	Now int64 `json:"now"`
}

// sizeMarkPrefix opens a mark; see isOurs.
const sizeMarkPrefix = ourMark + ",sized "

// sizedFields are what setSize may write.
var sizedFields = []string{"CPU", "Cores", "MemoryMB", "MemoryMaxMB"}

// writeSize gives the group the size of a decision, and marks what it changed.
func writeSize(group object, d cluster.Decision) {
	if !d.Sizing.Changes(d.Count) {
		return
	}
	var mark sizeMark
	if was := group.number("Count"); was != int64(d.Count) {
		mark.Count = &change{was, int64(d.Count)}
		group["Count"] = d.Count
	}
	if task := findTask(group, d.Sizing.Task); task != nil && d.Sizing.Own != d.Sizing.OwnWas {
		before := task.object("Resources").clone()
		setSize(task, d.Sizing.Own)
		mark.Task, mark.Fields = d.Sizing.Task, map[string]change{}
		for _, f := range sizedFields {
			if was, now := before.number(f), task.object("Resources").number(f); was != now {
				mark.Fields[f] = change{was, now}
			}
		}
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return // unreachable: it is names and numbers
	}
	group.setList("Constraints", append(group.objects("Constraints"), object{
		"LTarget": sizeMarkPrefix + string(text), "Operand": "=", "RTarget": sizeMarkPrefix + string(text),
	}))
}

func findTask(group object, name string) object {
	for _, t := range group.objects("Tasks") {
		if t.text("Name") == name {
			return t
		}
	}
	return nil
}

// sizeMarkOf reads the mark of a group.
func sizeMarkOf(group object) (mark sizeMark, line object, ok bool) {
	for _, line := range group.objects("Constraints") {
		text, found := strings.CutPrefix(line.text("RTarget"), sizeMarkPrefix)
		if !found {
			continue
		}
		if json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&mark) == nil {
			return mark, line, true
		}
	}
	return sizeMark{}, nil, false
}

// unsize gives a group back the size its user wrote, where it still is the one
// written here: what others changed since is theirs.
func unsize(group object) {
	mark, _, ok := sizeMarkOf(group)
	if !ok {
		return
	}
	if mark.Count != nil && group.number("Count") == mark.Count.Now {
		group["Count"] = asRead(mark.Count.Was)
	}
	task := findTask(group, mark.Task)
	if task == nil || len(mark.Fields) == 0 {
		return
	}
	r := task.object("Resources")
	for f, c := range mark.Fields {
		if r.number(f) != c.Now {
			return // a size is given back whole or not at all
		}
	}
	for f, c := range mark.Fields {
		r[f] = asRead(c.Was)
	}
}

// asRead is a number as it comes from Nomad.
func asRead(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// asSubmitted is the group with the size its user wrote.
func asSubmitted(group object) object {
	if _, _, ok := sizeMarkOf(group); !ok {
		return group
	}
	out := group.clone()
	unsize(out)
	return out
}
