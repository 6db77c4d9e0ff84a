package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
)

// The control group of a destroyed task that the kernel does not let go at once is removed
// later, and until then its directory stays.
func TestAGroupThatIsBusyIsRemovedLater(t *testing.T) {
	t.Parallel()
	root, runtime := t.TempDir(), t.TempDir()
	group, dir := filepath.Join(root, executor.GroupPrefix+"task.0"), filepath.Join(runtime, "task")
	busy := filepath.Join(group, "a process that has not ended yet")
	mountinfo := filepath.Join(t.TempDir(), "mountinfo")
	if err := errors.Join(os.Mkdir(group, 0o755), os.WriteFile(busy, nil, 0o644), os.Mkdir(dir, 0o700),
		executor.WriteSpec(dir, executor.Spec{AllocDir: runtime}), // the allocation is there
		os.WriteFile(mountinfo, []byte("1 1 0:1 / "+root+" rw - cgroup2 cgroup2 rw\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	tree, err := cgroup.Detect(mountinfo)
	if err != nil {
		t.Fatal(err)
	}
	d := &Driver{logger: hclog.NewNullLogger(), node: node{tree: &tree}}
	h := d.handle(nil, taskState{Dir: dir, Name: "task"})
	if err := errors.Join(h.clean(), h.removeDir()); err == nil {
		t.Fatal("a busy group was removed")
	}
	d.sweep(runtime)
	for _, path := range []string{group, dir} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("while it is busy: %v", err)
		}
	}
	if err := os.Remove(busy); err != nil {
		t.Fatal(err)
	}
	d.sweep(runtime)
	for _, path := range []string{group, dir} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("afterwards %s is left: %v", path, err)
		}
	}
}
