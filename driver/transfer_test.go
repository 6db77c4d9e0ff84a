package driver

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

func transferBlock(change func(m)) m {
	values := task()
	block := m{"allocation": "a1", "task": "web", "cpu_mhz": 500}
	if change != nil {
		change(block)
	}
	values["lend"] = block
	return values
}

func TestTransferConfig(t *testing.T) {
	t.Parallel()
	c, err := decodeTaskConfig(pack(t, transferBlock(nil)))
	if err != nil || *c.Transfer != (transfer{"a1", "web", 500, 0}) {
		t.Fatalf("%+v, %v", c.Transfer, err)
	}
	for want, values := range map[string]m{
		"lend.allocation":          transferBlock(func(b m) { b["allocation"] = "../a1" }),
		"lend.task":                transferBlock(func(b m) { b["task"] = "" }),
		"lend.cpu_mhz: -1":         transferBlock(func(b m) { b["cpu_mhz"] = -1 }),
		"lend.time_slice":          transferBlock(func(b m) { b["time_slice"] = "1us" }),
		"lend.cpu_mhz: 1.5":        transferBlock(func(b m) { b["cpu_mhz"] = 1.5 }),
		"lend: a task with a lend": func() m { v := transferBlock(nil); v["kernel"] = task(kernel(nil))["kernel"]; return v }(),
		"target_task or domai":     func() m { v := transferBlock(nil); v["target_task"] = "web"; return v }(),
	} {
		if _, err := decodeTaskConfig(pack(t, values)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// A transfer to an allocation that is not on the node is refused at once.
func TestTransferToAnotherTasksAllocation(t *testing.T) {
	t.Parallel()
	a := startPlugin(t, t.TempDir(), nil)
	_, err := a.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: newTask(t, transferBlock(nil))})
	if err == nil || !strings.Contains(err.Error(), "lend.allocation: this node has no allocation a1") {
		t.Errorf("%v", err)
	}
	own := newTask(t, nil)
	own.MsgpackDriverConfig = pack(t, transferBlock(func(b m) { b["allocation"] = own.GetAllocId() }))
	_, err = a.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: own})
	if err == nil || !strings.Contains(err.Error(), "another allocation than") {
		t.Errorf("%v", err)
	}
}

// A plugin that starts gives back what a lost task had transferred.
func TestSweepGivesBack(t *testing.T) {
	t.Parallel()
	root, runtime := t.TempDir(), t.TempDir()
	group := filepath.Join(root, "nomad.slice/share.slice/a1.web.scope")
	lost := filepath.Join(runtime, "lost")
	mountinfo := filepath.Join(t.TempDir(), "mountinfo")
	for file, text := range map[string]string{
		mountinfo:                               "1 1 0:1 / " + root + " rw - cgroup2 cgroup2 rw\n",
		filepath.Join(group, "cpu.weight"):      "30",
		filepath.Join(group, "memory.max"):      "83886080",
		filepath.Join(group, "memory.high"):     "max",
		filepath.Join(group, "memory.current"):  "4096",
		filepath.Join(lost, "nothing-of-value"): "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := cgroup.Detect(mountinfo)
	if err != nil {
		t.Fatal(err)
	}
	recipient, err := tree.TaskGroup("a1", "web")
	if err != nil {
		t.Fatal(err)
	}
	id, err := recipient.ID()
	if err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(executor.Transfer{
		AllocID: "a1", Task: "web", Group: recipient.Path(), GroupID: id,
		CPUShare: &executor.Change{Was: 20, Is: 30}, MemoryBytes: &executor.Change{Was: 67108864, Is: 83886080},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(lost, executor.TransferFile), record, 0o644),
		executor.WriteSpec(lost, executor.Spec{AllocDir: filepath.Join(runtime, "gone")})); err != nil {
		t.Fatal(err)
	}
	d := &Driver{logger: hclog.NewNullLogger(), node: node{tree: &tree}}
	d.sweep(runtime)
	if _, err := os.Stat(lost); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
	for file, want := range map[string]string{"cpu.weight": "20", "memory.max": "67108864", "memory.high": "max"} {
		if got, err := os.ReadFile(filepath.Join(group, file)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", file, got, err, want)
		}
	}
}
