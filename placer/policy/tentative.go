package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// tentative is a board as one choice sees it: with the allocations chosen so far, which
// the board does not know of yet. Its storage is kept between choices.
type tentative struct {
	board    *board.Board
	request  *board.Request
	taken    []int32 // allocations of this choice by node
	replicas []board.Replica

	model        pressureModel // of what co-located allocations do to each other
	nodes        []board.Index // candidates under consideration
	mixT, mixC   []float64     // tolerated and caused of a node with those chosen so far
	examined     int
	timedOut     bool
	limited      bool
	unitsAllowed float64 // resource units the search may still look at, where it is limited
}

// begin forgets the last choice.
func (f *tentative) begin(b *board.Board, a *board.Request, timeout time.Duration) {
	for _, u := range f.replicas {
		f.taken[u.Node] = 0
	}
	f.board, f.request = b, a
	if f.model == nil {
		f.model = summedScores{}
	}
	for len(f.taken) < b.Len() {
		f.taken = append(f.taken, 0)
	}
	f.replicas, f.nodes = nil, f.nodes[:0]
	f.examined, f.timedOut = 0, false
	f.limited = timeout > 0
	if f.limited {
		f.unitsAllowed = float64(timeout) / float64(centralPerUnit)
	}
	k := len(b.Columns)
	f.mixT, f.mixC = resized(f.mixT, k), resized(f.mixC, k)
}

// allowed reports whether the user's constraints let the node run the workload.
func (f *tentative) allowed(n board.Index) bool {
	return f.request.Allowed == nil || f.request.Allowed(n)
}

// fits reports whether one more allocation of that size has room next to those chosen so
// far.
func (f *tentative) fits(n board.Index, size cluster.Resources) bool {
	if f.taken[n] == 0 {
		return f.board.Fits(n, size)
	}
	limit := int(f.taken[n]) + 1
	return f.board.Room(n, size, limit) == limit
}

// open reports whether one more allocation may go there.
func (f *tentative) open(n board.Index) bool { return f.fits(n, f.request.Size) && f.allowed(n) }

// gather lists the nodes that are open, as far as the time allows.
func (f *tentative) gather() {
	f.nodes = f.nodes[:0]
	if f.request.Only != nil {
		for _, n := range f.request.Only {
			if !f.consider(n) {
				break
			}
		}
	} else {
		for i := range f.board.Len() {
			if !f.consider(board.Index(i)) {
				break
			}
		}
	}
	f.model.gathered(f)
}

// consider takes a node among the candidates if it is open; false is the end of the time.
func (f *tentative) consider(n board.Index) bool {
	if !f.look(n) {
		return false
	}
	if f.open(n) {
		f.nodes = append(f.nodes, n)
	}
	return true
}

// draw keeps so many of the candidates, drawn at random, and more for a large group.
func (f *tentative) draw(most int, random *rand.Rand) {
	most = max(most, drawnPerAllocation*f.request.Count)
	if len(f.nodes) <= most {
		return
	}
	for i := range most {
		j := i + random.IntN(len(f.nodes)-i)
		f.nodes[i], f.nodes[j] = f.nodes[j], f.nodes[i]
	}
	f.nodes = f.nodes[:most]
}

// look counts one node looked at, and reports whether there is time for it.
// The first look is always granted.
func (f *tentative) look(n board.Index) bool {
	if f.limited && f.unitsAllowed <= 0 {
		f.timedOut = true
		return false
	}
	f.examined++
	if f.limited {
		f.unitsAllowed -= float64(f.board.Node(n).Units())
	}
	return true
}

// pressure is the state of f.nodes[i] with the allocations chosen so far. Together with
// residents, newcomer and exerted it makes the nodes places of a chainFilter.
func (f *tentative) pressure(i int) (tolerated, caused []float64, bonus float64) {
	n := f.nodes[i]
	tolerated, caused = f.board.Tolerated(n), f.model.experienced(f, i)
	if f.taken[n] == 0 {
		return tolerated, caused, 0
	}
	newcomer := f.newcomer(i).Tolerated
	for k := range tolerated {
		f.mixT[k] = min(tolerated[k], newcomer[k])
	}
	return f.mixT, caused, 0
}

// summed is what the residents of f.nodes[i] and those of this choice cause, added up:
// how full it is.
func (f *tentative) summed(i int) []float64 {
	n := f.nodes[i]
	c, own := f.board.Caused(n), float64(f.taken[n])
	if own == 0 {
		return c
	}
	for k := range c {
		f.mixC[k] = c[k] + own*f.request.Caused[k]
	}
	return f.mixC
}

// residents of f.nodes[i]'s machine.
func (f *tentative) residents(i int) []board.Resident { return f.model.residents(f, i) }

