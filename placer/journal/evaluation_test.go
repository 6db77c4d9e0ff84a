package journal_test

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
)

type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// A job that waits is decided on again and again: that is one step, however long it waits.
func TestStepsOfAJobThatWaitsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tracker := journal.NewUnrecordedTracker(wallClock{}, slog.New(slog.DiscardHandler), cluster.Job{})
		for range 1000 {
			tracker.Begin(t.Context(), journal.Entry{Stage: cluster.StagePlace, Waits: true})
			time.Sleep(2 * time.Second)
		}
		tracker.Begin(t.Context(), journal.Entry{Stage: cluster.StageRewrite})
		time.Sleep(time.Second)
		want := []cluster.Step{{Name: "place", Duration: 2000 * time.Second}, {Name: "rewrite", Duration: time.Second}}
		if got := tracker.Steps(); !slices.Equal(got, want) {
			t.Errorf("steps %v, want %v", got, want)
		}
	})
}
