package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

const movable = unprofiled + "move = true\ndisk {\n bandwidth = 30\n}\n"

// twoNodes have a disk each; a job that is promised 30 MB/s runs on alpha, and another on omega.
func twoNodes(t *testing.T) *cliTest {
	t.Helper()
	c := newCLITest(t)
	disks := map[string]string{disk.RatedKey: "100"}
	for i, name := range []string{"alpha", "omega"} {
		c.nomad.AddNode(nomadtest.Node{ID: fmt.Sprintf("%d%d%d%d%d%d%d%d-0000-0000-0000-000000000001", i+1, i+1, i+1, i+1, i+1, i+1, i+1, i+1), Name: name, CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"raw_exec"}, Meta: disks})
	}
	return c
}

// TestConsolidatePlan: two jobs are placed by an agent, each promised a part of its node's disk;
// then a plan says what they will use together, from records, and that a node can be emptied.
func TestConsolidatePlan(t *testing.T) {
	t.Parallel()
	c := twoNodes(t)
	c.agent()
	out, code := c.run("job", "run", c.jobFile(movable))
	if code != command.ExitDone {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	out, code = c.run("consolidate", "plan")
	if code != command.ExitDone || !strings.Contains(out, "alpha") || !strings.Contains(out, "omega") || !strings.Contains(out, "is empty") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	use := filepath.Join(t.TempDir(), "use.csv")
	row := func(mbPerSec string) {
		text := consolidate.UsesHeader() + "\n" + c.now().UTC().Format(time.RFC3339) + ",default,web,front,a1," + mbPerSec + "\n"
		if err := os.WriteFile(use, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	row("130")
	out, code = c.run("consolidate", "plan", "-json", use)
	var nodes []consolidate.Outlook
	if err := json.Unmarshal([]byte(out), &nodes); err != nil || code != command.ExitDone || len(nodes) != 2 {
		t.Fatalf("exit %d, %v:\n%s", code, err, out)
	}
	short := 0
	for _, n := range nodes {
		if n.Short && n.ExpectedMBPerSec == 130 && n.MostMBPerSec == 100 {
			short++
		}
	}
	if short != 1 {
		t.Errorf("no node is short of 30 MB/s:\n%s", out)
	}
	row("much")
	if out, code = c.run("consolidate", "plan", use); code != command.ExitFailed || !strings.Contains(out, `use.csv:2: mb_per_sec "much"`) || !strings.Contains(out, "Hint: consolidate record") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// TestUsesAreMetered: what this process writes is found in the account of the allocation whose
// group it is in, as a mean over the time.
func TestUsesAreMetered(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const id, other = "5f0c9d5e-1b2c-4d3e-8f90-123456789abc", "00000000-1b2c-4d3e-8f90-123456789abc"
	for _, name := range []string{id + ".web.scope", other} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "cgroup.procs"), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "front"}
	asked := 0
	meter := newUseMeter(root, func(_ context.Context, of string) (cluster.WorkloadID, bool, error) {
		asked++
		if asked == 1 {
			return w, false, errors.New("no leader")
		}
		return w, of == id, nil
	})
	at := time.Unix(1000, 0)
	read := func(after time.Duration) {
		if err := meter.read(t.Context(), at.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	read(0)
	read(0) // one of the two was not known to Nomad's server at first
	const bytes = 4 << 20
	writeToDisk(t, bytes)
	read(10 * time.Second)
	uses := meter.uses(at.Add(10*time.Second), at.Add(9*time.Second))
	if len(uses) != 1 || uses[0].Workload != w || uses[0].Allocation != id || !uses[0].End.Equal(at.Add(9*time.Second)) || uses[0].MBPerSec < bytes/1e6/10 {
		t.Fatalf("%+v", uses)
	}
	if asked != 3 {
		t.Errorf("Nomad was asked %d times for two ids, once in vain", asked)
	}
	if err := os.RemoveAll(filepath.Join(root, id+".web.scope")); err != nil {
		t.Fatal(err)
	}
	read(20 * time.Second)
	if uses := meter.uses(at.Add(20*time.Second), at.Add(20*time.Second)); len(uses) != 1 {
		t.Errorf("the last part of one that ended: %+v", uses)
	}
	read(30 * time.Second)
	if uses := meter.uses(at.Add(30*time.Second), at.Add(30*time.Second)); len(uses) != 0 {
		t.Errorf("one that ended long ago: %+v", uses)
	}
}

// writeToDisk writes so many bytes to the disk of temporary files.
func writeToDisk(t *testing.T, bytes int) {
	t.Helper()
	f, err := os.CreateTemp("", "placer-use-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestConsolidateRecordRefuses(t *testing.T) {
	t.Parallel()
	foreign := filepath.Join(t.TempDir(), "foreign.csv")
	if err := os.WriteFile(foreign, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no table":      {nil, "-o names the table"},
		"sample":        {[]string{"-o", "x", "-sample", "1ms"}, "-sample is at least 100ms"},
		"every":         {[]string{"-o", "x", "-every", "1s"}, "no longer than -every"},
		"length":        {[]string{"-o", "x", "-for", "-1s"}, "-for is not negative"},
		"another table": {[]string{"-o", foreign}, "foreign.csv:1: it is no captured table"},
	} {
		code, _, text := runNow(t, t.Context(), append([]string{"consolidate", "record"}, c.args...)...)
		if code == 0 || !strings.Contains(text, c.want) {
			t.Errorf("%s: exit %d, %s; want %q", name, code, text, c.want)
		}
	}
	if text, err := os.ReadFile(foreign); err != nil || string(text) != "a,b\n1,2\n" {
		t.Errorf("%v: another table was changed: %s", err, text)
	}
}
