package main

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func TestJobsAskForTheAmount(t *testing.T) {
	t.Parallel()
	names, err := fs.ReadDir(jobFiles, "jobs")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range names {
		text, err := jobText(entry.Name(), asked{1234, 5600 * time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		plain, blocks, problems := hcl.Extract(text, entry.Name())
		if problems.HasErrors() || len(blocks) != 1 {
			t.Fatalf("%s: %d blocks, %v", entry.Name(), len(blocks), problems)
		}
		for _, block := range blocks {
			spec, _, err := hcl.Options{Policies: policy.Names()}.DecodeBlock(block, entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := spec.Target.Value(); spec.Target.Kind == performance.QPS && got != 1234 || spec.Target.Kind == performance.FinishWithin && spec.Probe.Work != 1234 {
				t.Errorf("%s asks for %s", entry.Name(), spec.Target)
			}
			if l := spec.Target.Latency; spec.Target.Kind == performance.QPS && l.Max != 5600*time.Microsecond {
				t.Errorf("%s may take %s", entry.Name(), l.Max)
			}
		}
		if !strings.Contains(string(plain), "1234") || bytes.Contains(text, []byte("[[ .")) {
			t.Errorf("%s does not do the amount:\n%s", entry.Name(), plain)
		}
	}
}

func TestTwoDigitsAreKept(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]int{0.4: 1, 9.7: 9, 10: 10, 1289: 1200, 45999: 45000} {
		if got := rounded(v); got != want {
			t.Errorf("%g is rounded to %d, want %d", v, got, want)
		}
	}
}

func TestBoundsAreRoundedUp(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]time.Duration{0: 100 * time.Microsecond, 1200 * time.Microsecond: 1200 * time.Microsecond, 1234567: 1300 * time.Microsecond} {
		if got := roundedUp(d); got != want {
			t.Errorf("%s is rounded to %s, want %s", d, got, want)
		}
	}
}
