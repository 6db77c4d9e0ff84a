package policy_test

import (
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// diskScene has two nodes whose disks do 100 MB/s, with 60 promised on the first.
func diskScene(asks float64, count int) policy.Request {
	rated := func(n *cluster.Node) { n.Meta[disk.RatedKey] = "100" }
	s := clustertest.Snapshot(clustertest.Node("n1", "big", rated), clustertest.Node("n2", "big", rated))
	resident := clustertest.Workload("resident")
	s.Disk[resident.ID] = performance.DiskSpec{BandwidthMBPerSec: 60}
	clustertest.Run(s, resident, "n1")
	w := clustertest.Workload("newcomer", clustertest.Count(count), func(w *cluster.Workload) {
		w.Spec.Disk = &performance.DiskSpec{BandwidthMBPerSec: asks}
	})
	columns := clustertest.Columns(4)
	return policy.Request{
		Workload: w, JobType: "service", RunPool: clustertest.Pool, Snapshot: s, Columns: columns,
		Knowledge: clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{90, 90, 90, 90}, []float64{1, 1, 1, 1}), map[string]float64{"big": 100}),
	}
}

// Whatever the policy, no disk is promised more than it may be, and the record says so.
func TestEveryPolicyCountsDiskBandwidth(t *testing.T) {
	t.Parallel()
	for _, d := range policy.Policies() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			got := policytest.Place(t, d, diskScene(60, 1))
			if got.Outcome == cluster.Stock {
				if got.Disk.Promise.BandwidthMBPerSec != 60 {
					t.Errorf("what is left to Nomad is promised %+v", got.Disk)
				}
				return
			}
			if len(got.Candidates) != 1 || got.Candidates[0].Node != "n2" || got.RejectedBy[cluster.RejectBandwidth] != 1 {
				t.Fatalf("%s: candidates %+v, rejected %v", got.Reason, got.Candidates, got.RejectedBy)
			}
			const want = "n2: its disk does 100 MB/s; 98 may be promised, and 60 are, 60 of them to this group; too little disk bandwidth is left on 1 node"
			if got.Disk.Said != want {
				t.Errorf("said %q", got.Disk.Said)
			}
			if r := got.Rejected[0]; r.Node != "n1" || !strings.Contains(r.Detail, "60 are: 60 more do not fit") {
				t.Errorf("rejected %+v", r)
			}
			shared := policytest.Place(t, d, diskScene(15, 8))
			perNode := map[cluster.NodeID]int{}
			for i := range min(shared.Count, len(shared.Candidates)) {
				perNode[shared.Candidates[i].Node] = shared.Candidates[i].Allocations()
			}
			if perNode["n1"] > 2 || perNode["n2"] > 6 {
				t.Errorf("of 15 MB/s each, %d next to 60 and %d alone", perNode["n1"], perNode["n2"])
			}
		})
	}
}

// A job for which no disk suffices waits, and says why; where nodes do not say what their disk
// does nothing is counted, and the record says that.
func TestDiskIsSaid(t *testing.T) {
	t.Parallel()
	r := diskScene(60, 1)
	r.Snapshot.Disk[cluster.WorkloadID{Job: "other"}] = performance.DiskSpec{BandwidthMBPerSec: 60}
	r.Snapshot.Allocations["n2"] = []cluster.Allocation{{ID: "other", Workload: cluster.WorkloadID{Job: "other"}, Node: "n2"}}
	d := policytest.Place(t, descriptor(t, "bloc"), r)
	if d.Outcome != cluster.Queued || d.Reason != "no node has room now: disk bandwidth exhausted (2 nodes)" || !strings.Contains(d.Disk.Said, "too little disk bandwidth is left on 2 nodes") {
		t.Errorf("%s: %s; %+v", d.Outcome, d.Reason, d.Disk)
	}
	r = diskScene(60, 1)
	for _, n := range r.Snapshot.Nodes {
		delete(n.Meta, disk.RatedKey)
	}
	d = policytest.Place(t, descriptor(t, "bloc"), r)
	if d.Outcome != cluster.Placed || !strings.Contains(d.Disk.Said, "what its disk does is not known") || !strings.Contains(d.Disk.Said, "nothing was counted there") {
		t.Errorf("%s: %+v", d.Outcome, d.Disk)
	}
}

// The policy bloc puts what fits onto the disk that is most in use, and says by how much.
func TestBlocLiveConsolidatesByPromises(t *testing.T) {
	t.Parallel()
	d := policytest.Place(t, descriptor(t, "bloc"), diskScene(20, 1))
	best(t, d, "n1")
	if want := "60 % of its disk bandwidth is in use and it takes 20 %: that suffices for all, with 18 points left"; !strings.Contains(d.Candidates[0].Why, want) {
		t.Errorf("%q lacks %q", d.Candidates[0].Why, want)
	}
	if got := d.Candidates[0].Part("disk_used_percent"); got != 60 {
		t.Errorf("%g %% in use", got)
	}
}
