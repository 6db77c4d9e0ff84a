package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Outlook is what a node of a live cluster will be like in the next interval, and what can be
// done about it. Here an object is an allocation: nobody moves a part of one.
type Outlook struct {
	Node cluster.NodeID `json:"node"`
	Name string         `json:"name"`
	// Problem says why nothing is known of its disk; then all below but Empty and Stays is 0.
	Problem       string  `json:"problem,omitempty"`
	RatedMBPerSec float64 `json:"rated_mb_per_sec,omitempty"`
	// MostMBPerSec is MB_s: what its allocations may use together, the least of what each
	// tolerates (eq. B.1).
	MostMBPerSec float64 `json:"most_mb_per_sec,omitempty"`
	// ExpectedMBPerSec is the sum of what its allocations are expected to use. Unknown are those
	// of which nothing is known, without those of system jobs: with any, the sum is a lower bound.
	ExpectedMBPerSec float64 `json:"expected_mb_per_sec"`
	Unknown          int     `json:"unknown,omitempty"`
	// Short: more is expected than may be used. Leave are those that would have to go, the
	// least data first; there may be too few that are allowed to.
	Short bool     `json:"short"`
	Leave []Leaver `json:"leave,omitempty"`
	// Empty: nothing is on it. Free are where its allocations would go so that nothing is;
	// Stays is why they do not.
	Empty bool     `json:"empty"`
	Free  []Leaver `json:"free,omitempty"`
	Stays string   `json:"stays,omitempty"`
}

// Leaver is an allocation that would leave its node.
type Leaver struct {
	Workload   cluster.WorkloadID `json:"workload"`
	Allocation string             `json:"allocation"`
	// CopiedMB is the size of what Nomad copies to where it goes.
	CopiedMB int            `json:"copied_mb"`
	To       cluster.NodeID `json:"to,omitempty"`
	ToName   string         `json:"to_name,omitempty"`
}

// Cluster is what is decided on.
type Cluster struct {
	Snapshot *cluster.Snapshot
	Jobs     []cluster.Job
	// Expected is what an allocation of a workload will use in the next interval, in MB/s; for
	// the others what is promised to it is expected.
	Expected map[cluster.WorkloadID]float64
}

// Look says of every node whether its disk suffices for what is expected of it, and whether it
// can be emptied: every allocation may move, its data are copied within an interval, and other
// nodes that are in use have room for it, by Nomad's resources, by the ledger, and by what is
// expected, with the margin of the rules. Nodes with the least data are emptied first, and one
// that took something is not.
func (c *Cluster) Look(r Rules) []Outlook {
	l := newLook(c, r)
	out := make([]Outlook, len(c.Snapshot.Nodes))
	order := make([]int, len(out))
	for i, n := range c.Snapshot.Nodes {
		out[i], order[i] = l.shortage(n), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(l.data(c.Snapshot.Nodes[a]), l.data(c.Snapshot.Nodes[b]))
	})
	for _, i := range order {
		l.empty(c.Snapshot.Nodes[i], &out[i])
	}
	return out
}

// look is a cluster on which allocations move as they are decided to.
type look struct {
	*Cluster
	rules     Rules
	workloads map[cluster.WorkloadID]*cluster.Workload
	pools     map[cluster.WorkloadID]string
	now       cluster.Snapshot        // with what was decided
	took      map[cluster.NodeID]bool // nodes that something goes to
}

func newLook(c *Cluster, r Rules) *look {
	l := &look{
		Cluster: c, rules: r, took: map[cluster.NodeID]bool{},
		workloads: map[cluster.WorkloadID]*cluster.Workload{}, pools: map[cluster.WorkloadID]string{},
	}
	for _, j := range c.Jobs {
		for i := range j.Workloads {
			w := &j.Workloads[i]
			l.workloads[w.ID], l.pools[w.ID] = w, j.RunPool
		}
	}
	l.now = *c.Snapshot
	l.now.Cache = nil // what is decided here is not what is
	l.now.Allocations = maps.Clone(c.Snapshot.Allocations)
	return l
}

// residents are what makes a node one that is in use: allocations of system jobs go with it.
func (l *look) residents(n *cluster.Node) []cluster.Allocation {
	return slices.DeleteFunc(l.now.Residents(n.ID, cluster.WorkloadID{}), func(a cluster.Allocation) bool { return a.System })
}

