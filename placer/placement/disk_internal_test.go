package placement

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// decideDisk decides on the job web, which moves 20 MB/s, reaches its target with up to 80 % of
// a disk in use, and causes so many points of storage_bw. Of n1, the only node, the disk does
// 100 MB/s; log and mail run there, and mail is promised 30 MB/s.
func decideDisk(t *testing.T, config Config, caused float64, edit ...func(*cluster.Workload)) cluster.Decision {
	t.Helper()
	n := clustertest.Node("n1", "one")
	n.Meta[disk.RatedKey] = "100"
	s := clustertest.Snapshot(n)
	mail, log := clustertest.Workload("mail"), clustertest.Workload("log")
	clustertest.Run(s, mail, "n1")
	clustertest.Run(s, log, "n1")
	s.Disk[mail.ID] = performance.DiskSpec{BandwidthMBPerSec: 30}
	columns := []interference.Source{interference.StorageBandwidth}
	_, config.Estimator = profiling.New(profiling.Config{Columns: columns})
	config.Policy, config.Clock = "least-loaded", stillClock{}
	w := clustertest.Workload("web", append([]func(*cluster.Workload){clustertest.Rate(40), func(w *cluster.Workload) {
		w.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: 20, MostPercent: 80}
	}}, edit...)...)
	k := clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{100}, []float64{caused}), map[string]float64{"one": 100})
	decisions, undo, err := New(config).decideOn(s, cluster.Job{ID: w.ID.JobID(), Type: "service", RunPool: clustertest.Pool}, []profiling.Known{{Workload: *w, Knowledge: *k}})
	if err != nil {
		t.Fatal(err)
	}
	undo()
	return decisions[0]
}

func withoutDisk(w *cluster.Workload) { w.Spec.Disk = nil }

// What was seen takes the place of what was promised, of the workload itself, too; what is not
// known makes a lower bound; and too much is a warning.
func TestADecisionSaysTheForecast(t *testing.T) {
	t.Parallel()
	id := func(job string) cluster.WorkloadID { return clustertest.Workload(job).ID }
	for name, c := range map[string]struct {
		expected map[cluster.WorkloadID]float64
		sum      float64
		unknown  int
		warns    bool
	}{
		"nothing was seen":       {map[cluster.WorkloadID]float64{}, 50, 1, false},
		"mail does more":         {map[cluster.WorkloadID]float64{id("mail"): 65}, 85, 1, true},
		"all were seen":          {map[cluster.WorkloadID]float64{id("mail"): 5, id("log"): 1, id("web"): 60}, 66, 0, false},
		"what runs is too much":  {map[cluster.WorkloadID]float64{id("mail"): 90, id("log"): 1}, 111, 0, true},
		"exactly what may be":    {map[cluster.WorkloadID]float64{id("mail"): 59, id("log"): 1}, 80, 0, false},
		"what is elsewhere":      {map[cluster.WorkloadID]float64{id("other"): 500}, 50, 1, false},
		"it moves nothing at it": {map[cluster.WorkloadID]float64{id("web"): 0}, 30, 1, false},
	} {
		d := decideDisk(t, Config{NextDisk: func() map[cluster.WorkloadID]float64 { return c.expected }}, 0)
		if d.Disk == nil || d.Disk.Forecast == nil {
			t.Fatalf("%s: %+v", name, d.Disk)
		}
		f := *d.Disk.Forecast
		want := cluster.DiskForecast{Node: "n1", Name: "n1", ExpectedMBPerSec: c.sum, MostMBPerSec: 80, Unknown: c.unknown}
		if f != want {
			t.Errorf("%s: %+v, want %+v", name, f, want)
		}
		warned := strings.Contains(strings.Join(d.Warnings, "; "), "the disk of n1 is expected to be short: ")
		if warned != c.warns || f.Short() != c.warns {
			t.Errorf("%s: warned %v, short %v: %q", name, warned, f.Short(), d.Warnings)
		}
		if !strings.Contains(d.Disk.Said, "50 are, 20 of them to this group") {
			t.Errorf("%s: the ledger said %q", name, d.Disk.Said)
		}
	}
}

func TestWithoutAForecast(t *testing.T) {
	t.Parallel()
	none := func() map[cluster.WorkloadID]float64 { return nil }
	for name, d := range map[string]cluster.Decision{
		"nobody records":        decideDisk(t, Config{}, 0),
		"nothing was read yet":  decideDisk(t, Config{NextDisk: none}, 0),
		"no bandwidth is asked": decideDisk(t, Config{NextDisk: func() map[cluster.WorkloadID]float64 { return map[cluster.WorkloadID]float64{} }}, 0, withoutDisk),
	} {
		if d.Disk != nil && d.Disk.Forecast != nil || d.Outcome != cluster.Placed {
			t.Errorf("%s: %+v, %s", name, d.Disk, d.Outcome)
		}
	}
}

// A twin's scores of storage_bw are parts of the node's disk; a workload that does not lean on
// storage is not asked for one.
func TestADecisionSaysTheTwin(t *testing.T) {
	t.Parallel()
	twin := func(mbPerSec float64, err error) Config {
		return Config{Twin: func(id cluster.WorkloadID) (*cluster.Twin, error) {
			if id.Job != "web" {
				t.Errorf("asked for the twin of %s", id)
			}
			if err != nil || mbPerSec == 0 {
				return nil, err
			}
			return &cluster.Twin{Source: "a test", BandwidthMBPerSec: mbPerSec, SpreadMB: 512}, nil
		}}
	}
	is := func(v *float64, want float64) bool { return v != nil && math.Abs(*v-want) < 1e-9 }
	d := decideDisk(t, twin(25, nil), 0)
	if s := d.Twin; s == nil || !is(s.Caused, 25) || !is(s.Tolerated, 55) || s.SpreadMB != 512 || s.Source != "a test" ||
		s.Why != "25 of the 100 MB/s of the disk of n1; it reaches its target with up to 80 % in use, its own included" {
		t.Errorf("%+v", s)
	}
	if s := decideDisk(t, twin(90, nil), 0).Twin; !is(s.Caused, 90) || !is(s.Tolerated, 0) {
		t.Errorf("more than it may use: %+v", s)
	}
	if s := decideDisk(t, twin(250, nil), 0).Twin; !is(s.Caused, 100) {
		t.Errorf("more than the disk does: %+v", s)
	}
	if s := decideDisk(t, twin(25, nil), 40, withoutDisk).Twin; !is(s.Caused, 25) || s.Tolerated != nil || !strings.Contains(s.Why, "is not known (use_max)") {
		t.Errorf("its profile leans on storage: %+v", s)
	}
	for name, d := range map[string]cluster.Decision{
		"it leans on nothing": decideDisk(t, twin(25, nil), 5, withoutDisk),
		"it has no twin":      decideDisk(t, twin(0, nil), 0),
	} {
		if d.Twin != nil {
			t.Errorf("%s: %+v", name, d.Twin)
		}
	}
	if s := decideDisk(t, twin(25, errors.New("it is cut short")), 0).Twin; s == nil || s.Problem != "it is cut short" || s.Caused != nil {
		t.Errorf("a bad file: %+v", s)
	}
	small := func(w *cluster.Workload) { w.Ask.MemoryMB = 1 << 30 }
	if s := decideDisk(t, twin(25, nil), 0, small).Twin; s == nil || s.Caused != nil || s.Why != "no node was chosen: scores are parts of a disk" {
		t.Errorf("without a node: %+v", s)
	}
}
