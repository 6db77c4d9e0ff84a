package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"
)

// ErrRecord: a record makes no sense in the table.
var ErrRecord = errors.New("wrong record")

// Table is traffic held in memory: who sent how many bytes to whom, by bin or by
// event. It is Traffic.
type Table struct {
	topology Topology
	span     Span
	records  []Record // in order of time, then source, destination, direction, bytes
}

// NewTable puts records in order; it keeps the slice. A record of no bytes or of a
// node with itself is an error: who reads leaves these out.
func NewTable(t Topology, s Span, records []Record) (*Table, error) {
	if s.Bin <= 0 || s.To <= s.From || s.From < 0 || s.From%s.Bin != 0 || s.To%s.Bin != 0 {
		return nil, fmt.Errorf("%w: a span from %s to %s in bins of %s", ErrRecord, s.From, s.To, s.Bin)
	}
	for _, r := range records {
		switch {
		case r.At < s.From || r.At >= s.To:
			return nil, fmt.Errorf("%w: at %s, outside of %s to %s", ErrRecord, r.At, s.From, s.To)
		case r.Source < 0 || int(r.Source) >= t.Nodes() || r.Destination < 0 || int(r.Destination) >= t.Nodes():
			return nil, fmt.Errorf("%w: from node %d to node %d of %d", ErrRecord, r.Source, r.Destination, t.Nodes())
		case r.Source == r.Destination:
			return nil, fmt.Errorf("%w: node %d sends to itself", ErrRecord, r.Source)
		case r.Bytes <= 0 || r.Direction > Read:
			return nil, fmt.Errorf("%w: %d bytes, direction %d", ErrRecord, r.Bytes, r.Direction)
		case s.missing(s.bin(r.At)):
			return nil, fmt.Errorf("%w: at %s, where nothing was captured", ErrRecord, r.At)
		}
	}
	slices.SortFunc(records, compareRecords)
	return &Table{t, s, records}, nil
}

func compareRecords(a, b Record) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination),
		cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Bytes, b.Bytes))
}

// Topology is that of the cluster.
func (t *Table) Topology() Topology { return t.topology }

// Span is what the table covers.
func (t *Table) Span() Span { return t.span }

// Records are all records, in order of time. The caller must not change them.
func (t *Table) Records() []Record { return t.records }

// Between gives the records of [from, to).
func (t *Table) Between(from, to time.Duration) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		first := sort.Search(len(t.records), func(i int) bool { return t.records[i].At >= from })
		for _, r := range t.records[first:] {
			if r.At >= to || !yield(r, nil) {
				return
			}
		}
	}
}

// At is the same table, begun at another moment: what was captured at one time as what a
// model of another is to generate.
func (t *Table) At(begin time.Duration) (*Table, error) {
	by := begin - t.span.From
	out := slices.Clone(t.records)
	for i := range out {
		out[i].At += by
	}
	return NewTable(t.topology, Span{From: begin, To: t.span.To + by, Bin: t.span.Bin, Missing: t.span.Missing}, out)
}

// Cut is the part of the table in [from, to), whole bins of it.
func (t *Table) Cut(from, to time.Duration) (*Table, error) {
	span := t.span.Between(from, to)
	var out []Record
	for r, err := range t.Between(span.From, span.To) {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return NewTable(t.topology, span, out)
}

// Binned adds up what a node sent another within a bin: the server × server
// matrix of each bin.
func (t *Table) Binned() *Table {
	out := &Table{topology: t.topology, span: t.span}
	records := slices.Clone(t.records)
	for i := range records {
		records[i].At -= (records[i].At - t.span.From) % t.span.Bin
	}
	slices.SortFunc(records, compareRecords)
	for _, r := range records {
		if n := len(out.records); n > 0 {
			if last := &out.records[n-1]; last.At == r.At && last.Source == r.Source && last.Destination == r.Destination && last.Direction == r.Direction {
				last.Bytes += r.Bytes
				continue
			}
		}
		out.records = append(out.records, r)
	}
	return out
}

// Subset is a part of a cluster: whole racks. What its servers exchange with the
// others is exchanged with the cloud (Delimitrou 2015, §C.5.3).
type Subset struct {
	topology Topology
	node     []int32 // by node of the whole: that of the part, or the cloud
}

// NewSubset is the part of a cluster with these racks, which become one group
// each.
func NewSubset(t Topology, racks []int) (Subset, error) {
	sizes := make([]int, len(racks))
	for i, rack := range racks {
		if rack < 0 || rack >= t.Racks() || slices.Index(racks, rack) != i {
			return Subset{}, fmt.Errorf("%w: a subset with rack %d of %d", ErrTopology, rack, t.Racks())
		}
		from, to := t.ServersOf(rack)
		sizes[i] = to - from
	}
	part, err := NewTopology(slices.Repeat([]int{1}, len(racks)), sizes, true)
	if err != nil {
		return Subset{}, err
	}
	s := Subset{part, make([]int32, t.Nodes())}
	for node := range s.node {
		s.node[node] = int32(part.Servers())
	}
	next := int32(0)
	for _, rack := range racks {
		from, to := t.ServersOf(rack)
		for server := from; server < to; server++ {
			s.node[server] = next
			next++
		}
	}
	return s, nil
}

// of maps a record into the subset; false where it is all outside.
func (s Subset) of(r Record) (Record, bool) {
	r.Source, r.Destination = s.node[r.Source], s.node[r.Destination]
	return r, r.Source != r.Destination
}

// Extract reads the traffic once and returns that of each subset. Traffic of a
// server with several outside is added up by bin, as the cloud is one node.
func Extract(ctx context.Context, t Traffic, subsets []Subset, progress func(share float64)) ([]*Table, error) {
	span := t.Span()
	records := make([][]Record, len(subsets))
	day := max(span.Bin, (24 * time.Hour).Truncate(span.Bin))
	for from := span.From; from < span.To; from += day {
		for r, err := range t.Between(from, min(span.To, from+day)) {
			if err != nil {
				return nil, err
			}
			for i, s := range subsets {
				if q, ok := s.of(r); ok {
					records[i] = append(records[i], q)
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tell(progress, float64(from+day-span.From)/float64(span.To-span.From))
	}
	out := make([]*Table, len(subsets))
	for i, s := range subsets {
		table, err := NewTable(s.topology, span, records[i])
		if err != nil {
			return nil, err
		}
		out[i] = table.Binned()
	}
	return out, nil
}

// tell reports progress to who wants it.
func tell(progress func(share float64), share float64) {
	if progress != nil {
		progress(min(1, share))
	}
}
