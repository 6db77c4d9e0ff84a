package placement

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// Bounds of what is near, chosen by us.
const (
	// nearRacks are tried, those with most first: a workload with peers in more racks is near
	// none of them.
	nearRacks = 3
	// namedPeers are named in a sentence; the others are counted.
	namedPeers = 3
)

// near leads a decision to the rack where the workload's peers run (decision 0057): a policy's
// choice is made again with that rack alone, and taken where it is as good for the target, the
// bounds of others and the size. What the user spreads stays spread. What came of it is in the
// record; where nothing did, the decision is otherwise as it was.
func (pl *Placer) near(desc policy.Descriptor, r policy.Request, d cluster.Decision) (cluster.Decision, error) {
	peers := pl.peersOf(r)
	if len(peers) == 0 || d.Outcome == cluster.Queued || r.Workload.Count == 0 || r.JobType == "system" || r.JobType == "sysbatch" {
		return d, nil
	}
	key := cmp.Or(pl.cfg.RackMeta, cluster.DefaultRackMeta)
	n := nearness{request: r, peers: peers, attribute: "${meta." + key + "}", around: peersIn(r.Snapshot, r.Workload.ID, peers, key)}
	if why := n.obstacle(key); why != "" {
		return n.without(d, why), nil
	}
	racks := n.around.best()
	pl.forecast(racks)
	if d.Outcome == cluster.Stock {
		return n.with(d, "an affinity leads it to its peers", racks), nil
	}
	if n.around.inside(&d, racks[0].Rack) {
		return n.with(d, "it is near its peers", racks[:1]), nil
	}
	instead := ""
	for i := range racks {
		inRack, err := desc.New().Place(n.limited(racks[i].Rack))
		if err != nil {
			return d, err
		}
		why := pl.worse(desc, r, inRack, d)
		if why == "" {
			return n.with(prefer(inRack, d), "it is placed near its peers", racks[i:i+1]), nil
		}
		instead = cmp.Or(instead, fmt.Sprintf("in rack %s %s", racks[i].Rack, why))
	}
	return n.without(d, instead), nil
}

// peersOf a workload are those that its author names, else those of captured traffic.
func (pl *Placer) peersOf(r policy.Request) []cluster.Peer {
	if names := r.Workload.Spec.Near; len(names) > 0 {
		peers := make([]cluster.Peer, len(names))
		for i, name := range names {
			peers[i].Name = name
		}
		return peers
	}
	if pl.cfg.Peers == nil {
		return nil
	}
	return pl.cfg.Peers(r.Workload.ID)
}

// forecast notes what the uplinks of racks are expected to carry, where that is known. It is
// for the record: what they can carry, nobody says.
func (pl *Placer) forecast(racks []cluster.RackWeight) {
	if pl.cfg.NextUplink == nil {
		return
	}
	for i := range racks {
		if rate, known := pl.cfg.NextUplink(racks[i].Rack); known {
			racks[i].NextUplinkBytesPerSec = &rate
		}
	}
}

// worse says in which way a decision is worse than another one; empty: it is as good.
func (pl *Placer) worse(desc policy.Descriptor, r policy.Request, d, than cluster.Decision) string {
	on := policy.ObjectiveOf([]string{desc.Name})
	nodes := append(nodesIn([]cluster.Decision{d}), nodesIn([]cluster.Decision{than})...)
	violations := func(of cluster.Decision) policy.Violations {
		undo := reserve(r.Snapshot, of)
		defer undo()
		return on(r.Snapshot, nodes, r.Columns)
	}
	switch {
	case d.Outcome != cluster.Placed:
		return "it has no place: " + d.Reason
	case d.Count != than.Count || d.Resources != than.Resources:
		return "it would need another size"
	case !fastEnough(r.Workload.Spec, predictedRate(d), predictedRate(than)):
		return "it is expected to be slower"
	case len(d.Relaxed) > len(than.Relaxed) || violations(than).Less(violations(d)):
		return "more QoS violations are expected"
	case len(d.Warnings) > len(than.Warnings):
		return d.Warnings[len(d.Warnings)-1]
	default:
		return ""
	}
}

