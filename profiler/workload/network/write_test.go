package network

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// What is written is read again as the same table.
func TestWrittenTablesAreReadAgain(t *testing.T) {
	t.Parallel()
	top, err := NewTopology([]int{1, 2}, []int{2, 12, 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	for node := range int32(top.Nodes()) {
		to := (node + 5) % int32(top.Nodes())
		records = append(records, Record{At: time.Duration(node) * 1500 * time.Millisecond, Source: node, Destination: to, Bytes: int64(node) + 1, Direction: Direction(node % 2)})
	}
	x := table(t, top, Span{To: bin, Bin: bin}, records)
	var out bytes.Buffer
	if err := WriteTable(&out, x, func(node int) string { return ServerName(top, node) }); err != nil {
		t.Fatal(err)
	}
	r, err := read(t, out.String(), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Table.Topology().Equal(top) || !slices.Equal(r.Table.Records(), x.Records()) || r.Table.Span().To != bin {
		t.Errorf("%s, %+v\n%s", r.Table.Topology(), r.Table.Records(), out.String())
	}
}
