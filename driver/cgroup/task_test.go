package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTaskGroupV1(t *testing.T) {
	t.Parallel()
	tree, root := fakeV1(t)
	if _, err := tree.TaskGroup("a1", "web"); !errors.Is(err, ErrNoTaskGroup) {
		t.Errorf("before the task: %v", err)
	}
	control(t, filepath.Join(root, "cpu/nomad/a1.web/cpu.shares"), filepath.Join(root, "memory/nomad/a1.web/memory.limit_in_bytes"))
	mustWrite(t, filepath.Join(root, "cpu/nomad/a1.web/cpu.shares"), "500\n")
	mustWrite(t, filepath.Join(root, "memory/nomad/a1.web/memory.limit_in_bytes"), "67108864\n")
	g, err := tree.TaskGroup("a1", "web")
	if err != nil || g.Path() != "/nomad/a1.web" {
		t.Fatalf("%v, %v", g.Path(), err)
	}
	if share, err := g.CPUShare(); err != nil || share != 500 {
		t.Errorf("share %d, %v", share, err)
	}
	if err := errors.Join(g.SetCPUShare(900), g.RaiseMemoryLimit(80<<20), g.LowerMemoryLimit(70<<20)); err != nil {
		t.Fatal(err)
	}
	if bytes, limited, err := g.MemoryLimit(); err != nil || !limited || bytes != 70<<20 {
		t.Errorf("limit %d, %v, %v", bytes, limited, err)
	}
	if err := g.SetCPUShare(tree.MaxCPUShare() + 1); err == nil {
		t.Error("a share above the kernel's bound was written")
	}
	mustWrite(t, filepath.Join(root, "memory/nomad/a1.web/memory.limit_in_bytes"), "9223372036854771712\n")
	if _, limited, err := g.MemoryLimit(); err != nil || limited {
		t.Errorf("no limit: %v, %v", limited, err)
	}
	mustMkdir(t, filepath.Join(root, "cpuset/nomad/reserve/a1.web"))
	if _, err := tree.TaskGroup("a1", "web"); !errors.Is(err, ErrReservedCores) {
		t.Errorf("reserved cores: %v", err)
	}
}

func TestTaskGroupV2(t *testing.T) {
	t.Parallel()
	tree, root := fakeV2(t)
	dir := filepath.Join(root, "nomad.slice/share.slice/a1.web.scope")
	control(t, filepath.Join(dir, "cpu.weight"))
	for file, text := range map[string]string{"cpu.weight": "20\n", "memory.max": "max\n", "memory.high": "max\n", "memory.current": "31457280\n"} {
		mustWrite(t, filepath.Join(dir, file), text)
	}
	g, err := tree.TaskGroup("a1", "web")
	if err != nil {
		t.Fatal(err)
	}
	if _, limited, err := g.MemoryLimit(); err != nil || limited {
		t.Errorf("no limit: %v, %v", limited, err)
	}
	first, err := g.ID()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.SetCPUShare(40), g.RaiseMemoryLimit(64<<20)); err != nil {
		t.Fatal(err)
	}
	// 30 MiB are in use: a limit of 20 would end a process.
	if err := g.LowerMemoryLimit(20 << 20); !errors.Is(err, ErrMemoryInUse) {
		t.Errorf("below what is in use: %v", err)
	}
	if got := content(t, filepath.Join(dir, "memory.max")) + " " + content(t, filepath.Join(dir, "memory.high")); got != "67108864 max" {
		t.Errorf("after a refusal: %s", got)
	}
	if err := g.LowerMemoryLimit(32 << 20); err != nil {
		t.Error(err)
	}
	if got := content(t, filepath.Join(dir, "memory.max")) + " " + content(t, filepath.Join(dir, "memory.high")); got != "33554432 max" {
		t.Errorf("lowered: %s", got)
	}
	// The old one stays while the new one is made, so that no number is used again.
	if err := os.Rename(dir, filepath.Join(root, "old")); err != nil {
		t.Fatal(err)
	}
	control(t, filepath.Join(dir, "cpu.weight"))
	if second, err := g.ID(); err != nil || second == first {
		t.Errorf("a new group has the id %d of the old one, %v", second, err)
	}
	mustMkdir(t, filepath.Join(root, "nomad.slice/reserve.slice/a1.web.scope"))
	if _, err := tree.TaskGroup("a1", "web"); !errors.Is(err, ErrReservedCores) {
		t.Errorf("reserved cores: %v", err)
	}
}