// newcomer is the workload as it would be on f.nodes[i].
func (f *tentative) newcomer(i int) board.Resident { return residentOn(f.board, f.nodes[i], f.request) }

// exerted is the pressure that the residents of f.nodes[i] would experience from it.
func (f *tentative) exerted(i int) []float64 { return f.model.exerted(f, i) }

// residentOn is the workload of a request as a resident of a node.
func residentOn(b *board.Board, n board.Index, a *board.Request) board.Resident {
	node := b.Node(n)
	r := toleranceAt(node.ID, a.ToleranceOn(node.Configuration), a.Size, a.Caused)
	r.Disk = a.Disk
	return r
}

func toleranceAt(n cluster.NodeID, s board.Tolerance, size cluster.Resources, caused []float64) board.Resident {
	return board.Resident{Size: size, Tolerated: s.Tolerated, Caused: caused, Node: n, DemandFactor: s.DemandFactor, RunMS: s.RunMS, RequiredFraction: s.RequiredFraction, LateShare: s.LateShare}
}

// take chooses a node for one allocation.
func (f *tentative) take(u board.Replica) {
	f.taken[u.Node]++
	f.replicas = append(f.replicas, u)
}

// choice is the answer with what was taken; a gang that is not complete takes
// nothing.
func (f *tentative) choice(wanted int) board.Choice {
	c := board.Choice{Replicas: f.replicas, Examined: f.examined, TimedOut: f.timedOut}
	if f.request.Gang && len(f.replicas) < wanted {
		c.Replicas = nil
	}
	c.Reaches = reaches(f.request, c.Replicas)
	return c
}

// reaches reports whether replicas together reach the target. Unknown is no.
func reaches(a *board.Request, units []board.Replica) bool {
	if len(units) == 0 {
		return false
	}
	if a.Target <= 0 {
		return true
	}
	sum := 0.0
	for _, u := range units {
		sum += u.Predicted
	}
	return sum*efficiency(a, len(units)) >= a.Target
}

// efficiency is what one of n allocations does relative to a single one: so(n)/n. Where
// nothing is known of scale-out, 1; beyond the end of what is known, the last gain goes
// on.
func efficiency(a *board.Request, n int) float64 {
	so := a.ScaleOut
	switch {
	case n == 0 || len(so) == 0:
		return 1
	case n <= len(so):
		return so[n-1] / float64(n)
	}
	last := so[len(so)-1]
	gain := last
	if len(so) > 1 {
		gain = last - so[len(so)-2]
	}
	return (last + float64(n-len(so))*gain) / float64(n)
}

// isolatedSpeed is the performance of one allocation in isolation on the node's configuration;
// NaN unknown.
func isolatedSpeed(a *board.Request, n *board.Node) float64 {
	if n.Configuration >= len(a.Speed) {
		return math.NaN()
	}
	return a.Speed[n.Configuration]
}

// predictedIsolated is the prediction of a policy that ignores co-runners.
func predictedIsolated(a *board.Request, n *board.Node) float64 {
	if v := isolatedSpeed(a, n); v >= 0 {
		return v
	}
	return math.NaN()
}

// slowdownMax is the loss that the QoS bound allows.
func slowdownMax(a *board.Request) float64 {
	if a.SlowdownMax > 0 && a.SlowdownMax < 1 {
		return a.SlowdownMax
	}
	return performance.DefaultSlowdownMaxPercent / 100
}

// kept is the share of its performance in isolation that the newcomer is expected to keep
// under a pressure: all of it while its bounds hold, else what the QoS bound leaves and
// less, by the sum of the points beyond them (Quasar, §4.3.2 leaves it open; chosen by
// us).
func kept(a *board.Request, caused []float64, o Options) float64 {
	short := 0.0
	for k, c := range caused {
		short += max(0, o.experienced(c)-a.Tolerated[k]-epsilonPoints)
	}
	if short == 0 {
		return 1
	}
	return (1 - slowdownMax(a)) * max(0, 1-short/100)
}

// mergeRelaxed adds relaxations to a list, keeping the largest of each bound.
func mergeRelaxed(all, more []cluster.Relaxation) []cluster.Relaxation {
	for _, m := range more {
		at := -1
		for i, r := range all {
			if r.Source == m.Source && r.Direction == m.Direction {
				at = i
			}
		}
		if at < 0 {
			all = append(all, m)
		} else {
			all[at].Points = max(all[at].Points, m.Points)
		}
	}
	return all
}

// byRoom orders two nodes by fewer free MHz, then by place on the board.
func byRoom(b *board.Board, x, y board.Index) int {
	return cmp.Or(cmp.Compare(b.FreeMHz(x), b.FreeMHz(y)), cmp.Compare(x, y))
}
