package traffic

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// Bounds of who is a peer, chosen by us.
const (
	peerShare = 0.1 // of what a group exchanges with its namespace
	mostPeers = 8
)

// peersOf are the peers of every group: those of its namespace with which it exchanged a
// noticeable part of what it exchanged there, the largest first.
func peersOf(r *network.Reading) map[cluster.WorkloadID][]cluster.Peer {
	span := r.Table.Span()
	recent := span.Between(max(span.From, span.To-Window), span.To)
	exchanged := exchangedSince(r, recent.From)
	out := map[cluster.WorkloadID][]cluster.Peer{}
	for w, with := range exchanged {
		total := int64(0)
		for _, bytes := range with {
			total += bytes
		}
		var peers []cluster.Peer
		for other, bytes := range with {
			if float64(bytes) >= peerShare*float64(total) {
				peers = append(peers, cluster.Peer{Name: other.Job + "/" + other.Group, BytesPerSec: float64(bytes) / recent.Captured().Seconds()})
			}
		}
		slices.SortFunc(peers, func(a, b cluster.Peer) int {
			return cmp.Or(cmp.Compare(b.BytesPerSec, a.BytesPerSec), cmp.Compare(a.Name, b.Name))
		})
		out[w] = peers[:min(mostPeers, len(peers))]
	}
	return out
}

// exchangedSince is what groups of one namespace exchanged, both directions.
func exchangedSince(r *network.Reading, from time.Duration) map[cluster.WorkloadID]map[cluster.WorkloadID]int64 {
	groups := make([]*cluster.WorkloadID, len(r.Names)+1) // nil: the cloud, or no group
	for i, name := range r.Names {
		groups[i] = groupOf(name)
	}
	out := map[cluster.WorkloadID]map[cluster.WorkloadID]int64{}
	add := func(a, b cluster.WorkloadID, bytes int64) {
		if out[a] == nil {
			out[a] = map[cluster.WorkloadID]int64{}
		}
		out[a][b] += bytes
	}
	for _, record := range r.Table.Records() {
		a, b := groups[record.Source], groups[record.Destination]
		if record.At < from || a == nil || b == nil || a.Namespace != b.Namespace {
			continue
		}
		add(*a, *b, record.Bytes)
		add(*b, *a, record.Bytes)
	}
	return out
}

// groupOf reads namespace/job/group, in which slashes of the parts are escaped; nil: it is
// something else.
func groupOf(name string) *cluster.WorkloadID {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return nil
	}
	for i, p := range parts {
		plain, err := url.PathUnescape(p)
		if err != nil {
			return nil
		}
		parts[i] = plain
	}
	return &cluster.WorkloadID{Namespace: parts[0], Job: parts[1], Group: parts[2]}
}