// prefer is a decision with the good nodes of another one first. The others stay on the list,
// should the first fail.
func prefer(first, d cluster.Decision) cluster.Decision {
	out := d
	out.Predicted, out.Relaxed, out.Sizing, out.Warnings = first.Predicted, first.Relaxed, first.Sizing, first.Warnings
	out.RequiredFraction, out.ToleranceAtTarget, out.Disk = first.RequiredFraction, first.ToleranceAtTarget, first.Disk
	out.Candidates = nil
	listed, least := map[cluster.NodeID]bool{}, 1.0
	for _, c := range first.Candidates {
		if math.IsNaN(c.Part(cluster.PartFallback)) {
			listed[c.Node], least = true, c.Score
			out.Candidates = append(out.Candidates, c)
		}
	}
	for _, c := range d.Candidates {
		if !listed[c.Node] && len(out.Candidates) < cluster.MaxCandidates {
			c.Score *= least / 2
			out.Candidates = append(out.Candidates, c)
		}
	}
	return out
}

// nearness is one workload with its peers.
type nearness struct {
	request   policy.Request
	peers     []cluster.Peer
	attribute string
	around    around
}

// obstacle says why there is no rack to lead to; empty: there is one.
func (n nearness) obstacle(key string) string {
	w := n.request.Workload
	distinct := slices.IndexFunc(w.Constraints, func(c cluster.Constraint) bool { return c.Operator == "distinct_property" })
	switch {
	case w.Spread != "":
		return "its spread over " + w.Spread + " comes first"
	case distinct >= 0:
		return "its distinct_property " + w.Constraints[distinct].Attribute + " comes first"
	case w.Count > cluster.MaxAffinityCount:
		return fmt.Sprintf("it has more than %d allocations", cluster.MaxAffinityCount)
	case n.around.allocations == 0:
		return "nothing of them runs in its namespace"
	case len(n.around.racks) == 0:
		return fmt.Sprintf("no node that they run on says in its meta %q which rack it is in", key)
	case len(n.around.best()) == 0:
		return "it runs already, in another rack"
	default:
		return ""
	}
}

// limited is the request with one rack alone.
func (n nearness) limited(rack string) policy.Request {
	r, w := n.request, *n.request.Workload
	w.Constraints = append(slices.Clone(w.Constraints), cluster.Constraint{Attribute: n.attribute, Operator: "=", Value: rack})
	r.Workload = &w
	return r
}

// with is the decision as it leads to racks.
func (n nearness) with(d cluster.Decision, what string, racks []cluster.RackWeight) cluster.Decision {
	best := racks[0].Rack
	why := fmt.Sprintf("%s: rack %s has %d of the %s of %s", what, best, n.around.racks[best].allocations, wording.Count(n.around.allocations, "allocation"), n.names())
	if rate := n.bytesPerSec(); rate > 0 {
		why += fmt.Sprintf(", with which it exchanges %s/s", wording.Bytes(rate))
	}
	if next := racks[0].NextUplinkBytesPerSec; next != nil {
		why += fmt.Sprintf("; the uplink of the rack is expected to carry %s/s in the next hour", wording.Bytes(*next))
	}
	return n.record(d, why, racks)
}

// without is the decision unchanged, and why.
func (n nearness) without(d cluster.Decision, why string) cluster.Decision {
	return n.record(d, fmt.Sprintf("it is not placed near %s: %s", n.names(), why), nil)
}

func (n nearness) record(d cluster.Decision, why string, racks []cluster.RackWeight) cluster.Decision {
	d.Near = &cluster.Nearness{Attribute: n.attribute, Racks: racks, Why: why}
	for _, p := range n.peers {
		d.Near.Peers = append(d.Near.Peers, p.Name)
	}
	d.Reason = strings.TrimPrefix(d.Reason+"; "+why, "; ")
	return d
}

