package executor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestLogsFollowRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs := Logs{Dir: dir}
	if _, _, err := logs.Read("web", "stdout", 0, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no log yet: %v", err)
	}
	write(t, filepath.Join(dir, "web.stdout.0"), "aaaa")
	write(t, filepath.Join(dir, "web.stderr.0"), "other stream")
	write(t, filepath.Join(dir, "web2.stdout.0"), "other task")
	read := func(offset int64, limit int, want string) int64 {
		t.Helper()
		data, next, err := logs.Read("web", "stdout", offset, limit)
		if err != nil || string(data) != want {
			t.Fatalf("read %q, %v; want %q", data, err, want)
		}
		return next
	}
	next := read(0, 3, "aaa")
	next = read(next, 100, "a")
	next = read(next, 100, "")
	write(t, filepath.Join(dir, "web.stdout.0"), "aaaaBB")
	write(t, filepath.Join(dir, "web.stdout.1"), "cccc")
	next = read(next, 4, "BBcc") // the rest of a file, then the next one
	// Rotation deletes what was not read: it is skipped.
	if err := errors.Join(os.Remove(filepath.Join(dir, "web.stdout.0")), os.Remove(filepath.Join(dir, "web.stdout.1"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "web.stdout.12"), "late")
	next = read(next, 100, "late")
	read(next, 100, "")
	if _, _, err := logs.Read("web", "stdout", -1, 10); err == nil {
		t.Error("a negative offset was accepted")
	}
}
