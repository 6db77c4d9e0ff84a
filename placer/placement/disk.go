package placement

import (
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// leansPoints is from which score on a workload leans on storage: what it causes, or by how much
// less than all it tolerates (chosen by us: measured scores have a spread of some points).
const leansPoints = 10.0

// sayDisk has a decision say what is known of storage besides the ledger (decision 0061): the
// forecast of the first node's disk, and what a twin of the workload says. Nothing is decided
// by either.
func (pl *Placer) sayDisk(d *cluster.Decision, w *cluster.Workload, s *cluster.Snapshot) {
	var first *cluster.Node
	if d.Outcome == cluster.Placed && len(d.Candidates) > 0 {
		if at := slices.IndexFunc(s.Nodes, func(n *cluster.Node) bool { return n.ID == d.Candidates[0].Node }); at >= 0 {
			first = s.Nodes[at]
		}
	}
	if d.Disk != nil && first != nil && pl.cfg.NextDisk != nil {
		pl.forecastDisk(d, first, s)
	}
	if pl.cfg.Twin != nil && (d.Disk != nil || leans(d.Sensitivity)) {
		pl.sayTwin(d, w, first)
	}
}

// forecastDisk notes what the disk is expected to do, and warns where that is too much. A disk
// of which nothing is known has said so by the ledger.
func (pl *Placer) forecastDisk(d *cluster.Decision, n *cluster.Node, s *cluster.Snapshot) {
	expected := pl.cfg.NextDisk()
	if expected == nil {
		return
	}
	c := consolidate.Cluster{Snapshot: s, Expected: expected}
	f, err := c.With(n, d.Workload, d.Disk.Promise, d.Candidates[0].Allocations())
	if err != nil {
		return
	}
	said := *d.Disk // the decision may be another's, too
	said.Forecast = &f
	d.Disk = &said
	if f.Short() {
		d.Warnings = append(d.Warnings, "the disk of "+f.Name+" is expected to be short: "+wording.DiskForecast(f))
	}
}

// leans reports whether a profile says that a workload causes pressure on storage, or tolerates
// less than all of it.
func leans(s interference.Sensitivity) bool {
	for _, source := range []interference.Source{interference.StorageBandwidth, interference.StorageCapacity} {
		if v, ok := s.Caused[source].Score.Percent(); ok && v >= leansPoints {
			return true
		}
		if v, ok := s.Tolerated[source].Score.Percent(); ok && v <= 100-leansPoints {
			return true
		}
	}
	return false
}

// sayTwin notes the scores of storage_bw that a twin of the workload has, in the unit of the
// kernel: parts of what the first node's disk does by sequential reads. What a workload
// tolerates follows from MB_i, the use of the disk up to which it reaches its target, of which
// its own is a part. For storage_cap there is no such unit: the kernel spreads its reads over a
// part of the free space, and a model has ranges and not what of them is touched.
func (pl *Placer) sayTwin(d *cluster.Decision, w *cluster.Workload, n *cluster.Node) {
	twin, err := pl.cfg.Twin(w.ID)
	switch {
	case err != nil:
		d.Twin = &cluster.TwinSaid{Problem: err.Error()}
		return
	case twin == nil:
		return
	}
	d.Twin = &cluster.TwinSaid{Source: twin.Source, BandwidthMBPerSec: twin.BandwidthMBPerSec, SpreadMB: twin.SpreadMB}
	if n == nil {
		d.Twin.Why = "no node was chosen: scores are parts of a disk"
		return
	}
	rated, err := disk.Rated(n.Meta)
	if err != nil {
		d.Twin.Why = n.Name + ": " + err.Error()
		return
	}
	caused := min(100, 100*twin.BandwidthMBPerSec/rated)
	d.Twin.Caused = &caused
	d.Twin.Why = fmt.Sprintf("%s of the %s MB/s of the disk of %s", wording.Number(twin.BandwidthMBPerSec), wording.Number(rated), n.Name)
	if w.Spec.Disk == nil || w.Spec.Disk.MostPercent == 0 {
		d.Twin.Why += "; up to which use of the disk it reaches its target is not known (use_max)"
		return
	}
	tolerated := math.Max(0, w.Spec.Disk.MostPercent-caused)
	d.Twin.Tolerated = &tolerated
	d.Twin.Why += fmt.Sprintf("; it reaches its target with up to %s %% in use, its own included", wording.Number(w.Spec.Disk.MostPercent))
}
