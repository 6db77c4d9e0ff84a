package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// fakeFreezer is a tree whose groups are plain files.
func fakeFreezer(t *testing.T, groups ...string) cgroup.Tree {
	t.Helper()
	root, text := t.TempDir(), ""
	for _, c := range []string{"cpuset", "cpu", "freezer"} {
		text += fmt.Sprintf("1 1 0:1 / %s/%s rw - cgroup cgroup rw,%s\n", root, c, c)
		for _, g := range groups {
			if err := os.MkdirAll(filepath.Join(root, c, g), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, c, g, "freezer.state"), []byte("THAWED"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	mountinfo := filepath.Join(root, "mountinfo")
	if err := os.WriteFile(mountinfo, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := cgroup.Detect(mountinfo)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// The record holds all that is frozen, so that the driver's Release frees it
// when the child was killed; it is gone when nothing does.
func TestRecordOfFrozenGroups(t *testing.T) {
	t.Parallel()
	tree := fakeFreezer(t, "a", "b")
	a, b := tree.Open("/a"), tree.Open("/b")
	c := &frozenGroups{record: filepath.Join(t.TempDir(), PausedFile)}
	for _, g := range []cgroup.Group{a, b, a} { // a again: it is frozen already
		if err := c.freeze(t.Context(), []cgroup.Group{g}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.thaw([]cgroup.Group{a}); err != nil {
		t.Fatal(err)
	}
	var got paused
	data, err := os.ReadFile(c.record)
	if err != nil || json.Unmarshal(data, &got) != nil || len(got.Groups) != 1 || got.Groups[0] != "/b" {
		t.Fatalf("record %s, %v", data, err)
	}
	if err := Release(tree, Proc{Root: "/proc"}, c.record); err != nil {
		t.Fatal(err)
	}
	if frozen, err := b.Frozen(); err != nil || frozen {
		t.Errorf("after a release: frozen %v, %v", frozen, err)
	}
	if err := c.thaw([]cgroup.Group{b}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.record); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a record of nothing: %v", err)
	}
}
