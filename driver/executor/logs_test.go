package executor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLogsFollowRotation(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	dir := filepath.Join(shared, "logs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	logs := Logs{Shared: shared}
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

// The tasks can write where their logs are: what they point at elsewhere is not read,
// and nothing that blocks is opened.
func TestLogsOfAHostileTask(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	dir := filepath.Join(shared, "logs")
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "1234")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "link.stdout.0")), unix.Mkfifo(filepath.Join(dir, "pipe.stdout.0"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, task := range []string{"link", "pipe"} {
		if data, _, err := (Logs{Shared: shared}).Read(task, "stdout", 0, 10); err == nil || len(data) > 0 {
			t.Errorf("%s: read %q, %v", task, data, err)
		}
	}
	// Nor where the folder of the logs itself is another one.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(secret), "web.stdout.0"), "1234")
	link(t, filepath.Dir(secret), dir)
	if data, _, err := (Logs{Shared: shared}).Read("web", "stdout", 0, 10); err == nil || len(data) > 0 {
		t.Errorf("read %q, %v", data, err)
	}
}
