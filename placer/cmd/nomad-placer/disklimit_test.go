package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Where the node's data are on no disk, or it is not said where they are, the reason says so.
func TestDataDisk(t *testing.T) {
	t.Parallel()
	if _, err := dataDisk(""); !errors.Is(err, errNoData) {
		t.Error(err)
	}
	for _, folder := range []string{"/proc/self", filepath.Join(t.TempDir(), "missing")} {
		if _, err := dataDisk(folder); !errors.Is(err, blockio.ErrDevice) || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A job's page says how its use of disks is limited.
func TestLimitsAreSaid(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := cluster.Decision{
		Workload: cluster.WorkloadID{Namespace: "default", Job: "ingest", Group: "main"}, Outcome: cluster.Placed, Count: 1,
		Target: performance.Target{Kind: performance.BestEffort},
		Disk:   &cluster.DiskSaid{Promise: performance.DiskSpec{BandwidthMBPerSec: 40, Limit: true}},
	}
	limits := []cluster.DiskLimit{{Workload: d.Workload, Node: "alpha", MBPerSec: 40, Tasks: 1, At: now}}
	p := &command.Page{}
	explainPage(p, explanation{Decision: d, DiskLimits: limits}, now)
	text := strings.Join(strings.Fields(p.String()), " ")
	for _, want := range []string{
		"40 MB/s per allocation, and no more",
		"Disk limit Its reads and writes are limited to 40 MB/s each on alpha, as its promise says",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, p.String())
		}
	}
	p = &command.Page{}
	d.Disk = nil
	limitsPage(p, d, limits, now)
	if p.String() != "" {
		t.Errorf("of a job without a promise: %s", p.String())
	}
}
