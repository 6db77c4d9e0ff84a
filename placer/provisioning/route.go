package provisioning

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Route decides on which side of the cluster a workload goes, and limits it to the nodes there.
// What is returned says why; it says Wait where the workload has no place now.
func (r *Room) Route(s *cluster.Snapshot, job cluster.Job, k profiling.Known) (profiling.Known, cluster.Rental) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe(s)
	if stays, rental := r.sides.where(s, k.Workload); stays != nil {
		k.Workload = with(k.Workload, stays)
		return k, rental
	}
	seed := profiling.Seed(job, k.Workload)
	answer := r.account.Route(r.cfg.Clock.Now(), tracker.Ask{
		Workload: k.Workload.ID, Since: job.SubmittedAt, Need: sizeOf(s, k.Workload),
		Digits: demandsOf(k.Knowledge.Sensitivity.Tolerated, r.cfg.Columns()),
		Base:   r.sides.baseFor(s, k.Workload, job.RunPool),
		RoomOn: func(n cluster.NodeID, kept provision.Size) bool { return roomOn(s, k.Workload, job.RunPool, n, kept) },
		Random: rand.New(rand.NewPCG(seed, 0)),
	})
	r.logEvents()
	rental := cluster.Rental{Type: answer.Type, Node: answer.Node, Why: answer.Why}
	switch {
	case answer.Side == provision.ToBase:
		rental.Side, rental.Type = cluster.SideOwned, ""
		k.Workload = with(k.Workload, r.sides.base)
	case answer.Side == provision.ToRent && answer.Node != "":
		rental.Side = cluster.SideRented
		k.Workload = with(k.Workload, onNode(answer.Node))
	default:
		rental.Side = cluster.SideWaits
	}
	return k, rental
}

// Stay limits a workload that runs to its side.
func (r *Room) Stay(s *cluster.Snapshot, w cluster.Workload) cluster.Workload {
	constraints, _ := r.sides.where(s, w)
	return with(w, constraints)
}

// where a workload that runs is: nil constraints for one that does not.
func (d sides) where(s *cluster.Snapshot, w cluster.Workload) ([]cluster.Constraint, cluster.Rental) {
	for _, n := range s.Nodes {
		for _, a := range s.Allocations[n.ID] {
			switch {
			case a.Workload != w.ID || a.Profiling:
			case d.classes[n.Class]:
				return ofClass(n.Class), cluster.Rental{Side: cluster.SideRented, Type: n.Class, Why: fmt.Sprintf("it runs on rented nodes of class %s", n.Class)}
			default:
				return d.base, cluster.Rental{Side: cluster.SideOwned, Why: "it runs on owned nodes"}
			}
		}
	}
	return nil, cluster.Rental{}
}

// demandsOf a workload are nil where all that is known of it is assumed: what it tolerates may be
// anything then.
func demandsOf(tolerated interference.Scores, columns []interference.Source) provision.Digits {
	percent, learnt := make([]float64, len(columns)), false
	for i, c := range columns {
		v, known := tolerated[c].Score.Percent()
		if percent[i] = v; !known {
			percent[i] = math.NaN()
		}
		learnt = learnt || known && tolerated[c].Origin != interference.Assumed
	}
	if !learnt {
		return nil
	}
	return provision.DemandsOf(percent)
}
