package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/throttle"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// errNoData: which disk is to be limited is not known.
var errNoData = errors.New("which disk the node's allocations are on is not known; name a folder of it: disk { data = \"/var/lib/nomad/alloc\" } in the agent's configuration")

// limitRecordsKept is how old a node's limits are before they are forgotten: their agent is
// gone, and writes them again more often where it is not (chosen by us).
const limitRecordsKept = 24 * time.Hour

// limiter is what of the agent bounds the disk bandwidth of the tasks on its node.
func (g *agent) limiter(s *command.Shell) *throttle.Keeper {
	c := g.config.Disk
	limited := map[string]func(performance.DiskSpec) bool{
		jobhcl.LimitJobs: func(p performance.DiskSpec) bool { return p.Limit },
		jobhcl.LimitAll:  func(performance.DiskSpec) bool { return true },
	}
	return throttle.New(throttle.Config{
		Tree:    throttle.Detect(cgroupRoot, "/proc"),
		Disk:    func() (string, error) { return dataDisk(cmp.Or(c.Data, s.Getenv("NOMAD_ALLOC_DIR"))) },
		Home:    homesIn(g.world.API()),
		Promise: g.promised,
		Limited: limited[c.Limit],
		Report:  g.reportLimits,
		Now:     g.world.ServerClock().Now, Log: g.log,
	})
}

// limitDisks keeps limits until ctx ends.
func (g *agent) limitDisks(ctx context.Context) error {
	if g.role == rights.Leader {
		if err := g.engine.Book().ForgetDiskLimits(ctx, g.world.ServerClock().Now().Add(-limitRecordsKept)); err != nil {
			g.log.Info("records of disk limits that are old were not removed", "error", err)
		}
	}
	return g.limits.Run(ctx, time.After)
}

// reportLimits records what is limited. An agent that only serves pages has a token that only
// reads: its limits are in its log.
func (g *agent) reportLimits(ctx context.Context, l cluster.DiskLimits) error {
	if g.role != rights.Leader {
		return nil
	}
	return g.engine.Book().PutDiskLimits(ctx, l)
}

// dataDisk is the number of the whole disk that has a folder.
func dataDisk(folder string) (string, error) {
	if folder == "" {
		return "", errNoData
	}
	device, err := blockio.FindDevice(folder)
	if err != nil {
		return "", err
	}
	return device.Disk()
}

// homesIn asks Nomad where an allocation is.
func homesIn(client *api.Client) func(context.Context, string) (throttle.Home, bool, error) {
	return func(ctx context.Context, id string) (throttle.Home, bool, error) {
		list, _, err := client.Allocations().List((&api.QueryOptions{Namespace: api.AllNamespacesNamespace, Prefix: id}).WithContext(ctx))
		if err != nil || len(list) == 0 {
			return throttle.Home{}, false, err
		}
		a := list[0]
		return throttle.Home{
			Workload: cluster.WorkloadID{Namespace: a.Namespace, Job: a.JobID, Group: a.TaskGroup}, Node: cluster.NodeID(a.NodeID), NodeName: a.NodeName,
		}, true, nil
	}
}

// promised is what the placer has promised a workload that it placed. A record that cannot be
// read as one promises nothing.
func (g *agent) promised(ctx context.Context, w cluster.WorkloadID) (*performance.DiskSpec, error) {
	d, err := g.engine.Book().Decision(ctx, w)
	switch {
	case errors.Is(err, cluster.ErrNoRecord), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrFormat):
		return nil, nil //nolint:nilnil // nothing is promised
	case err != nil:
		return nil, fmt.Errorf("the decision on %s: %w", w, err)
	case d.Disk == nil || d.Outcome != cluster.Placed:
		return nil, nil //nolint:nilnil // nothing is promised
	}
	return &d.Disk.Promise, nil
}

// diskLimitsOf are how the disks of groups are bounded, by decision.
func diskLimitsOf(ctx context.Context, r records, decisions []cluster.Decision) ([][]cluster.DiskLimit, error) {
	out := make([][]cluster.DiskLimit, len(decisions))
	for i, d := range decisions {
		if d.Disk == nil {
			continue
		}
		var err error
		if out[i], err = r.DiskLimits(ctx, d.Workload); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// limitsPage prints how disks are bounded, where anybody asked.
func limitsPage(p *command.Page, d cluster.Decision, limits []cluster.DiskLimit, now time.Time) {
	if d.Disk == nil {
		return
	}
	for _, said := range wording.DiskLimits(d.Disk.Promise, limits, now) {
		p.Fact("Disk limit", said)
	}
}
