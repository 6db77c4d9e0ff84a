package executor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func open(t *testing.T, dir string) *claims {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := openClaims(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// One kernel puts pressure on a resource at a time, over all tasks of the node, for as
// long as its task's process lives.
func TestClaims(t *testing.T) {
	t.Parallel()
	node := t.TempDir()
	first, second := open(t, filepath.Join(node, "a")), open(t, filepath.Join(node, "b"))
	core := claim{Source: interference.Integer, Domains: []string{"core 0", "core 1"}, Where: "core 0", AllocID: "alloc-1", Task: "noise"}
	same := claim{Source: interference.Integer, Domains: []string{"core 1"}, AllocID: "alloc-2", Task: "more"}
	for _, free := range []claim{
		core,
		{Source: interference.FloatingPoint, Domains: []string{"core 0"}},
		{Source: interference.Integer, Domains: []string{"core 2"}},
	} {
		if err := first.add(free, false); err != nil {
			t.Errorf("%+v: %v", free, err)
		}
	}
	for _, c := range []*claims{first, second} {
		err := c.add(same, false)
		if !errors.Is(err, ErrClaimed) || !strings.Contains(err.Error(), "alloc-1") || !strings.Contains(err.Error(), "allow_pair") {
			t.Errorf("second claim: %v", err)
		}
	}
	if err := second.add(same, true); err != nil {
		t.Errorf("a pair that is allowed: %v", err)
	}
	if err := errors.Join(first.drop(core), second.drop(same), second.add(same, false), second.drop(same)); err != nil {
		t.Errorf("after the claim was taken back: %v", err)
	}
	if _, err := openClaims(filepath.Join(node, "a")); err == nil {
		t.Error("two processes claim for one task")
	}
	// A task whose process is gone claims nothing, whatever its file says.
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	if err := second.add(claim{Source: interference.Integer, Domains: []string{"core 2"}}, false); err != nil {
		t.Errorf("a dead task's claim: %v", err)
	}
}

// A claim reaches as far as the pressure of its source.
func TestDomains(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	for _, c := range []struct {
		source interference.Source
		a, b   cgroup.CPUs
		want   bool // they overlap
	}{
		{interference.Integer, cgroup.CPUs{0}, cgroup.CPUs{8}, true}, // threads of one core
		{interference.Integer, cgroup.CPUs{0}, cgroup.CPUs{1}, false},
		{interference.LLCCapacity, cgroup.CPUs{0}, cgroup.CPUs{1}, true},
		{interference.LLCCapacity, cgroup.CPUs{0}, cgroup.CPUs{2}, false},
		{interference.MemoryBandwidth, cgroup.CPUs{0}, cgroup.CPUs{3}, true},
		{interference.MemoryBandwidth, cgroup.CPUs{0}, cgroup.CPUs{4}, false},
		{interference.StorageBandwidth, cgroup.CPUs{0}, cgroup.CPUs{4}, true},
		{interference.NetworkBandwidth, cgroup.CPUs{0}, cgroup.CPUs{4}, true},
	} {
		info, _ := interference.Info(c.source)
		spec := KernelSpec{Source: c.source, Path: disk}
		a, b := domains(server, info, c.a, spec), domains(server, info, c.b, spec)
		if got := slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) }); got != c.want {
			t.Errorf("%s on %s and on %s overlap: %v (%q, %q)", c.source, c.a, c.b, got, a, b)
		}
	}
	// What the machine does not tell apart is one.
	info, _ := interference.Info(interference.LLCCapacity)
	if a, b := domains(flat, info, cgroup.CPUs{0}, KernelSpec{}), domains(flat, info, cgroup.CPUs{1}, KernelSpec{}); !slices.Equal(a, b) {
		t.Errorf("unknown caches: %q, %q", a, b)
	}
}
