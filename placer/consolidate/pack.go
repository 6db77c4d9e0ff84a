package consolidate

import (
	"cmp"
	"math"
	"slices"
)

// Pair are two instances that a node can support together.
type Pair struct {
	A, B int
	// Interference is the mean of what both lose by one another, over the types of nodes that
	// support them.
	Interference float64
}

// Pairs are the surviving pairs, by rising interference, and how many there are in all. A
// pair survives where some type of nodes supports the sum of its demands, up to the limits
// of its more random application (§B.3.1, the trimming step).
func (s *Scene) Pairs(demand []Demand) (surviving []Pair, total int) {
	of := s.byInstance(demand)
	for a := range s.Instances {
		for b := a + 1; b < len(s.Instances); b++ {
			total++
			sum, types := 0.0, 0
			for kind := range s.Types {
				if s.supports(kind, a, b, of) {
					sum, types = sum+s.pairLoss(kind, a, b, 1, 1), types+1
				}
			}
			if types > 0 {
				surviving = append(surviving, Pair{a, b, sum / float64(types)})
			}
		}
	}
	slices.SortStableFunc(surviving, func(x, y Pair) int { return cmp.Compare(x.Interference, y.Interference) })
	return surviving, total
}

// byInstance sums demands.
func (s *Scene) byInstance(demand []Demand) []Demand {
	out := make([]Demand, len(s.Instances))
	for i, o := range s.Objects {
		out[o.Instance].BandwidthBytesPerSec += demand[i].BandwidthBytesPerSec
		out[o.Instance].Bytes += demand[i].Bytes
	}
	return out
}

func (s *Scene) supports(kind, a, b int, of []Demand) bool {
	t, x, y := s.Types[kind], s.Applications[s.Instances[a].Application], s.Applications[s.Instances[b].Application]
	return of[a].BandwidthBytesPerSec+of[b].BandwidthBytesPerSec <= min(x.MostBandwidth[kind], y.MostBandwidth[kind])*t.BandwidthBytesPerSec &&
		of[a].Bytes+of[b].Bytes <= min(x.MostCapacity[kind], y.MostCapacity[kind])*t.CapacityBytes
}

// Order are the objects in the order in which their instances first appear in the surviving
// pairs; those of no pair come last.
func (s *Scene) Order(demand []Demand) []int {
	surviving, _ := s.Pairs(demand)
	rank := make([]int, len(s.Instances))
	for i := range rank {
		rank[i] = math.MaxInt
	}
	next := 0
	for _, p := range surviving {
		for _, i := range []int{p.A, p.B} {
			if rank[i] == math.MaxInt {
				rank[i], next = next, next+1
			}
		}
	}
	order := make([]int, len(s.Objects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[s.Objects[a].Instance], rank[s.Objects[b].Instance]) })
	return order
}

// Consolidate is Algorithm 1: it puts objects, in their order, onto nodes. Nodes come with
// what is on them. It never goes back to a node that refused (next-fit), unless the rules
// say so. It returns the objects that no node has room for.
func Consolidate(objects []int, bins []*Bin, r Rules) (unplaced []int) {
	at := 0
	for _, o := range objects {
		if r.FirstFit || r.CapacityOnly {
			at = 0
		}
		for at < len(bins) && !bins[at].Takes(o, r) {
			at++
		}
		if at == len(bins) {
			unplaced = append(unplaced, o)
			continue
		}
		bins[at].Add(o)
	}
	return unplaced
}

// Pack is the static placement: Algorithm 1 over empty nodes, in the order given (nil: by
// number).
func (s *Scene) Pack(demand []Demand, nodes []int, r Rules) (Placement, []int) {
	if nodes == nil {
		for n := range s.Nodes {
			nodes = append(nodes, n)
		}
	}
	bins := make([]*Bin, len(nodes))
	for i, n := range nodes {
		bins[i] = s.NewBin(n, demand)
	}
	unplaced := Consolidate(s.Order(demand), bins, r)
	return s.placement(bins), unplaced
}

// placement reads where objects are.
func (s *Scene) placement(bins []*Bin) Placement {
	p := s.NewPlacement()
	for _, b := range bins {
		for _, o := range b.Objects {
			p[o] = b.Node
		}
	}
	return p
}
