package rig

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestProcessTimesAddChildren(t *testing.T) {
	t.Parallel()
	const stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 100 200 0 0 150 50 300 100 20 0 1 0 1000 10000 100"
	proc, group := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(proc, "42"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(proc, "42", "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("42\n43\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := groupCPU(proc, group); err != nil || got != 6*time.Second {
		t.Errorf("with one that ended: %s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(proc, "42", "stat"), []byte("42 (x) S 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := groupCPU(proc, group); err == nil {
		t.Error("half a line was read")
	}
}

func TestResidentMemoryOfBothVersions(t *testing.T) {
	t.Parallel()
	for stat, want := range map[string]float64{
		"cache 4096\nrss 1\ntotal_cache 8192\ntotal_rss 1048576\n": 1 << 20,
		"anon 2097152\nfile 5\n":                                   2 << 20,
	} {
		if got, ok := resident(stat); !ok || got != want {
			t.Errorf("%q: %g, %v", stat, got, ok)
		}
	}
	if _, ok := resident("rss 5\n"); ok {
		t.Error("a group without its children was read")
	}
}
