package nomadapi

import (
	"bytes"
	"encoding/json"
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

func plainJob() *api.Job {
	task := api.NewTask("main", "exec").SetConfig("command", "/bin/true")
	task.Templates = []*api.Template{{EmbeddedTmpl: new("x"), DestPath: new("local/x")}}
	return &api.Job{ID: new("web"), TaskGroups: []*api.TaskGroup{{Name: new("g"), Tasks: []*api.Task{task}}}}
}

// What the command line sends of a short jobspec has neither count nor type.
func TestComplete(t *testing.T) {
	t.Parallel()
	raw := sent(t, plainJob())
	raw["Unknown"] = json.Number("1.50")
	before := canonical(raw)
	complete, stored, err := Complete(raw)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(canonical(raw)) {
		t.Error("the input was changed")
	}
	group := object(complete).objects("TaskGroups")[0]
	resources := group.objects("Tasks")[0].object("Resources")
	if object(complete).text("Type") != "service" || group.number("Count") != 1 || resources.number("CPU") != 100 || resources.number("MemoryMB") != 300 {
		t.Errorf("%s", canonical(complete))
	}
	if complete["Unknown"] != json.Number("1.50") || group["RestartPolicy"] != nil {
		t.Errorf("more or less than the defaults needed: %s", canonical(complete))
	}
	if object(stored).objects("TaskGroups")[0].objects("Tasks")[0].objects("Templates")[0].text("ChangeMode") != "restart" {
		t.Errorf("not all defaults: %s", canonical(stored))
	}
	if complete, _, err := Complete(sent(t, sized(7, 250, 32))); err != nil || object(complete).objects("TaskGroups")[0].number("Count") != 7 {
		t.Errorf("what was said is not kept: %v, %v", complete, err)
	}
}

// sized is a plain job with a size.
func sized(count, mhz, mb int) *api.Job {
	job := plainJob()
	job.TaskGroups[0].Count = &count
	job.TaskGroups[0].Tasks[0].Resources = &api.Resources{CPU: &mhz, MemoryMB: &mb}
	return job
}

func TestStartsByItself(t *testing.T) {
	t.Parallel()
	for want, jobs := range map[bool][]*api.Job{
		true:  {plainJob()},
		false: {{Periodic: &api.PeriodicConfig{}}, {ParameterizedJob: &api.ParameterizedJobConfig{}}, {Multiregion: &api.Multiregion{}}, {Payload: []byte("x")}},
	} {
		for _, job := range jobs {
			if got := StartsByItself(sent(t, job)); got != want {
				t.Errorf("%+v: %v", job, got)
			}
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
