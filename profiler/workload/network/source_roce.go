package network

import (
	"fmt"
	"strconv"
	"time"
)

// roce is the traffic of ports of leaf switches.
var roce = Source{
	Name:    "zhejiang-roce-traffic",
	Summary: "counters of ports of leaf switches in a RoCE cluster of 2,000 GPUs (Zhejiang Lab 2024), 5 s each: packets and octets in and out",
	Columns: []string{"leaf", "port_file", "t_s", "samples", "in_octets", "out_octets"},
	Bin:     5 * time.Second,
	Fallbacks: []string{
		"a port counts as a server and its leaf switch as the rack; who is at the other end is not known, so it is the cloud",
		"seconds in which no port has a row were not captured; a port without a row in a second that others have was idle",
		"rows that sum fewer than ten samples of 0.5 s are kept as they are and counted",
		"a negative number of octets, of less than 2^32, is that of a counter of 32 bits that began anew once",
	},
	rows: readRoCE,
}

// roceBegin is the day of the trace, Friday 2024-05-24.
const roceBegin = 4 * day

// roceSamples is how many samples of 0.5 s a whole row sums.
const roceSamples = 10

func readRoCE(r *rows, g *gathering) error {
	leaf, port, second := r.column("leaf"), r.column("port_file"), r.column("t_s")
	samples, in, out := r.column("samples"), r.column("in_octets"), r.column("out_octets")
	last := map[int32]time.Duration{}
	partial, wraps := 0, 0
	for {
		more, err := r.next()
		if err != nil || !more {
			if partial > 0 {
				g.notes = append(g.notes, fmt.Sprintf("%d rows sum fewer than %d samples, and are kept as they are", partial, roceSamples))
			}
			if wraps > 0 {
				g.notes = append(g.notes, fmt.Sprintf("%d negative numbers are taken for those of a counter of 32 bits that began anew once", wraps))
			}
			return err
		}
		seconds, err := r.whole(second, 86400)
		if err != nil {
			return err
		}
		at := roceBegin + time.Duration(seconds)*time.Second
		node, err := g.node(r.cells[leaf] + "/" + r.cells[port])
		if err != nil {
			return err
		}
		if before, seen := last[node]; seen && at <= before {
			return r.bad(fmt.Sprintf("second %d of a port comes after second %d", seconds, int((before-roceBegin).Seconds())), "sort the rows of a port by time, each once")
		}
		last[node] = at
		n, err := r.whole(samples, maxBytes)
		if err != nil {
			return err
		}
		if n < roceSamples {
			partial++
		}
		if err := g.row(at); err != nil {
			return err
		}
		cloud, _ := g.node(CloudName) // a name that is always known
		for _, q := range []struct {
			column   int
			from, to int32
		}{{in, node, cloud}, {out, cloud, node}} {
			octets, did, err := wrapped(r, q.column)
			if err != nil {
				return err
			}
			if did {
				wraps++
			}
			g.add(at, q.from, q.to, octets, Write)
		}
	}
}

// wrapped is a whole number, of which one step of a counter of 32 bits may be that from its
// highest value to its lowest: the published sums have such steps.
func wrapped(r *rows, column int) (octets int64, did bool, err error) {
	const counter = 1 << 32
	if v, err := strconv.ParseInt(r.cells[column], 10, 64); err == nil && v < 0 && v > -counter {
		return v + counter, true, nil
	}
	octets, err = r.whole(column, maxBytes)
	return octets, false, err
}
