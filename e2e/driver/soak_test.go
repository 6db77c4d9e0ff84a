//go:build e2e

package driver

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// soakCycles is ten for the suite; `make soak` asks for 200.
var soakCycles = flag.Int("soak", 10, "cycles of TestSoak")

// TestSoak starts a kernel, retunes it, kills something of it with SIGKILL and
// stops the job, again and again, and looks after each cycle for what is left:
// processes, control groups, mounts and files.
func TestSoak(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	for i := range *soakCycles {
		soak(t, i, dir)
		done := i + 1
		each := time.Since(began) / time.Duration(done)
		left := each * time.Duration(*soakCycles-done)
		fmt.Fprintf(os.Stderr, "soak: %d of %d cycles, %.1f s each, %s remaining\n", done, *soakCycles, each.Seconds(), left.Round(time.Second))
	}
}

// victims are what the cycles kill, in turn.
var victims = []struct {
	name, role string
}{
	{"plugin", ""},
	{"task", "task"},
	{"kernel", "kernel"},
}

// soak is one cycle; every other one puts pressure on the disk of dir.
func soak(t *testing.T, i int, dir string) {
	t.Helper()
	victim := victims[i%len(victims)]
	job := soakJob(t, i, dir)
	if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	k := running(t, *job.ID)
	k.exec(t, "set", strconv.Itoa(1+i%20))
	kill(t, processes(t, mainNode, victim.role)...)
	stop(t, *job.ID)
	eventually(t, fmt.Sprintf("nothing is left of cycle %d, which killed the %s", i+1, victim.name), func() (bool, string) {
		what := left(t, mainNode)
		return what == "", what
	})
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Fatalf("cycle %d, which killed the %s, left files %v, %v", i+1, victim.name, entries, err)
	}
}

func soakJob(t *testing.T, i int, dir string) *api.Job {
	t.Helper()
	file, variables := "driver-kernel.hcl", map[string]string(nil)
	if i%2 == 1 {
		file, variables = "driver-storage.hcl", map[string]string{"path": strconv.Quote(dir)}
	}
	job := load(t, mainNode, filepath.Join(jobsDir, file), variables)
	restart(job, 0)
	for _, group := range job.TaskGroups {
		group.ReschedulePolicy = &api.ReschedulePolicy{Attempts: ptr(0), Unlimited: ptr(false)}
	}
	return job
}
