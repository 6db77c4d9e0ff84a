//go:build e2e

package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

const (
	basePort  = 19100
	burstPort = 19700 // of the first rented node
	binDir    = "../../bin"
	// burst is the type of the rented nodes, and their class.
	burst = "burst-4"
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// rented looks at the rented nodes from three sides: the processes, Nomad, and the target's files.
type rented struct {
	*cluster.Cluster
	run *cluster.Joined
}

// startBase starts a server and a node that is there anyhow.
func startBase(t *testing.T) rented {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Config{
		RunID: "prov", BasePort: basePort, Clients: []cluster.Client{{Name: "base", Class: "base"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	run, err := cluster.Join(c.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return rented{c, run}
}

// alive are the names of the rented nodes with a process.
func (r rented) alive(t *testing.T) []string {
	t.Helper()
	nodes, err := r.run.Nodes(burst)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes {
		if n.PID != 0 {
			names = append(names, n.Name)
		}
	}
	return names
}

// known are Nomad's names of the rented nodes, in whatever state, and how many are ready.
func (r rented) known(t *testing.T) (names []string, ready int) {
	t.Helper()
	nodes, _, err := r.API().Nodes().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.NodeClass != burst {
			continue
		}
		names = append(names, n.Name)
		if n.Status == api.NodeStatusReady {
			ready++
		}
	}
	slices.Sort(names)
	return names, ready
}

// nodes waits until there are so many rented nodes, and no others: each is a process that Nomad
// knows as ready. It returns their names.
func (r rented) nodes(t *testing.T, count int, within time.Duration) []string {
	t.Helper()
	var alive, known []string
	var ready int
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		alive = r.alive(t)
		known, ready = r.known(t)
		if len(alive) == count && ready == count && slices.Equal(alive, known) {
			return alive
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s the rented nodes are %v, and of %v that Nomad knows %d are ready; want %d", within, alive, known, ready, count)
		}
	}
}

// agents are the command lines of all Nomad agents of the run, from the list of processes: what is
// in no file is here.
func (r rented) agents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it ended meanwhile
		}
		if line := strings.ReplaceAll(string(text), "\x00", " "); strings.Contains(line, " agent -config "+r.Dir()+"/") {
			found = append(found, fmt.Sprintf("%s %s", filepath.Base(filepath.Dir(f)), line))
		}
	}
	return found
}

// eventually polls until ok, or fails the test naming what it waited for.
func eventually(t *testing.T, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain until %s", within, what)
		}
	}
}
