//go:build e2e

package placement

import (
	"slices"
	"strings"
	"testing"
	"time"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TestAJobMayRunBeforeItsProfile: when = "after" places a job that nobody has seen before at
// once, and a copy of it is profiled while it runs; its record then says what was measured.
func TestAJobMayRunBeforeItsProfile(t *testing.T) {
	ctx := t.Context()
	block := strings.Replace(countingBlock, "seconds = 8", "seconds = 8\n  when = \"after\"", 1)
	const id = "when-after"
	submit(ctx, t, held(id, block, counting+" # when = after"))
	released(ctx, t, id, time.Minute)
	first := decisionOf(t, id)
	if _, err := book(t).Profile(ctx, first.ProfileKey); err == nil {
		t.Error("it was profiled before it was placed")
	}
	if !slices.ContainsFunc(first.Warnings, func(w string) bool { return strings.Contains(w, "before it is profiled") }) {
		t.Errorf("the record does not say that it is not profiled yet: %q", first.Warnings)
	}
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, id+" is profiled while it runs", 2*time.Minute, func() bool {
		_, err := book(t).Profile(ctx, first.ProfileKey)
		return err == nil
	})
	eventually(ctx, t, "the record says so", time.Minute, func() bool {
		return slices.ContainsFunc(decisionOf(t, id).Warnings, func(w string) bool { return strings.Contains(w, "measured while it ran") })
	})
	allocs, _, err := shared.API().Jobs().Allocations(id, true, nil)
	if err != nil || len(allocs) != 1 || allocs[0].ClientStatus != "running" {
		t.Errorf("it does not run on where it was placed: %d allocations, %v", len(allocs), err)
	}
}

func decisionOf(t *testing.T, id string) placer.Decision {
	t.Helper()
	d, err := book(t).Decision(t.Context(), workload(id))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
