package traffic

import (
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// movedBy is what every group is expected to send and receive in the next hour: what it did in the
// same hour a week before, else a day before; and where that was not captured, on the mean of the
// last day.
func movedBy(r *network.Reading) map[cluster.WorkloadID]cluster.Exchanged {
	span := r.Table.Span()
	basis, of := basisOf(span)
	basis = "in " + basis
	if of == nil {
		recent := span.Between(max(span.From, span.To-Window), span.To)
		basis, of = "on the mean of the last day that was captured", &recent
	}
	out := map[cluster.WorkloadID]cluster.Exchanged{}
	groups := make([]*cluster.WorkloadID, len(r.Names)+1) // nil: the cloud, or no group
	for i, name := range r.Names {
		if groups[i] = groupOf(name); groups[i] != nil {
			out[*groups[i]] = cluster.Exchanged{Basis: basis}
		}
	}
	add := func(id *cluster.WorkloadID, sent, received int64) {
		if id == nil {
			return
		}
		seconds := of.Captured().Seconds()
		e := out[*id]
		e.SentBytesPerSec += float64(sent) / seconds
		e.ReceivedBytesPerSec += float64(received) / seconds
		out[*id] = e
	}
	for record, err := range r.Table.Between(of.From, of.To) {
		if err != nil {
			break // not of a table in memory
		}
		add(groups[record.Source], record.Bytes, 0)
		add(groups[record.Destination], 0, record.Bytes)
	}
	return out
}
