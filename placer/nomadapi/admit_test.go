package nomadapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// sent is a job as a client sends it.
func sent(t *testing.T, job *api.Job) map[string]any {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := decodeNumbers(bytes.NewReader(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnfinished(t *testing.T) {
	t.Parallel()
	make := func(change func(*api.Job)) map[string]any {
		cpu, memory := 100, 64
		task := api.NewTask("main", "exec")
		task.Resources = &api.Resources{CPU: &cpu, MemoryMB: &memory}
		job := api.NewServiceJob("web", "web", "global", 50).AddTaskGroup(api.NewTaskGroup("g", 2).AddTask(task))
		change(job)
		return sent(t, job)
	}
	for want, change := range map[string]func(*api.Job){
		"":                      (*api.Job).Canonicalize,
		"its type":              func(j *api.Job) { j.Type = nil },
		"when or where":         func(j *api.Job) { j.Periodic = &api.PeriodicConfig{} },
		"when or where it":      func(j *api.Job) { j.ParameterizedJob = &api.ParameterizedJobConfig{} },
		`count of group "g"`:    func(j *api.Job) { j.TaskGroups[0].Count = nil },
		`resources of task "m`:  func(j *api.Job) { j.TaskGroups[0].Tasks[0].Resources = nil },
		`resources of task "ma`: func(j *api.Job) { j.TaskGroups[0].Tasks[0].Resources.MemoryMB = nil },
	} {
		got := Unfinished(make(change))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

// A job without data centers may run in all of them, as where Nomad has stored it.
func TestReadJobWithoutDatacenters(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	job := testJob("web", "ok")
	delete(job, "Datacenters")
	read := w.ReadJob(job)
	if len(read.Workloads) != 1 || !cluster.InDatacenters("anywhere", read.Workloads[0].Datacenters) {
		t.Errorf("%+v", read.Workloads)
	}
}
