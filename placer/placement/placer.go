package placement

import (
	"context"
	"log/slog"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
)

// Config is what a placer is made of.
type Config struct {
	World     cluster.World
	Clock     cluster.Clock
	Log       *slog.Logger
	Book      journal.Book
	Decisions *journal.Decisions
	Lab       *profiling.Lab
	Estimator *profiling.Estimator
	Router    Router // nil: every job may go to every node

	Policy   string                          // default policy
	Deadline func(cluster.Job) time.Time     // hold deadline
	Link     func(cluster.WorkloadID) string // URL of the record; nil: none
	Chart    func(cluster.WorkloadID) string // URL of the status chart; nil: none

	RackMeta string                                  // key of a node's meta that names its rack; "": cluster.DefaultRackMeta
	Peers    func(cluster.WorkloadID) []cluster.Peer // of captured traffic, for who names none; nil: none
	// NextUplink is what a rack's uplink is expected to carry in the next hour; nil: nothing
	// is known of any.
	NextUplink func(rack string) (bytesPerSec float64, known bool)
	// NextDisk is what an allocation of each workload is expected to move to and from its disk
	// in the next interval, in MB/s; nil: nobody records it.
	NextDisk func() map[cluster.WorkloadID]float64
	// Twin is what a storage model of a workload says of it; nil, or nil of a workload: there
	// is none.
	Twin func(cluster.WorkloadID) (*cluster.Twin, error)
	// Exchanged is what a workload is expected to exchange in the next hour; nil: nothing is known
	// of any, or of the links of nodes.
	Exchanged func(cluster.WorkloadID) (e cluster.Exchanged, known bool)
}

// Router limits workloads to a part of the nodes.
type Router interface {
	// Route decides on the part for a workload that has no allocation yet, and returns it limited
	// to that; the Rental says why, or that it has to wait.
	Route(s *cluster.Snapshot, job cluster.Job, k profiling.Known) (profiling.Known, cluster.Rental)
	// Stay limits a workload that runs to the part that it is in.
	Stay(s *cluster.Snapshot, w cluster.Workload) cluster.Workload
}

// Placer decides where jobs go.
type Placer struct {
	cfg   Config
	queue queue
}

// New returns a placer for which no job waits.
func New(cfg Config) *Placer { return &Placer{cfg: cfg, queue: newQueue()} }

// Enter waits until the job of the caller may be decided on and written; leave makes
// room for the next.
func (pl *Placer) Enter(ctx context.Context) (leave func(), _ error) {
	select {
	case pl.queue.slots <- struct{}{}:
		return func() { <-pl.queue.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// PlanOf is how a job is written by decisions.
func (pl *Placer) PlanOf(job cluster.Job, decisions []cluster.Decision) cluster.Plan {
	return cluster.Plan{
		Job: job, Decisions: decisions, Page: journal.Page(decisions, urlOf(pl.cfg.Chart, decisions)),
		Link: pl.LinkOf(decisions), Message: journal.Sentence(decisions),
	}
}

// LinkOf is the URL of the first decision's record; empty where there is none.
func (pl *Placer) LinkOf(decisions []cluster.Decision) string { return urlOf(pl.cfg.Link, decisions) }

func urlOf(of func(cluster.WorkloadID) string, decisions []cluster.Decision) string {
	if of == nil || len(decisions) == 0 {
		return ""
	}
	return of(decisions[0].Workload)
}