// expects is what an allocation is expected to use, with what it tolerates; false where nothing
// is known of it.
func (c *Cluster) expects(w cluster.WorkloadID) (performance.DiskSpec, bool) {
	p, promised := c.Snapshot.Disk[w]
	if v, ok := c.Expected[w]; ok {
		p.BandwidthMBPerSec, promised = v, true
	}
	return p, promised
}

// account is the ledger of what is expected.
func (l *look) account(n *cluster.Node) (a disk.Account, unknown int, err error) {
	return expectedOn(&l.now, n, cluster.WorkloadID{}, l.expects)
}

// expectedOn is the ledger of what is expected of a node's disk, without a workload. System jobs
// are on every node whatever is decided, and nobody promises them anything: what is not known of
// theirs is left out.
func expectedOn(s *cluster.Snapshot, n *cluster.Node, except cluster.WorkloadID, expects func(cluster.WorkloadID) (performance.DiskSpec, bool)) (a disk.Account, unknown int, err error) {
	rated, err := disk.Rated(n.Meta)
	if err != nil {
		return a, 0, err
	}
	a = disk.NewAccount(rated)
	for _, r := range s.Residents(n.ID, except) {
		p, ok := expects(r.Workload)
		switch {
		case ok:
			a.Add(p)
		case !r.System:
			unknown++
		}
	}
	return a, unknown, nil
}

// With is what the disk of a node is expected to do in the next interval once a workload has so
// many allocations there: of each what was seen of the workload, or what it is promised. An
// error says why nothing is known of the disk.
func (c *Cluster) With(n *cluster.Node, w cluster.WorkloadID, promise performance.DiskSpec, allocations int) (cluster.DiskForecast, error) {
	a, unknown, err := expectedOn(c.Snapshot, n, w, c.expects)
	if err != nil {
		return cluster.DiskForecast{}, err
	}
	if v, ok := c.Expected[w]; ok {
		promise.BandwidthMBPerSec = v
	}
	for range allocations {
		a.Add(promise)
	}
	return cluster.DiskForecast{Node: n.ID, Name: n.Name, ExpectedMBPerSec: a.PromisedMBPerSec, MostMBPerSec: mostMB(a), Unknown: unknown}, nil
}

// mostMB is MB_s in MB/s.
func mostMB(a disk.Account) float64 { return a.MostShare * a.RatedMBPerSec }

// shortage is the first half of Algorithm 2: what a node would have to give up.
func (l *look) shortage(n *cluster.Node) Outlook {
	o := Outlook{Node: n.ID, Name: n.Name}
	a, unknown, err := l.account(n)
	if err != nil {
		o.Problem = err.Error()
		return o
	}
	o.RatedMBPerSec, o.MostMBPerSec, o.ExpectedMBPerSec, o.Unknown = a.RatedMBPerSec, mostMB(a), a.PromisedMBPerSec, unknown
	o.Short = o.ExpectedMBPerSec > o.MostMBPerSec
	if !o.Short || a.Promises < 2 {
		return o // one that is alone on a disk is nowhere better
	}
	var stay []cluster.Allocation
	left := l.byData(l.now.Residents(n.ID, cluster.WorkloadID{}))
	for i, r := range left {
		if _, known := l.expects(r.Workload); !known || l.mayLeave(r) != "" {
			stay = append(stay, r)
			continue
		}
		o.Leave = append(o.Leave, l.leaver(r))
		if rest := l.sum(a.RatedMBPerSec, slices.Concat(stay, left[i+1:])); rest.PromisedMBPerSec <= mostMB(rest) {
			return o
		}
	}
	return o
}

func (l *look) sum(rated float64, of []cluster.Allocation) disk.Account {
	a := disk.NewAccount(rated)
	for _, r := range of {
		if p, ok := l.expects(r.Workload); ok {
			a.Add(p)
		}
	}
	return a
}

func (l *look) leaver(a cluster.Allocation) Leaver {
	out := Leaver{Workload: a.Workload, Allocation: a.ID}
	if w := l.workloads[a.Workload]; w != nil && w.Migrates {
		out.CopiedMB = a.Resources.DiskMB
	}
	return out
}

// byData sorts allocations by the size of their ephemeral disks, for what is in them Nomad does
// not say.
func (l *look) byData(of []cluster.Allocation) []cluster.Allocation {
	slices.SortStableFunc(of, func(a, b cluster.Allocation) int { return cmp.Compare(a.Resources.DiskMB, b.Resources.DiskMB) })
	return of
}

