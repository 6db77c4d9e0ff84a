package nomadapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/nomad/api"
)

// Complete fills in what a job that is not registered yet leaves to Nomad's defaults and
// decisions follow from: its type, counts and resources. canonical is the job with all
// defaults, as Nomad will store it, for reading: it lacks fields that the api package
// does not know. The input is not touched.
func Complete(raw map[string]any) (complete, canonical map[string]any, err error) {
	stored, err := canonicalized(raw)
	if err != nil {
		return nil, nil, err
	}
	out := object(raw).clone()
	fill(out, stored, "Type")
	groups := stored.objects("TaskGroups")
	for i, group := range out.objects("TaskGroups") {
		fill(group, groups[i], "Count")
		tasks := groups[i].objects("Tasks")
		for k, task := range group.objects("Tasks") {
			if task.object("Resources") == nil {
				task["Resources"] = map[string]any{}
			}
			fill(task.object("Resources"), tasks[k].object("Resources"), "CPU", "Cores", "MemoryMB")
		}
	}
	return out, stored, nil
}

// fill copies fields that to has no value of.
func fill(to, from object, fields ...string) {
	for _, f := range fields {
		if to[f] == nil && from[f] != nil {
			to[f] = from[f]
		}
	}
}

// canonicalized is the job with the defaults of the api package, which the server
// applies to each registration, too.
func canonicalized(raw map[string]any) (object, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("nomad's defaults: %w", err)
	}
	var job api.Job
	if err := json.Unmarshal(text, &job); err != nil {
		return nil, fmt.Errorf("nomad's defaults: %w", err)
	}
	job.Canonicalize()
	if text, err = json.Marshal(&job); err != nil {
		return nil, fmt.Errorf("nomad's defaults: %w", err)
	}
	var out object
	if err := decodeNumbers(bytes.NewReader(text), &out); err != nil {
		return nil, fmt.Errorf("nomad's defaults: %w", err)
	}
	return out, nil
}

// StartsByItself reports whether a registration of the job is what starts it, and no
// clock, dispatch or other region.
func StartsByItself(raw map[string]any) bool {
	job := object(raw)
	return job["Periodic"] == nil && job["ParameterizedJob"] == nil && job["Multiregion"] == nil && job.text("Payload") == ""
}
