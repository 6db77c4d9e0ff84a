package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSetSlices(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	slice := func() time.Duration {
		t.Helper()
		attr, err := unix.SchedGetAttr(child.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(attr.Runtime)
	}
	usual := slice()
	root := t.TempDir()
	mountinfo := filepath.Join(t.TempDir(), "mountinfo")
	if err := os.WriteFile(mountinfo, fmt.Appendf(nil, "1 1 0:1 / %s rw - cgroup2 cgroup2 rw\n", root), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := Detect(mountinfo)
	if err != nil {
		t.Fatal(err)
	}
	g := tree.Open("g")
	if err := os.Mkdir(filepath.Join(root, "g"), 0o700); err != nil {
		t.Fatal(err)
	}
	// One of them has ended meanwhile: the number is beyond any.
	if err := os.WriteFile(filepath.Join(root, "g", "cgroup.procs"), fmt.Appendf(nil, "%d\n%d\n", 1<<30, child.Process.Pid), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ slice, was, want time.Duration }{
		{LeastSlice, 0, LeastSlice},
		{0, time.Millisecond, LeastSlice}, // set by another program
		{0, LeastSlice, usual},
	} {
		if err := g.SetSlices(c.slice, c.was); err != nil {
			t.Fatal(err)
		}
		want := c.want
		if usual == 0 {
			want = 0 // a kernel before 6.12 has none, and nothing comes of it
		}
		if now := slice(); now != want {
			t.Errorf("set to %s where it is %s: %s, want %s", c.slice, c.was, now, want)
		}
	}
}