func (l *look) data(n *cluster.Node) int { return cluster.Used(l.residents(n)).DiskMB }

// mayLeave is why an allocation must not leave its node, or "".
func (l *look) mayLeave(a cluster.Allocation) string {
	w := l.workloads[a.Workload]
	name := a.Workload.Job + " / " + a.Workload.Group
	switch {
	case a.System:
		return name + " is of a system job"
	case a.Profiling:
		return "a profiling run is under way"
	case w == nil:
		return name + " has no performance block"
	case !w.Spec.Move:
		return name + " does not say move = true in its performance block"
	case w.Pinned != "":
		return fmt.Sprintf("%s has its data in the host volume %s of this node", name, w.Pinned)
	default:
		return ""
	}
}

// empty finds where all that is on a node can go.
func (l *look) empty(n *cluster.Node, o *Outlook) {
	residents := l.byData(l.residents(n))
	o.Empty = len(residents) == 0
	switch {
	case o.Empty:
		return
	case !n.Ready:
		o.Stays = "it is down, draining, or not eligible"
		return
	case len(l.now.Reserved[n.ID]) > 0:
		o.Stays = "a placement on it is under way"
		return
	case l.took[n.ID]:
		o.Stays = "it takes what other nodes have"
		return
	}
	before, took := l.now.Allocations, l.took
	l.now.Allocations, l.took = maps.Clone(before), maps.Clone(took)
	var leave []Leaver
	for _, r := range residents {
		leaver, why := l.move(n, r)
		if why != "" {
			o.Stays, l.now.Allocations, l.took = why, before, took
			return
		}
		leave = append(leave, leaver)
	}
	if why := l.tooMuch(o, leave); why != "" {
		o.Stays, l.now.Allocations, l.took = why, before, took
		return
	}
	o.Free = leave
}

// tooMuch is why the data are not copied within an interval, or "". What its disk does must be
// known for that.
func (l *look) tooMuch(o *Outlook, leave []Leaver) string {
	mb := 0
	for _, v := range leave {
		mb += v.CopiedMB
	}
	switch {
	case mb == 0:
		return ""
	case o.Problem != "":
		return "its data have to be copied, and " + o.Problem
	}
	minutes, interval := float64(mb)/(l.rules.MoveShare*o.RatedMBPerSec)/60, l.rules.Interval.Minutes()
	if minutes <= interval {
		return ""
	}
	return fmt.Sprintf("copying %d MB with %.3g %% of its bandwidth takes %.0f min, and there are %.0f", mb, 100*l.rules.MoveShare, minutes, interval)
}

// move finds an allocation another node that is in use, and moves it in l.now; or says why
// there is none.
func (l *look) move(from *cluster.Node, a cluster.Allocation) (Leaver, string) {
	out := l.leaver(a)
	if why := l.mayLeave(a); why != "" {
		return out, why
	}
	name := a.Workload.Job + " / " + a.Workload.Group
	p, known := l.expects(a.Workload)
	if !known {
		return out, "what " + name + " uses of a disk is not known"
	}
	fit, _, _ := cluster.Feasible(&l.now, l.workloads[a.Workload], l.pools[a.Workload])
	for _, n := range fit {
		if n.ID == from.ID || !l.takes(n, a.Workload, p) {
			continue
		}
		out.To, out.ToName = n.ID, n.Name
		l.now.Allocations[from.ID] = slices.DeleteFunc(slices.Clone(l.now.Allocations[from.ID]), func(o cluster.Allocation) bool { return o.ID == a.ID })
		a.Node = n.ID
		l.now.Allocations[n.ID] = append(slices.Clone(l.now.Allocations[n.ID]), a)
		l.took[n.ID] = true
		return out, ""
	}
	return out, "no other node in use has room for " + name
}

// takes says whether a node that is in use, and has none of the workload, suffices for what is
// expected, with the margin.
func (l *look) takes(n *cluster.Node, w cluster.WorkloadID, p performance.DiskSpec) bool {
	residents := l.residents(n)
	if len(residents) == 0 || slices.ContainsFunc(residents, func(a cluster.Allocation) bool { return a.Workload == w }) {
		return false
	}
	a, unknown, err := l.account(n)
	return err == nil && unknown == 0 && a.PromisedMBPerSec < (1-l.rules.Hysteresis)*mostMB(a) && a.Takes(p)
}
