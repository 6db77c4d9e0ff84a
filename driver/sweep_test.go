package driver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

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

// A plugin that is killed when it has made a task's directory, or when it has emptied it, leaves
// one without a spec; what others put into the directory stays.
func TestADirectoryWithoutASpecIsRemovedLater(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	long := time.Now().Add(-2 * time.Minute)
	dir := func(name string, at time.Time, files ...string) string {
		path := filepath.Join(runtime, name)
		err := os.Mkdir(path, 0o700)
		for _, f := range files {
			err = errors.Join(err, os.WriteFile(filepath.Join(path, f), nil, 0o600))
		}
		if err := errors.Join(err, os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name := func(i int) string { return nameOf(strconv.Itoa(i)) }
	left := []string{dir(name(1), long), dir(name(2), long, "."+executor.SpecFile+"-123")}
	kept := []string{dir(name(3), time.Now()), dir(name(4), long, "a file of somebody's"), dir("somebody's", long), dir(name(5), long, executor.TransferFile)}
	d := &Driver{logger: hclog.NewNullLogger()}
	d.sweep(runtime)
	for _, path := range left {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
