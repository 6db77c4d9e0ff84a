package policy

import (
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// sayDisk has a decision say what the ledger of disk bandwidth said: of the first node that
// it chose, and of those that were refused for their disk.
func (v *candidateSet) sayDisk(d *cluster.Decision) {
	if d.Disk == nil {
		return
	}
	var said []string
	if d.Outcome == cluster.Placed {
		said = append(said, v.diskOfFirst(d))
	}
	if n := d.RejectedBy[cluster.RejectBandwidth]; n > 0 {
		said = append(said, "too little disk bandwidth is left on "+wording.Count(n, "node"))
	}
	if len(said) == 0 {
		said = append(said, "no node was refused for its disk")
	}
	d.Disk.Said = strings.Join(said, "; ")
}

// diskOfFirst is what was promised on the first node, and what is with those of its
// allocations that the decision means for it.
func (v *candidateSet) diskOfFirst(d *cluster.Decision) string {
	first := &d.Candidates[0]
	for _, o := range v.candidates {
		if o.node.ID != first.Node {
			continue
		}
		a, err := v.snapshot.DiskAccount(o.node, v.Workload.ID)
		if err != nil {
			return first.Name + ": " + err.Error() + ", so nothing was counted there"
		}
		return first.Name + ": " + a.Granted(d.Disk.Promise, first.Allocations())
	}
	return ""
}
