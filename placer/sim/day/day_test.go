package day_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/day"
)

// TestADayIsRepeatable: same seed, same bytes; and the regret is of decisions that can be
// right or wrong.
func TestADayIsRepeatable(t *testing.T) {
	t.Parallel()
	a, err := day.Run(t.Context(), 2, 7, day.AsItIs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := day.Run(t.Context(), 2, 7, day.AsItIs)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("the same day twice: %+v, %+v, %v", a, b, err)
	}
	if len(a.Regret) != 3 || !(a.Regret[0] > 0) || !(a.Random > a.Regret[0]) || a.Experiments == 0 {
		t.Errorf("%+v", a)
	}
}

// TestADayIsKept: what was run is not run again, and what is damaged is said.
func TestADayIsKept(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "days")
	first, err := day.Kept(t.Context(), folder, 1, 7, day.AllKnown)
	if err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	again, err := day.Kept(stopped, folder, 1, 7, day.AllKnown) // it could not be run now
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("kept %+v, %v, want %+v", again, err, first)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"seed"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := day.Kept(t.Context(), folder, 1, 7, day.AllKnown); err == nil {
		t.Error("half a day is taken for a whole one")
	}
}
