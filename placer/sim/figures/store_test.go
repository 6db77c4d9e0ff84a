package figures

import (
	"os"
	"testing"

	"golang.org/x/sync/errgroup"
)

// Two scenarios may have a run in common, which ends in both at once.
func TestARunOfTwoScenariosIsKept(t *testing.T) {
	t.Parallel()
	s := &store{folder: t.TempDir()}
	want := kept{Policy: "paragon", Seed: 7, HostSeconds: 1.5}
	var writers errgroup.Group
	for range 8 {
		writers.Go(func() error {
			for range 50 {
				if err := s.put("key", want); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	var got kept
	if !s.get("key", &got) || got.Policy != want.Policy || got.Seed != want.Seed || got.HostSeconds != want.HostSeconds {
		t.Errorf("%+v, want %+v", got, want)
	}
	files, err := os.ReadDir(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("%v are left", files)
	}
}
