//go:build e2e

package placement

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/examples/install"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// own is the placer's namespace in the tests of an installation with one.
const own = "placer"

// TestServiceInstall has two agents on nodes that the operator names, with the policy as
// it is shipped and a namespace of their own: their token is on these nodes only and
// nobody else can read it, jobs are placed, also after the leader was killed, and pages on
// every node need no more than to read.
func TestServiceInstall(t *testing.T) {
	ctx := t.Context()
	used, err := shared.UsedRights(ctx)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(usedBefore, used)
	if err := shared.Purge(ctx, nomadapi.DefaultOwner); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.InstallPlacer(context.Background()); err != nil {
			t.Error(err)
		}
	})
	nodes := []string{nodeID(t, 0), nodeID(t, 1)}
	installIn(ctx, t, install.ServiceJob, map[string]string{"nodes": strings.Join(nodes, ",")}, rights.Leader)
	world, err := shared.RecordsIn(own)
	if err != nil {
		t.Fatal(err)
	}
	leader, err := world.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pid := agentPID(t, leader)
	tokenIsHidden(t, pid)

	placedIn(ctx, t, "named-first")
	if err := rig.Kill(pid); err != nil {
		t.Fatal(err)
	}
	placedIn(ctx, t, "named-second")
	if err := rig.WaitLeader(ctx, world, leader); err != nil {
		t.Fatal(err)
	}
	on := map[string]int{}
	for _, a := range allocationsOf(t, nomadapi.DefaultOwner) {
		on[a.NodeID]++
	}
	if len(on) != 2 || on[nodes[0]] == 0 || on[nodes[1]] == 0 {
		t.Errorf("agents on the nodes %v, want them on %v", on, nodes)
	}

	installIn(ctx, t, install.PagesJob, nil, rights.Pages)
	eventually(ctx, t, "each node has pages that show all nodes", time.Minute, func() bool { return pagesEverywhere(t) })
}

// installIn installs a job of the placer in its own namespace until the test ends.
func installIn(ctx context.Context, t *testing.T, text string, variables map[string]string, role rights.Role) {
	t.Helper()
	err := shared.Install(ctx, rig.Installation{
		Text: text, Variables: variables, Policy: rights.Policy{Role: role, Namespaces: []string{"default"}, Namespace: own},
	})
	if err != nil {
		t.Fatal(err)
	}
	job := nomadapi.DefaultOwner
	if role == rights.Pages {
		job = "nomad-placer-pages"
	}
	t.Cleanup(func() {
		if err := shared.World.RemoveJob(context.Background(), placer.JobID{Namespace: own, ID: job}); err != nil {
			t.Error(err)
		}
	})
}

func nodeID(t *testing.T, client int) string {
	t.Helper()
	nodes, _, err := shared.API().Nodes().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if i, ok := shared.ClientNamed(n.Name); ok && i == client {
			return n.ID
		}
	}
	t.Fatalf("client %d has no node", client)
	return ""
}

func agentPID(t *testing.T, leader nomadapi.Leader) int {
	t.Helper()
	pid, err := shared.AgentPID(leader.Address)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// tokenIsHidden wants the token in a file of the agent's user alone, and nowhere in the
// environment of its process.
func tokenIsHidden(t *testing.T, pid int) {
	t.Helper()
	of := func(name string) []string {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\x00")
	}
	for _, v := range of("environ") {
		if strings.Contains(v, "eyJ") || strings.HasPrefix(v, "NOMAD_TOKEN") {
			t.Errorf("the token is in the environment of the agent: %.30s…", v)
		}
	}
	file := ""
	for i, arg := range of("cmdline") {
		if arg == "-token-file" {
			file = of("cmdline")[i+1]
		}
	}
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid), "root", file)) // its file systems are its client's
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
}

// placedIn submits a job that is not profiled, and wants it placed by a decision that is
// on record in the placer's own namespace.
func placedIn(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	block := strings.Replace(countingBlock, "seconds = 8", "skip = true", 1)
	submit(ctx, t, held(id, strings.Replace(block, "sources = [\"int\"]", "", 1)+"policy = \"least-loaded\"\n", counting))
	released(ctx, t, id, time.Minute)
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	s, err := nomadvars.New(shared.API(), nomadvars.Options{Namespace: own})
	if err != nil {
		t.Fatal(err)
	}
	d, err := journal.Book{Store: s}.Decision(ctx, workload(id))
	if err != nil || d.Outcome != placer.Placed {
		t.Errorf("%s: outcome %q (%s), %v", id, d.Outcome, d.Reason, err)
	}
	if _, err := book(t).Decision(ctx, workload(id)); err == nil {
		t.Errorf("%s has a record in the namespace default", id)
	}
}

func allocationsOf(t *testing.T, job string) []*api.AllocationListStub {
	t.Helper()
	all, _, err := shared.API().Jobs().Allocations(job, false, &api.QueryOptions{Namespace: own})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// pagesEverywhere reports whether the pages of every client list every node.
func pagesEverywhere(t *testing.T) bool {
	t.Helper()
	serving := 0
	for _, stub := range allocationsOf(t, "nomad-placer-pages") {
		a, _, err := shared.API().Allocations().Info(stub.ID, &api.QueryOptions{Namespace: own})
		if err != nil || a.AllocatedResources == nil || len(a.AllocatedResources.Shared.Ports) == 0 {
			return false
		}
		port := a.AllocatedResources.Shared.Ports[0]
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+port.HostIP+":"+strconv.Itoa(port.Value)+"/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Nomad-Token", shared.Token())
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		var nodes []any
		err = json.NewDecoder(answer.Body).Decode(&nodes)
		_ = answer.Body.Close()
		if err != nil || len(nodes) != shared.Clients() {
			return false
		}
		serving++
	}
	return serving == shared.Clients()
}
