package cluster

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// joined is a run whose owner is this test.
func joined(t *testing.T) *Joined {
	t.Helper()
	config, err := Config{RunID: "r", Dir: t.TempDir(), BasePort: 20000, Clients: Topology([]int{0, 1})}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecord(config, hierarchies{Version: 2, List: []hierarchy{{Mount: t.TempDir()}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(config.runDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.write(config.runDir()); err != nil {
		t.Fatal(err)
	}
	j, err := join(config.runDir())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJoinedNodesFindTheirServer: a node that joins has ports of its own, and the run's server.
func TestJoinedNodesFindTheirServer(t *testing.T) {
	t.Parallel()
	j := joined(t)
	c := j.configFor(Client{Name: "burst-1", Class: "burst"}, 21000, 2)
	text := clientHCL(c, 2, "/data")
	for _, want := range []string{`name = "burst-1"`, "http = 21020", "rpc = 21021", `servers = ["127.0.0.1:20001"]`, `node_class = "burst"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent file lacks %s:\n%s", want, text)
		}
	}
	nomad, err := j.API("")
	if err != nil || nomad.Address() != "http://127.0.0.1:20000" {
		t.Errorf("the API is at %s, %v", nomad.Address(), err)
	}
}

func TestJoinedNodesAreFoundByTheirFiles(t *testing.T) {
	t.Parallel()
	j := joined(t)
	sleeping := exec.Command("sleep", "60")
	if err := sleeping.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sleeping.Process.Kill() // below it is killed already
		_ = sleeping.Wait()
	})
	start, err := startTicks(sleeping.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(sleeping.Process.Pid)
	for name, process := range map[string]string{
		"a-lives": pid + " " + strconv.FormatUint(start, 10), "b-is-another": pid + " " + strconv.FormatUint(start+1, 10), "c-is-damaged": pid, "d-never-started": "",
	} {
		a := &agent{name: name, dir: filepath.Join(j.dir, name)}
		if err := j.write(a, Rented{Name: name, Class: "burst", Port: 21000}); err != nil {
			t.Fatal(err)
		}
		if process != "" {
			writeFile(t, filepath.Join(a.dir, pidFile), process+"\n")
		}
	}
	nodes, err := j.Nodes("burst")
	if err != nil || len(nodes) != 4 {
		t.Fatalf("%v, %v", nodes, err)
	}
	for i, n := range nodes {
		if (n.PID != 0) != (i == 0) || i == 0 && n.PID != sleeping.Process.Pid {
			t.Errorf("%s has process %d", n.Name, n.PID)
		}
	}
	if others, err := j.Nodes("other"); err != nil || len(others) != 0 {
		t.Errorf("nodes of another class: %v, %v", others, err)
	}
	if err := sleeping.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleeping.Wait() // killed
	if nodes, err = j.Nodes("burst"); err != nil || nodes[0].PID != 0 {
		t.Errorf("a killed process is still there: %v, %v", nodes, err)
	}
	forgotten := false
	if err := j.Remove("a-lives", func() error { forgotten = true; return nil }); err != nil || !forgotten {
		t.Errorf("removed: %v, forgotten: %t", err, forgotten)
	}
	if nodes, err = j.Nodes("burst"); err != nil || len(nodes) != 3 {
		t.Errorf("after one was removed: %v, %v", nodes, err)
	}
	if err := j.Remove("alpha", func() error { return nil }); err == nil {
		t.Error("a node that did not join was removed")
	}
}

func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	if _, err := join(t.TempDir()); err == nil {
		t.Error("a folder without a run was joined")
	}
	j := joined(t)
	j.record.OwnerStart++ // another process has its number now
	text, err := json.Marshal(j.record)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(j.dir, recordFile), string(text))
	if _, err := join(j.dir); err == nil || !strings.Contains(err.Error(), "has no owner") {
		t.Errorf("a run without an owner was joined: %v", err)
	}
}

func TestOwnPID(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), pidFile)
	if got := readPID(file); got != 0 {
		t.Errorf("%d without a file", got)
	}
	if err := writePID(file); err != nil {
		t.Fatal(err)
	}
	if got := readPID(file); got != os.Getpid() {
		t.Errorf("process %d, want %d", got, os.Getpid())
	}
}
