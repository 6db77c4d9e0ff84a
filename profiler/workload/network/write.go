package network

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// WriteTable writes traffic as a table that ReadTraffic reads, in order of time.
// name is what a node is called: group/rack/server.
func WriteTable(w io.Writer, t Traffic, name func(node int) string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	names := make([]string, t.Topology().Nodes())
	for node := range names {
		names[node] = name(node)
	}
	fmt.Fprintln(out, "t_s,source,destination,bytes,direction")
	span := t.Span()
	var line []byte
	for r, err := range t.Between(span.From, span.To) {
		if err != nil {
			return err
		}
		line = strconv.AppendFloat(line[:0], r.At.Seconds(), 'f', -1, 64)
		line = append(append(append(line, ','), names[r.Source]...), ',')
		line = append(append(line, names[r.Destination]...), ',')
		line = append(strconv.AppendInt(line, r.Bytes, 10), ',')
		line = append(append(line, r.Direction.String()...), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
