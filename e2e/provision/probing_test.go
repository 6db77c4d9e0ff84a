//go:build e2e

package provision

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// pressing are other customers of the machine that all nodes of this test share: loops, two to a CPU,
// each in a session of its own, so that each has a share of CPU time like that of all kernels of a node.
// More of them leave the servers too little to have a node measured in time.
func pressing(t *testing.T) (end func()) {
	t.Helper()
	var loops []*exec.Cmd
	end = func() {
		for _, c := range loops {
			_ = c.Process.Kill() // it may have ended
			_ = c.Wait()
		}
		loops = nil
	}
	t.Cleanup(end)
	for range 2 * runtime.NumCPU() {
		c := exec.Command("/bin/sh", "-c", "while :; do :; done")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		loops = append(loops, c)
	}
	return end
}

// submitLarge registers a job, held, of which a rented node has room for one.
func (r renting) submitLarge(t *testing.T, id string) {
	t.Helper()
	job := surgeJob(id, "wary")
	job.TaskGroups[0].Tasks[0].Resources.MemoryMB = ptr(600)
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
}

// reported is what the agent says of rented nodes, by name.
func (r renting) reported(t *testing.T) map[string]provision.NodeReport {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/v1/provision", agentPort), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Nomad-Token", r.rig.Token())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var report provision.Report
	if err := json.NewDecoder(response.Body).Decode(&report); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", response.Status, err)
	}
	out := map[string]provision.NodeReport{}
	for _, n := range report.Nodes {
		out[n.Name] = n
	}
	return out
}

// TestANoisyNodeIsNotRetained: nodes are measured by kernels before they get a job. Of one on whose
// machine others press more than its job tolerates the agent says so, the job gets it all the same,
// and it leaves as soon as that has ended. All nodes here are one machine: they are measured one after
// the other, for two at the same time would press on each other.
func TestANoisyNodeIsNotRetained(t *testing.T) {
	r := startRenting(t)
	r.submitLarge(t, "wary-1")
	r.know(t, "wary-1", 25) // so that it demands 75, which P2 sends to rented nodes
	began := time.Now()
	phase := func(what string) {
		t.Logf("%5.1f s: %s", time.Since(began).Seconds(), what)
	}
	r.agent.start(t)
	quiet := r.nodes(t, 1, startWithin)[0]
	r.on(t, "wary-1")
	phase(quiet + ": " + r.reported(t)[quiet].Why)

	calm := pressing(t)
	phase("others press on the machine")
	r.submitLarge(t, "wary-2")
	names := r.nodes(t, 2, startWithin)
	noisy := names[slices.IndexFunc(names, func(n string) bool { return n != quiet })]
	r.on(t, "wary-2")
	calm()
	got := r.reported(t)[noisy]
	phase(fmt.Sprintf("%s: %s", noisy, got.Why))
	if !strings.Contains(got.Why, "was not good enough") {
		t.Fatalf("%+v", got)
	}
	if err := r.rig.Purge(t.Context(), "wary-2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the noisy node has gone", goneWithin, func() bool {
		n, there := r.reported(t)[noisy]
		if n.State == provision.Vacant {
			t.Errorf("it is retained: %+v", n)
		}
		return !there
	})
	phase("its job has ended, and it is gone")
	nodes, err := r.run.Nodes(burst)
	if err != nil || slices.ContainsFunc(nodes, func(n cluster.Rented) bool { return n.Name == noisy && n.PID != 0 }) {
		t.Errorf("%+v, %v", nodes, err)
	}
}
