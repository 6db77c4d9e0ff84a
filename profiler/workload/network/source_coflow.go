package network

import (
	"fmt"
	"strings"
	"time"
)

// coflow is the shuffle traffic of a MapReduce cluster between its racks.
var coflow = Source{
	Name:    "coflow-fb2010",
	Summary: "shuffles of a Facebook cluster of 2010 (Chowdhury and others 2014, coflow-benchmark): arrival, racks of the mappers, MB per rack of a reducer",
	Columns: []string{"arrival_ms", "mapper_racks", "reducer_rack_colon_MB"},
	Bin:     time.Minute,
	Idle:    true,
	Fallbacks: []string{
		"servers are not told apart: each rack counts as one node, and all are one group",
		"what a reducer receives is split equally over the mappers, all at the time of arrival, as the benchmark does",
		"the weekday is not known: the trace begins on a Monday, 00:00",
	},
	rows: readCoflow,
}

// coflowMB is the megabyte of the benchmark's own simulator.
const coflowMB = 1 << 20

func readCoflow(r *rows, g *gathering) error {
	arrival, mappers, reducers := r.column("arrival_ms"), r.column("mapper_racks"), r.column("reducer_rack_colon_MB")
	for {
		more, err := r.next()
		if err != nil || !more {
			return err
		}
		ms, err := r.whole(arrival, maxSeconds)
		if err != nil {
			return err
		}
		at := time.Duration(ms) * time.Millisecond
		if err := g.row(at); err != nil {
			return err
		}
		from, err := g.racks(strings.Fields(r.cells[mappers]))
		if err != nil {
			return err
		}
		for _, text := range strings.Fields(r.cells[reducers]) {
			rack, size, ok := strings.Cut(text, ":")
			if !ok {
				return r.bad(fmt.Sprintf("reducer_rack_colon_MB: %.40q", text), "write rack:MB")
			}
			to, err := g.racks([]string{rack})
			if err != nil {
				return err
			}
			mb, err := r.parse("MB", size, maxBytes/coflowMB)
			if err != nil {
				return err
			}
			for _, source := range from {
				g.add(at, source, to[0], int64(mb*coflowMB/float64(len(from))), Read)
			}
		}
	}
}

// racks are the nodes that stand for racks.
func (g *gathering) racks(ids []string) ([]int32, error) {
	if len(ids) == 0 {
		return nil, g.rows.bad("a shuffle without mappers", "the row may be cut short")
	}
	out := make([]int32, len(ids))
	for i, id := range ids {
		if digits, rest := leadingNumber(id); digits == "" || rest != "" {
			return nil, g.rows.bad(fmt.Sprintf("%.40q is not the number of a rack", id), "")
		}
		var err error
		if out[i], err = g.node("rack-" + id + "/all"); err != nil {
			return nil, err
		}
	}
	return out, nil
}
