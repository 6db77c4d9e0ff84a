package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestMeterOfAGroupThatCounts(t *testing.T) {
	t.Parallel()
	v1, root1 := fakeV1(t)
	mustMkdir(t, filepath.Join(root1, "cpuacct/nomad/a1.web"))
	mustWrite(t, filepath.Join(root1, "cpuacct/nomad/a1.web/cpuacct.usage"), "1500000000\n")
	v2, root2 := fakeV2(t)
	mustMkdir(t, filepath.Join(root2, "nomad.slice/reserve.slice/a1.web.scope"))
	mustWrite(t, filepath.Join(root2, "nomad.slice/reserve.slice/a1.web.scope/cpu.stat"), "usage_usec 1500000\nuser_usec 1\n")
	for _, tree := range []Tree{v1, v2} {
		m, err := tree.TaskMeter("a1", "web")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Read(); err != nil || got != 1500*time.Millisecond {
			t.Errorf("v%d: %v, %v", tree.Version(), got, err)
		}
		if _, err := tree.TaskMeter("a1", "db"); !errors.Is(err, ErrNoMeter) {
			t.Errorf("v%d: another task: %v", tree.Version(), err)
		}
	}
}

// Where no group counts time the clocks of its processes do, as long as these are the same.
func TestMeterOfProcesses(t *testing.T) {
	t.Parallel()
	tree, root := fakeV1(t)
	mustMkdir(t, filepath.Join(root, "cpu/nomad/a1.web"))
	procs := filepath.Join(root, "cpu/nomad/a1.web/cgroup.procs")
	mustWrite(t, procs, fmt.Sprintln(os.Getpid()))
	m, err := tree.TaskMeter("a1", "web")
	if err != nil {
		t.Fatal(err)
	}
	before, err := m.Read()
	if err != nil {
		t.Fatal(err)
	}
	x := uint64(1)
	for after := before; after < before+30*time.Millisecond; {
		for range 1 << 16 {
			x = x*6364136223846793005 + 1
		}
		if after, err = m.Read(); err != nil {
			t.Fatal(err, x)
		}
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, procs, fmt.Sprintln(os.Getpid(), other.Process.Pid))
	if _, err := m.Read(); !errors.Is(err, ErrProcessesChanged) {
		t.Errorf("a process more: %v", err)
	}
	if _, err := m.Read(); err != nil {
		t.Errorf("the same processes again: %v", err)
	}
	err = other.Process.Kill()
	if _, waited := other.Process.Wait(); err != nil || waited != nil {
		t.Fatal(err, waited)
	}
	if _, err := m.Read(); !errors.Is(err, ErrProcessesChanged) {
		t.Errorf("a process that has ended: %v", err)
	}
}
