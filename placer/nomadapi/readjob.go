package nomadapi

import (
	"encoding/json"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// ReadJob reads a job that is not registered yet, in the JSON form of Nomad's
// parse endpoint with defaults filled in; its numbers must be json.Number. What
// Nomad fills in only when it stores a job is filled in here, so that the
// profile keys agree and the same nodes are in question.
func (w *World) ReadJob(raw map[string]any) cluster.Job {
	job := object(raw).clone()
	if len(job.texts("Datacenters")) == 0 {
		job["Datacenters"] = []any{"*"}
	}
	for _, group := range job.objects("TaskGroups") {
		for _, task := range group.objects("Tasks") {
			if r := task.object("Resources"); r != nil && r["MemoryMaxMB"] == nil {
				r["MemoryMaxMB"] = json.Number("0")
			}
		}
	}
	return w.readJob(job)
}
