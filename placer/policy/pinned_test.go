package policy_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// pinnedRequests is how many random clusters each policy's decisions are pinned on.
const pinnedRequests = 60

// TestDecisionsArePinned compares what every policy decides on random clusters with
// what it decided when the golden file was written: a change of form (a moved file, a
// renamed word, a folded helper) must not change a decision. Sentences are left out,
// so that they may be improved; numbers, nodes and their order are not.
func TestDecisionsArePinned(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, d := range policy.Policies() {
		fmt.Fprintf(&got, "%s", d.Name)
		for seed := range uint64(pinnedRequests) {
			fmt.Fprintf(&got, " %s", fingerprint(t, policytest.Place(t, d, policytest.Request(seed))))
		}
		got.WriteByte('\n')
	}
	golden := filepath.Join("testdata", "decisions.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	before, after := bytes.Split(want, []byte("\n")), bytes.Split(got.Bytes(), []byte("\n"))
	for i := range after {
		if i >= len(before) || !bytes.Equal(before[i], after[i]) {
			t.Errorf("decisions changed (go test -update where that is meant): %s", changedSeeds(line(before, i), after[i]))
		}
	}
	if len(before) > len(after) {
		t.Errorf("%d policies are gone", len(before)-len(after))
	}
}

// fingerprint is short for everything of a decision but its sentences.
func fingerprint(t *testing.T, d cluster.Decision) string {
	t.Helper()
	d.Reason, d.Warnings = "", make([]string, len(d.Warnings))
	d.Candidates = append([]cluster.Candidate(nil), d.Candidates...)
	for i := range d.Candidates {
		d.Candidates[i].Why = ""
	}
	d.Rejected = append([]cluster.Rejection(nil), d.Rejected...)
	for i := range d.Rejected {
		d.Rejected[i].Detail = ""
	}
	if d.Sizing != nil {
		sizing := *d.Sizing
		sizing.Why, sizing.Tried = "", append([]cluster.Tried(nil), sizing.Tried...)
		for i := range sizing.Tried {
			sizing.Tried[i].Note = ""
		}
		d.Sizing = &sizing
	}
	d.Sensitivity.Tolerated, d.Sensitivity.Caused = withoutNotes(d.Sensitivity.Tolerated), withoutNotes(d.Sensitivity.Caused)
	d.ToleranceAtTarget = withoutNotes(d.ToleranceAtTarget)
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))[:10]
}

func withoutNotes(scores interference.Scores) interference.Scores {
	out := maps.Clone(scores)
	for s, e := range out {
		e.Note = ""
		out[s] = e
	}
	return out
}

func line(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

// changedSeeds names the policy of a line and the requests it decides otherwise.
func changedSeeds(before, after []byte) string {
	old, now := bytes.Fields(before), bytes.Fields(after)
	if len(now) == 0 {
		return "a policy is missing"
	}
	if len(old) != len(now) || !bytes.Equal(old[0], now[0]) {
		return fmt.Sprintf("%s is not where it was in the file", now[0])
	}
	var seeds []int
	for i := 1; i < len(now); i++ {
		if !bytes.Equal(old[i], now[i]) {
			seeds = append(seeds, i-1)
		}
	}
	return fmt.Sprintf("%s, requests %v", now[0], seeds)
}
