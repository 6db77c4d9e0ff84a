package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// PoolAll is Nomad's built-in node pool that holds every node.
const PoolAll = "all"

// Feasible splits the nodes of a snapshot into those that can run one more
// allocation of the workload and those that cannot, with the first reason in
// the order Nomad checks: readiness, node pool, datacenter, drivers,
// constraints, then free cpu, cores, memory and disk; and then, of which Nomad knows
// nothing, the bandwidth of the disk, where the workload asks for some and the node says what
// its disk does. The workload's own allocations do not count as used: an update replaces
// them.
//
// fit keeps the order of the snapshot. rejected holds the first MaxRejections
// nodes dropped, counts all of them. A constraint that cannot be read lets no
// node pass, as in Nomad, and its error is the rejection's detail.
//
// Ports, devices, volumes and host networks are left to Nomad. Cost: O(nodes ×
// (constraints + residents)).
func Feasible(s *Snapshot, w *Workload, runPool string) (fit []*Node, rejected []Rejection, counts map[RejectReason]int) {
	c := newChecker(s, w, runPool)
	c.fit = make([]*Node, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		c.look(n)
	}
	return c.fit, c.rejected, c.counts
}

// FeasibleDrawn is Feasible for large clusters: nodes are looked at in an order that is drawn,
// until so many are found, and those besides for which always holds (nil: none). looked is how
// many were; where it is all of them, nothing was left out. fit is in the order of IDs.
func FeasibleDrawn(s *Snapshot, w *Workload, runPool string, most int, always func(*Node) bool, random *rand.Rand) (fit []*Node, rejected []Rejection, counts map[RejectReason]int, looked int) {
	c := newChecker(s, w, runPool)
	order := make([]int, len(s.Nodes))
	for i := range order {
		order[i] = i
	}
	for ; looked < len(order) && len(c.fit) < most; looked++ {
		j := looked + random.IntN(len(order)-looked)
		order[looked], order[j] = order[j], order[looked]
		c.look(s.Nodes[order[looked]])
	}
	if always != nil {
		for _, i := range order[looked:] {
			if n := s.Nodes[i]; always(n) {
				c.look(n)
				looked++
			}
		}
	}
	slices.SortFunc(c.fit, func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) })
	return c.fit, c.rejected, c.counts, looked
}

// Room is how many allocations of that size fit on the node at once next to what is used,
// up to limit. It looks at resources only.
func Room(n *Node, used, ask Resources, limit int) int {
	room := 0
	for room < limit && Short(n.Total, n.CoreMHz, used, ask) == "" {
		used = used.Add(ask)
		room++
	}
	return room
}

// checker is a workload's demands, compiled once for all nodes.
type checker struct {
	snapshot    *Snapshot
	workload    *Workload
	runPool     string
	drivers     []string // attribute keys
	constraints []CompiledConstraint
	broken      error  // a constraint that cannot be read
	demands     string // all that is demanded of a node but room

	fit      []*Node
	rejected []Rejection // a sample
	counts   map[RejectReason]int
}

// look at a node, and keep it or why not.
func (c *checker) look(n *Node) {
	reason := c.check(n)
	if reason == "" {
		c.fit = append(c.fit, n)
		return
	}
	c.counts[reason]++
	if len(c.rejected) < MaxRejections {
		c.rejected = append(c.rejected, Rejection{Node: n.ID, Name: n.Name, Reason: reason, Detail: c.explain(n, reason)})
	}
}

func newChecker(s *Snapshot, w *Workload, runPool string) *checker {
	c := &checker{snapshot: s, workload: w, runPool: runPool, counts: map[RejectReason]int{}}
	for _, d := range w.Drivers {
		c.drivers = append(c.drivers, "driver."+d)
	}
	for _, constraint := range w.Constraints {
		k, err := CompileConstraint(constraint)
		if err != nil {
			c.broken = err
			break
		}
		c.constraints = append(c.constraints, k)
	}
	c.demands = fmt.Sprintf("%q %q %q %q", runPool, w.Datacenters, w.Drivers, w.Constraints)
	return c
}

