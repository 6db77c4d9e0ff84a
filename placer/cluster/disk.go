package cluster

import (
	"iter"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// DiskAccount is what is promised of a node's disk to its allocations and reservations,
// without those of the workload except. An error says why nothing is counted there.
func (s *Snapshot) DiskAccount(n *Node, except WorkloadID) (disk.Account, error) {
	rated, err := disk.Rated(n.Meta)
	if err != nil {
		return disk.Account{}, err
	}
	a := disk.NewAccount(rated)
	for _, r := range s.Residents(n.ID, except) {
		if p, ok := s.Disk[r.Workload]; ok {
			a.Add(p)
		}
	}
	return a, nil
}

// DiskRoom is how many allocations of a workload the node's disk suffices for, up to a
// limit; the limit where nothing is counted.
func (s *Snapshot) DiskRoom(n *Node, w *Workload, limit int) int {
	if w.Spec.Disk == nil {
		return limit
	}
	a, err := s.DiskAccount(n, w.ID)
	if err != nil {
		return limit
	}
	return a.Room(*w.Spec.Disk, limit)
}

// DiskSaid is what the ledger of disk bandwidth said when a decision was made.
type DiskSaid struct {
	Promise performance.DiskSpec `json:"promise"` // to each allocation
	Said    string               `json:"said,omitempty"`
	// Forecast is what the disk of the first node is expected to do in the next interval; nil
	// where nobody records what disks do, or nothing was chosen.
	Forecast *DiskForecast `json:"forecast,omitempty"`
}

// DiskLimits are what the agent of a node bounds there: a document of its own, for a decision is
// the leader's.
type DiskLimits struct {
	Format int         `json:"format"`
	Node   NodeID      `json:"node"`
	Name   string      `json:"name"`
	At     time.Time   `json:"at"`     // it is written again while it holds
	Limits []DiskLimit `json:"limits"` // of what is to be bounded, by allocation
}

// DiskLimitsFormat is the version of DiskLimits.
const DiskLimitsFormat = 1

// DiskLimitsStale is from which age on limits are not known to hold: their agent writes them
// again more than twice in that time (chosen by us).
const DiskLimitsStale = 15 * time.Minute

// DiskLimit is how one allocation's use of its node's disk is bounded.
type DiskLimit struct {
	Workload   WorkloadID `json:"workload"`
	Allocation string     `json:"allocation"`
	Node       string     `json:"node"`       // its name
	MBPerSec   float64    `json:"mb_per_sec"` // of reads and of writes, each
	Tasks      int        `json:"tasks"`      // that have it, each for itself
	// OnlyDirect: what goes through the page cache is not bounded (control groups, version 1).
	OnlyDirect bool   `json:"only_direct,omitempty"`
	Problem    string `json:"problem,omitempty"` // why it is not bounded, or not all of it
	// At is when that was so: as in the document that it was read from.
	At time.Time `json:"at,omitzero"`
}

// DiskForecast is what the disk of a node is expected to do, with the workload that was decided
// on.
type DiskForecast struct {
	Node             NodeID  `json:"node"`
	Name             string  `json:"name"`
	ExpectedMBPerSec float64 `json:"expected_mb_per_sec"`
	// MostMBPerSec is what its allocations may use together (MB_s; eq. B.1 of Delimitrou 2015).
	MostMBPerSec float64 `json:"most_mb_per_sec"`
	// Unknown are allocations of which nothing is known: with any, the sum is a lower bound.
	Unknown int `json:"unknown,omitempty"`
}

// Short says whether more is expected than may be used.
func (f DiskForecast) Short() bool { return f.ExpectedMBPerSec > f.MostMBPerSec }

// Twin is what a storage model of a workload says of it.
type Twin struct {
	Source string // what it was made of, as a sentence says it
	// BandwidthMBPerSec is what it moves in its busiest interval.
	BandwidthMBPerSec float64
	// SpreadMB is the size of the ranges of addresses that it touches: not all of a range need
	// be touched, so that it is an upper bound.
	SpreadMB float64
}

// TwinSaid is what a decision says by a twin of its workload, next to the profile's scores of
// storage.
type TwinSaid struct {
	Source            string  `json:"source"`
	BandwidthMBPerSec float64 `json:"bandwidth_mb_per_sec"`
	SpreadMB          float64 `json:"spread_mb"`
	// Problem says why the twin cannot be read; then there is nothing else.
	Problem string `json:"problem,omitempty"`
	// Caused and Tolerated are scores of storage_bw by the twin, in points: parts of what the
	// disk of the first node does by sequential reads, as the kernel's are. Nil: not known.
	Caused    *float64 `json:"caused_storage_bw,omitempty"`
	Tolerated *float64 `json:"tolerated_storage_bw,omitempty"`
	Why       string   `json:"why"` // one sentence: what they are of, or why they are not known
}

// DiskPromises are those that decisions made, by workload.
func DiskPromises(decisions iter.Seq[Decision]) map[WorkloadID]performance.DiskSpec {
	out := map[WorkloadID]performance.DiskSpec{}
	for d := range decisions {
		if d.Disk != nil {
			out[d.Workload] = d.Disk.Promise
		}
	}
	return out
}