func (n nearness) names() string {
	var names []string
	for _, p := range n.peers[:min(namedPeers, len(n.peers))] {
		names = append(names, p.Name)
	}
	text := strings.Join(names, ", ")
	if more := len(n.peers) - namedPeers; more > 0 {
		text += " and " + wording.Count(more, "other")
	}
	return text
}

func (n nearness) bytesPerSec() float64 {
	sum := 0.0
	for _, p := range n.peers {
		sum += p.BytesPerSec
	}
	return sum
}

// around is where the peers of a workload are.
type around struct {
	allocations int // of the peers
	racks       map[string]rackPeers
	rackOf      map[cluster.NodeID]string
	runs        bool            // the workload runs already
	own         map[string]bool // racks in which it does
}

// rackPeers are the peers in one rack.
type rackPeers struct {
	allocations int
	score       float64 // what is exchanged with them
}

// peersIn finds the peers in a snapshot; what was decided and is not seen yet counts. A peer
// counts as much in a rack as the share of its allocations there. System jobs are everywhere,
// and lead nowhere.
func peersIn(s *cluster.Snapshot, w cluster.WorkloadID, peers []cluster.Peer, key string) around {
	out := around{racks: map[string]rackPeers{}, rackOf: map[cluster.NodeID]string{}, own: map[string]bool{}}
	all, inRack := make([]int, len(peers)), make([]map[string]int, len(peers))
	for _, n := range s.Nodes {
		rack := rackName(n.Meta[key])
		out.rackOf[n.ID] = rack
		for _, list := range [2][]cluster.Allocation{s.Allocations[n.ID], s.Reserved[n.ID]} {
			for i := range list {
				a := &list[i]
				switch {
				case a.Profiling || a.System || a.Workload.Namespace != w.Namespace:
					continue
				case a.Workload == w:
					out.runs = true
					out.own[rack] = true
					continue
				}
				which := slices.IndexFunc(peers, func(p cluster.Peer) bool { return p.Is(a.Workload) })
				if which < 0 {
					continue
				}
				out.allocations++
				all[which]++
				if rack == "" {
					continue
				}
				if inRack[which] == nil {
					inRack[which] = map[string]int{}
				}
				inRack[which][rack]++
			}
		}
	}
	for i, counts := range inRack {
		for rack, count := range counts {
			r := out.racks[rack]
			r.allocations += count
			r.score += weightOf(peers[i]) * float64(count) / float64(all[i])
			out.racks[rack] = r
		}
	}
	return out
}

// weightOf a peer: declared ones count the same.
func weightOf(p cluster.Peer) float64 {
	if p.BytesPerSec > 0 {
		return p.BytesPerSec
	}
	return 1
}

// rackName is the rack as a list in a job can name it; empty: none.
func rackName(meta string) string {
	if strings.Contains(meta, ",") || strings.TrimSpace(meta) != meta {
		return ""
	}
	return meta
}

// best are the racks with most, of a workload that runs already those that it runs in: nothing
// is moved for its peers.
func (o around) best() []cluster.RackWeight {
	names := slices.Collect(maps.Keys(o.racks))
	if o.runs {
		names = slices.DeleteFunc(names, func(rack string) bool { return !o.own[rack] })
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(o.racks[b].score, o.racks[a].score), cmp.Compare(a, b))
	})
	var out []cluster.RackWeight
	for _, name := range names[:min(nearRacks, len(names))] {
		share := o.racks[name].score / o.racks[names[0]].score
		out = append(out, cluster.RackWeight{Rack: name, WeightPercent: max(1, int(math.Round(100*share)))})
	}
	return out
}

// inside reports whether a decision puts all allocations into a rack.
func (o around) inside(d *cluster.Decision, rack string) bool {
	return !slices.ContainsFunc(nodesIn([]cluster.Decision{*d}), func(n cluster.NodeID) bool { return o.rackOf[n] != rack })
}
