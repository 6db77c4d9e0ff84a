package trace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// FuzzReaders feeds any bytes to every format: a reader ends, in order and with
// sane numbers, or with an error that says where.
func FuzzReaders(f *testing.F) {
	for i, d := range trace.Readers() {
		for _, fixture := range fixtures[d.Name] {
			root := filepath.Join("testdata", fixture)
			err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				f.Add(uint8(i), text)
				return err
			})
			if err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Add(uint8(6), []byte("\x1f\x8b\x08"))
	f.Add(uint8(7), []byte("submit_s,duration_s,num_gpus\n9e18,1e18,-0\n-9e9,9e9,0\n"))
	f.Add(uint8(4), []byte("when;took;name;width;cpus;ram;what\n1;1;\"\";99999999999;1;1;\n"))
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		all := trace.Readers()
		d := all[int(which)%len(all)]
		folder := folderOf(map[string]string{"f.csv": string(text)})
		o := optionsOf(t, d.Name)
		jobs, _, err := readAll(d.Name, folder, o)
		if err != nil {
			mustBeLocated(t, err)
		}
		var last time.Duration
		for _, j := range jobs {
			if j.Submit < last || (j.Duration < 0 && j.Duration != trace.Unknown) || j.AtLeast < 0 || j.Cores < 0 || j.MemoryBytes < 0 {
				t.Fatalf("after %s: %+v", last, j)
			}
			last = j.Submit
		}
		if d.OpenNodes == nil {
			return
		}
		if _, err := d.OpenNodes(folder, o); err != nil {
			mustBeLocated(t, err)
		}
	})
}

func mustBeLocated(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, trace.ErrFormat) && !errors.Is(err, trace.ErrOptions) {
		t.Fatalf("an error that does not say where: %v", err)
	}
}
