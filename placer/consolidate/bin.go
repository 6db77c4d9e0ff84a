package consolidate

import (
	"math"
	"slices"
)

// Refusal is why a node does not take an object.
type Refusal string

// The conditions of Algorithm 1, in its order.
const (
	Fits         Refusal = ""
	Bandwidth    Refusal = "bandwidth"
	Capacity     Refusal = "capacity"
	Interference Refusal = "interference"
)

// Bin is a node with what is on it.
type Bin struct {
	Node    int
	Objects []int // in the order in which they came
	// Bandwidth and Bytes are B_s and C_s: the sums of what is on it.
	Bandwidth, Bytes float64

	scene      *Scene
	demand     []Demand
	kind       int       // type of the node
	byApp      []float64 // shares of instances that are on it, summed by application
	byInstance []float64
}

// NewBin is an empty node under some demand.
func (s *Scene) NewBin(node int, demand []Demand) *Bin {
	return &Bin{
		Node: node, scene: s, demand: demand, kind: s.Nodes[node],
		byApp: make([]float64, len(s.Applications)), byInstance: make([]float64, len(s.Instances)),
	}
}

// Bins are all nodes under some demand, with what is on them.
func (s *Scene) Bins(p Placement, demand []Demand) []*Bin {
	bins := make([]*Bin, len(s.Nodes))
	for n := range bins {
		bins[n] = s.NewBin(n, demand)
	}
	for o, n := range p {
		if n != Nowhere {
			bins[n].Add(o)
		}
	}
	return bins
}

// Add puts an object onto the node.
func (b *Bin) Add(object int) {
	b.Objects = append(b.Objects, object)
	b.count(object, 1)
}

// Remove takes an object away.
func (b *Bin) Remove(object int) {
	i := slices.Index(b.Objects, object)
	b.Objects = slices.Delete(b.Objects, i, i+1)
	if len(b.Objects) == 0 {
		// Exactly empty: sums of what came and went are not quite zero.
		b.Bandwidth, b.Bytes = 0, 0
		clear(b.byApp)
		clear(b.byInstance)
		return
	}
	b.count(object, -1)
}

func (b *Bin) count(object int, sign float64) {
	o, d := b.scene.Objects[object], b.demand[object]
	b.Bandwidth += sign * d.BandwidthBytesPerSec
	b.Bytes += sign * d.Bytes
	b.byApp[b.scene.application(object)] += sign * o.Share
	b.byInstance[o.Instance] += sign * o.Share
}

// Most are MB_s and MC_s, in bytes per second and bytes: the least of what is on the node
// (eq. B.1). An empty node has no limit but its own.
func (b *Bin) Most() (bandwidth, bytes float64) {
	t := b.scene.Types[b.kind]
	most, full := 1.0, 1.0
	for i, share := range b.byApp {
		if share > leastShare {
			a := b.scene.Applications[i]
			most, full = min(most, a.MostBandwidth[b.kind]), min(full, a.MostCapacity[b.kind])
		}
	}
	return most * t.BandwidthBytesPerSec, full * t.CapacityBytes
}

// leastShare is below what an instance is not on a node: a rounding error of shares.
const leastShare = 1e-9

// WorstLoss is the loss of the application on the node that loses most: the sum over what
// is there of other instances, each by its share (an assumption of the text: pairs add up).
func (b *Bin) WorstLoss() float64 {
	worst := 0.0
	for i, own := range b.byInstance {
		if own > leastShare {
			worst = max(worst, b.lossOf(b.scene.Instances[i].Application, own))
		}
	}
	return worst
}

// lossOf is the loss of an instance of which so much is on the node. The last bits of the
// sum are dropped, for it must not depend on what came and went.
func (b *Bin) lossOf(application int, own float64) float64 {
	row := b.scene.Loss[b.kind][application]
	sum := -own * row[application]
	for j, share := range b.byApp {
		sum += share * row[j]
	}
	return max(0, math.Round(sum*1e12)/1e12)
}

// sumOfMeans is Interf_s as Algorithm 1 sums it: over pairs of instances, the mean of both
// directions.
func (b *Bin) sumOfMeans() float64 {
	sum := 0.0
	for i, of := range b.byInstance {
		for j := range i {
			if of > leastShare && b.byInstance[j] > leastShare {
				sum += b.scene.pairLoss(b.kind, i, j, of, b.byInstance[j])
			}
		}
	}
	return sum
}

// pairLoss is the mean of what two instances lose by one another, by the shares that are there.
func (s *Scene) pairLoss(kind, i, j int, shareI, shareJ float64) float64 {
	a, c := s.Instances[i].Application, s.Instances[j].Application
	return (s.Loss[kind][a][c]*shareJ + s.Loss[kind][c][a]*shareI) / 2
}

// interference is what a rule bounds.
func (b *Bin) interference(r Rules) float64 {
	if r.SumOfMeans {
		return b.sumOfMeans()
	}
	return b.WorstLoss()
}

// Refuses says which condition of Algorithm 1 an object breaks on the node; all are strict.
func (b *Bin) Refuses(object int, r Rules) Refusal {
	defer b.without(object)()
	b.count(object, 1)
	most, full := b.Most()
	t := b.scene.Types[b.kind]
	switch {
	case r.CapacityOnly:
		if b.Bytes > t.CapacityBytes {
			return Capacity
		}
		return Fits
	case !(b.Bandwidth < most-r.MoveShare*t.BandwidthBytesPerSec):
		return Bandwidth
	case !(b.Bytes < full):
		return Capacity
	case !r.NoInterference && !(b.interference(r) < r.MostLoss):
		return Interference
	}
	return Fits
}

// without gives what makes the sums as they are now again, exactly, after an object was
// counted.
func (b *Bin) without(object int) func() {
	app, instance := b.scene.application(object), b.scene.Objects[object].Instance
	bandwidth, bytes, ofApp, ofInstance := b.Bandwidth, b.Bytes, b.byApp[app], b.byInstance[instance]
	return func() {
		b.Bandwidth, b.Bytes, b.byApp[app], b.byInstance[instance] = bandwidth, bytes, ofApp, ofInstance
	}
}

// Takes says whether an object goes to the node. An empty one takes any that it has room
// for, also one that needs more bandwidth than its limit: else it would be nowhere.
func (b *Bin) Takes(object int, r Rules) bool {
	if len(b.Objects) == 0 {
		return b.demand[object].Bytes <= b.scene.Types[b.kind].CapacityBytes
	}
	return b.Refuses(object, r) == Fits
}

// over says whether the node is over a limit (the loop of Algorithm 2, with interference).
func (b *Bin) over(r Rules) bool {
	most, full := b.Most()
	return b.Bandwidth > most || b.Bytes > full || (!r.NoInterference && b.interference(r) >= r.MostLoss)
}

// roomy says whether the node may take objects: it is under all limits by a margin.
func (b *Bin) roomy(r Rules) bool {
	most, full := b.Most()
	return b.Bandwidth < (1-r.Hysteresis)*most && b.Bytes < (1-r.Hysteresis)*full && (r.NoInterference || b.interference(r) < r.MostLoss)
}
