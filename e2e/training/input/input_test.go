package input_test

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/e2e/training/input"
)

// What is generated is the same every time, and made once.
func TestMake(t *testing.T) {
	t.Parallel()
	names := []string{"formula", "lines", "picture", "source.c", "www"}
	first, second := t.TempDir(), t.TempDir()
	made := 0
	for _, folder := range []string{first, first, second} {
		if err := input.Make(t.Context(), folder, names, func(string) { made++ }); err != nil {
			t.Fatal(err)
		}
	}
	if made != 2*len(names) {
		t.Errorf("%d inputs made, want %d", made, 2*len(names))
	}
	for _, name := range []string{"formula", "lines", "picture", "source.c", "www/large"} {
		if sum(t, filepath.Join(first, name)) != sum(t, filepath.Join(second, name)) {
			t.Errorf("%s differs from one time to the next", name)
		}
	}
	text, err := input.Describe(first, "www")
	if want := "www (1049088 bytes, seed 7)"; err != nil || text != want {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	if err := input.Make(t.Context(), first, []string{"nothing"}, func(string) {}); !errors.Is(err, input.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		t.Fatalf("%s: %d bytes, %v", path, len(data), err)
	}
	return sha256.Sum256(data)
}
