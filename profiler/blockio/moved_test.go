package blockio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

// What a process writes past the page cache is counted, to the byte, for the group it is in.
func TestBytesMoved(t *testing.T) {
	root := t.TempDir()
	const id = "5f0c9d5e-1b2c-4d3e-8f90-123456789abc"
	group := filepath.Join(root, "nomad.slice", id+".web.scope")
	other := filepath.Join(root, "system.slice", "cron.service")
	for path, pids := range map[string]string{group: fmt.Sprintln(os.Getpid()), other: "1\n"} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte(pids), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := blockio.Allocations(root)
	if err != nil || len(found) != 1 || len(found[id]) != 1 || found[id][0] != group {
		t.Fatalf("%v, %v", found, err)
	}
	before, err := blockio.BytesMoved(found[id])
	if err != nil {
		t.Fatal(err)
	}
	const writes = 50
	directWrites(t, folder(t), writes)
	after, err := blockio.BytesMoved(found[id])
	if err != nil {
		t.Fatal(err)
	}
	// Other tests of this package write as well, if at all: no less than these.
	if after-before < writes*8192 {
		t.Errorf("%d bytes were counted, %d were written", after-before, writes*8192)
	}
	if n, err := blockio.BytesMoved([]string{t.TempDir()}); n != 0 || err != nil {
		t.Errorf("a group without processes: %d, %v", n, err)
	}
	if _, err := blockio.Allocations(filepath.Join(root, "nowhere")); err == nil {
		t.Error("a folder that there is not was read")
	}
}
