package executor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// Results lie where no task of the allocation can put others in their place.
func TestResultDirIsOutOfReach(t *testing.T) {
	t.Parallel()
	alloc := t.TempDir()
	for range 2 { // a task that starts again finds its own
		dir, err := resultDir(alloc)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(dir) != alloc {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
	for name, plant := range map[string]func(dir string) error{
		"a task's directory": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"a link":             func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"a file":             func(dir string) error { return os.WriteFile(dir, nil, 0o700) },
		"another user's":     func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534)) },
	} {
		alloc := t.TempDir()
		if err := plant(filepath.Join(alloc, profiler.ResultDir)); err != nil {
			if os.Geteuid() != 0 && errors.Is(err, os.ErrPermission) {
				continue // only root can give a file away
			}
			t.Fatal(err)
		}
		if dir, err := resultDir(alloc); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
			t.Errorf("%s: %s, %v", name, dir, err)
		}
	}
}
