package provisioning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// probe has the Prober measure the nodes that are due, each by itself.
func (r *Room) probe(ctx context.Context, s *cluster.Snapshot) {
	if r.cfg.Prober == nil || cluster.MayWrite(ctx) != nil {
		return
	}
	var due []tracker.ProbeDue
	r.lockedly(func() { due = r.account.ProbesDue(r.cfg.Clock.Now()) })
	for _, d := range due {
		node := nodeIn(s, d.Node)
		if node == nil {
			r.probed(ctx, d, nil, errors.New("it is not known to Nomad any more"))
			continue
		}
		r.calls.Go(func() {
			speeds, err := r.cfg.Prober.KernelSpeeds(ctx, cluster.KernelRequest{
				ID:   fmt.Sprintf("probe-%s-%d", shortID(d.Node), r.cfg.Clock.Now().Unix()),
				Node: *node, Sources: lookedAtFrom(r.cfg.Columns(), d.Kernels), Within: d.Within,
			})
			r.probed(ctx, d, speeds, err)
		})
	}
}

// lookedAtFrom are sources in the order in which a node is measured, from the one after so many on:
// first that of the CPU time that others of the machine take, for its kernel counts by the clock, then
// what all of a machine share, then what is private to a core. Chosen by us.
func lookedAtFrom(columns []interference.Source, measured int) []interference.Source {
	rank := func(s interference.Source) int {
		info, _ := interference.Info(s)
		switch {
		case s == interference.Integer:
			return 0
		case info.Scope != interference.ScopeCore:
			return 1
		}
		return 2
	}
	ordered := slices.SortedStableFunc(slices.Values(columns), func(a, b interference.Source) int { return cmp.Compare(rank(a), rank(b)) })
	first := measured % max(1, len(ordered))
	return append(ordered[first:len(ordered):len(ordered)], ordered[:first]...)
}

func nodeIn(s *cluster.Snapshot, id cluster.NodeID) *cluster.Node {
	for _, n := range s.Nodes {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// shortIDLetters of a node's ID tell it from others, and leave room in the name of a job.
const shortIDLetters = 18

func shortID(id cluster.NodeID) string { return string(id[:min(len(id), shortIDLetters)]) }

// probed takes what a measurement has found into the account, and shows it.
func (r *Room) probed(ctx context.Context, d tracker.ProbeDue, speeds map[interference.Source]float64, err error) {
	if errors.Is(err, cluster.ErrNotLeading) || err != nil && ctx.Err() != nil {
		return
	}
	problem := ""
	if err != nil {
		problem = strings.TrimSuffix(err.Error(), ".")
	}
	columns := r.cfg.Columns()
	names, byName := make([]string, len(columns)), map[string]float64{}
	for i, c := range columns {
		names[i] = string(c)
		if v, ok := speeds[c]; ok {
			byName[names[i]] = v
		}
	}
	var pressure provision.Digits
	r.lockedly(func() {
		pressure = r.account.Probed(r.cfg.Clock.Now(), d.Key, names, byName, problem)
		r.logEvents()
	})
	if pressure == nil {
		return
	}
	q := cluster.NodeQuality{Quality: 1 - pressure.Number(), OutsidePercent: map[interference.Source]int{}}
	for i, c := range columns {
		q.OutsidePercent[c] = int(pressure[i])
	}
	if err := r.cfg.Prober.ShowQuality(ctx, d.Node, q); err != nil {
		r.cfg.Log.Warn("the quality of a rented node is not shown", "node", d.Node, "error", err)
	}
}