// check returns the first reason against the node, or "".
func (c *checker) check(n *Node) RejectReason {
	h := c.snapshot.Host(n)
	if r := h.refusal(c.demands, c.refusal); r != "" {
		return r
	}
	if r := Short(n.Total, n.CoreMHz, h.UsedByOthers(c.workload.ID), c.workload.Ask); r != "" {
		return r
	}
	if c.snapshot.DiskRoom(n, c.workload, 1) == 0 {
		return RejectBandwidth
	}
	return ""
}

// refusal is the first reason against the node itself, or "".
func (c *checker) refusal(n *Node) RejectReason {
	switch {
	case !n.Ready:
		return RejectNotReady
	case !c.inPool(n):
		return RejectPool
	case !InDatacenters(n.Datacenter, c.workload.Datacenters):
		return RejectDatacenter
	case c.missingDriver(n) != "":
		return RejectDriver
	case c.broken != nil || c.failing(n) >= 0:
		return RejectConstraint
	default:
		return ""
	}
}

func (c *checker) inPool(n *Node) bool {
	return c.runPool == "" || c.runPool == PoolAll || n.Pool == c.runPool
}

// missingDriver returns the attribute of a driver the node lacks, or "". Nomad
// clients publish driver.<name> as "1"; any true boolean counts.
func (c *checker) missingDriver(n *Node) string {
	for _, key := range c.drivers {
		if ok, err := strconv.ParseBool(n.Attributes.Text(key)); err != nil || !ok {
			return key
		}
	}
	return ""
}

// failing is the index of the first constraint not met, or -1.
func (c *checker) failing(n *Node) int {
	return slices.IndexFunc(c.constraints, func(k CompiledConstraint) bool { return !k.Match(n) })
}

func (c *checker) explain(n *Node, reason RejectReason) string {
	switch reason {
	case RejectPool:
		return fmt.Sprintf("in pool %q, but the job runs in %q", n.Pool, c.runPool)
	case RejectDatacenter:
		return fmt.Sprintf("in datacenter %q, but the job asks for %s", n.Datacenter, strings.Join(c.workload.Datacenters, ", "))
	case RejectDriver:
		return fmt.Sprintf("the node has no healthy %s", strings.TrimPrefix(c.missingDriver(n), "driver."))
	case RejectConstraint:
		if c.broken != nil {
			return c.broken.Error()
		}
		return c.constraints[c.failing(n)].Explain(n)
	case RejectCPU, RejectCores, RejectMemory, RejectDisk:
		return explainShort(n, c.snapshot.Host(n).UsedByOthers(c.workload.ID), c.workload.Ask, reason)
	case RejectBandwidth:
		a, err := c.snapshot.DiskAccount(n, c.workload.ID)
		if err != nil {
			return err.Error()
		}
		return a.Refusal(*c.workload.Spec.Disk)
	default:
		return ""
	}
}

func explainShort(n *Node, used, ask Resources, reason RejectReason) string {
	line := func(ask, free int, unit string) string {
		return fmt.Sprintf("asks %d %s, %d free", ask, unit, max(0, free))
	}
	switch reason {
	case RejectCPU:
		return line(ask.Megahertz(n.CoreMHz), n.Total.CPUMHz-used.Megahertz(n.CoreMHz), "MHz")
	case RejectCores:
		return line(ask.Cores, n.Total.Cores-used.Cores, "cores")
	case RejectMemory:
		return line(ask.MemoryMB, n.Total.MemoryMB-used.MemoryMB, "MB")
	default:
		return line(ask.DiskMB, n.Total.DiskMB-used.DiskMB, "MB of disk")
	}
}

// InDatacenters reports whether a datacenter matches one of a job's globs,
// where * stands for any text. No globs match everything, Nomad's default "*".
func InDatacenters(datacenter string, globs []string) bool {
	if len(globs) == 0 {
		return true
	}
	return slices.ContainsFunc(globs, func(g string) bool { return globMatch(g, datacenter) })
}

// globMatch matches text against a pattern in which * is any text, in
// O(pattern × text).
func globMatch(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}
