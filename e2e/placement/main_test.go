//go:build e2e

package placement

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

const (
	basePort = 18200
	binDir   = "../../bin"
)

// shared is the cluster of all tests of this package. Its clients have a host volume of
// the name volumeName, which is the directory volumeDir.
var (
	shared    *rig.Rig
	volumeDir string
)

const volumeName = "data"

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) (code int) {
	ctx := context.Background()
	var err error
	if volumeDir, err = makeVolume(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(volumeDir)
	if shared, err = startRig(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer func() {
		if err := shared.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: stopping the cluster:", err)
			code = 1
		}
	}()
	if code = m.Run(); code == 0 && flag.Lookup("test.run").Value.String() == "" {
		code = noRightUnused(ctx)
	}
	return code
}

// noRightUnused fails where the agents have a right that none of the tests used: then it
// is not needed, or what needs it is not tested.
func noRightUnused(ctx context.Context) (code int) {
	used, err := shared.UsedRights(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	policy := rig.AgentPolicy()
	for _, r := range rights.Of(policy.Role, policy.With...) {
		// No CSI plugin runs here; TestEachRightIsNeeded shows that Nomad asks for these.
		csi := r.Capability == "csi-mount-volume" || r.Scope == rights.Plugins
		if !used[r.Name()] && !usedBefore[r.Name()] && !csi {
			fmt.Fprintf(os.Stderr, "e2e: no test used the right %q, which the agent has to %s\n", r.Name(), r.Why)
			code = 1
		}
	}
	return code
}

// usedBefore are the rights that agents used whose job was removed.
var usedBefore = map[string]bool{}

// makeVolume makes a directory that tasks of any user may write to.
func makeVolume() (string, error) {
	dir, err := os.MkdirTemp("", "placer-volume-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777)
}

// startRig starts a cluster whose drivers take signed requests only: whatever these tests
// profile and resize shows that the agent's are taken.
func startRig(ctx context.Context) (*rig.Rig, error) {
	r, err := rig.Start(ctx, rig.Options{
		Bin: binDir, BasePort: basePort, RunID: "e2e", HostVolumes: map[string]string{volumeName: volumeDir}, Signed: true,
	})
	if err != nil {
		return nil, err
	}
	if err := r.InstallPlacer(ctx); err != nil {
		return nil, errors.Join(err, r.Stop(ctx))
	}
	return r, nil
}

// counting is a workload that does a hundred units of work a second and says so.
const counting = `i=0; while true; do i=$((i+1)); echo "units $i"; sleep 0.01; done`

// countingBlock is a performance block for it; the short profile keeps the
// tests short.
const countingBlock = `
target {
  rate = 50
}
probe "log" {
  pattern = "units (\\d+)"
}
profile {
  seconds = 8
  sources = ["int"]
}
`

// held is a job as stock "nomad job run" registers it: in the hold pool, with
// the performance block as group meta.
func held(id, block, script string, change ...func(*api.Job)) *api.Job {
	task := api.NewTask("main", "raw_exec").
		SetConfig("command", "/bin/bash").
		SetConfig("args", []string{"-c", script}).
		Require(&api.Resources{CPU: ptr(100), MemoryMB: ptr(32)})
	task.KillSignal = "SIGKILL" // a shell between two sleeps hears nothing gentler
	group := api.NewTaskGroup("main", 1).AddTask(task)
	group.Meta = map[string]string{"performance": block}
	group.RestartPolicy = &api.RestartPolicy{Attempts: ptr(0), Mode: ptr("fail")}
	job := api.NewServiceJob(id, id, "global", 50).AddTaskGroup(group)
	job.NodePool = ptr(rig.HoldPool)
	for _, c := range change {
		c(job)
	}
	return job
}

func ptr[T any](v T) *T { return &v }

// submit registers the job and purges it when the test ends.
func submit(ctx context.Context, t *testing.T, job *api.Job) {
	t.Helper()
	if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.Purge(context.Background(), *job.ID); err != nil {
			t.Error(err)
		}
	})
}

// book reads the placer's records as an operator would, from Nomad Variables.
func book(t testing.TB) journal.Book {
	t.Helper()
	s, err := nomadvars.New(shared.API(), nomadvars.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return journal.Book{Store: s}
}

func workload(id string) placer.WorkloadID {
	return placer.WorkloadID{Namespace: "default", Job: id, Group: "main"}
}

// released waits until the job left the hold pool and returns it.
func released(ctx context.Context, t *testing.T, id string, within time.Duration) *api.Job {
	t.Helper()
	var job *api.Job
	eventually(ctx, t, id+" is released", within, func() bool {
		j, _, err := shared.API().Jobs().Info(id, nil)
		job = j
		return err == nil && *j.NodePool != rig.HoldPool
	})
	return job
}

// eventually polls until ok, or fails the test naming what it waited for.
func eventually(ctx context.Context, t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited %s in vain until %s", within, what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
