package network

import (
	"fmt"
	"strings"
	"time"
)

// ownSummary says which columns a table of one's own has.
const ownSummary = "a row for what one server sent another: t_s (seconds since a Monday, 00:00) or unix_s (UTC), source, destination, bytes or bytes_total, direction (write or read) if known, and source_group and destination_group (namespace/job/group) where traffic of task groups is wanted"

// ownTable is a table of one's own, and what traffic generate writes.
var ownTable = Source{
	Name:    "traffic-table",
	Summary: ownSummary,
	Columns: []string{"source", "destination"},
	Bin:     5 * time.Minute,
	Fallbacks: []string{
		"a bin without any row was not captured, and counts neither as time nor as bytes; a row of 0 bytes says that it was captured",
		"bytes_total is a counter: a row counts what was added since the row before of the same pair and direction, and the first row counts nothing; a counter that goes back was started again, and the row counts all that it has",
		"bytes without a direction count as written by who sent them",
	},
	rows: readOwnTable,
}

// unixMonday is the first Monday of Unix time, 1970-01-05.
const unixMonday = 4 * day

// maxSeconds bounds a time: the year 2255 as Unix time, and what a Duration holds.
const maxSeconds = 9e9

// counterKey names a counter of a table.
type counterKey struct {
	source, destination int32
	direction           Direction
}

// ownColumns are the places of the columns of a table of one's own.
type ownColumns struct {
	time, source, destination, bytes, direction int
	unix, counter, groups                       bool
}

// name is what a cell calls an endpoint. What is of no task group is outside of them.
func (c ownColumns) name(cell string) string {
	if c.groups && strings.TrimSpace(cell) == "" {
		return CloudName
	}
	return cell
}

func readOwnTable(r *rows, g *gathering) error {
	c, err := ownColumnsOf(r, g.groups)
	if err != nil {
		return err
	}
	counters := map[counterKey]int64{}
	times := map[counterKey]time.Duration{}
	restarts := 0
	for {
		more, err := r.next()
		if err != nil || !more {
			if restarts > 0 {
				g.notes = append(g.notes, fmt.Sprintf("%d counters went back and count from 0 again", restarts))
			}
			return err
		}
		at, key, bytes, err := readOwnRow(r, g, c)
		if err != nil {
			return err
		}
		if c.counter {
			if last, seen := times[key]; seen && at <= last {
				return r.bad("the time of a counter does not advance", "sort the rows by time")
			}
			times[key] = at
			before, seen := counters[key]
			counters[key] = bytes
			switch {
			case !seen:
				bytes = 0
			case bytes < before:
				restarts++
			default:
				bytes -= before
			}
		}
		g.add(at, key.source, key.destination, bytes, key.direction)
	}
}

func ownColumnsOf(r *rows, groups bool) (ownColumns, error) {
	c := ownColumns{groups: groups,
		time: r.column("t_s"), source: r.column("source"), destination: r.column("destination"), bytes: r.column("bytes"), direction: r.column("direction"),
	}
	unix, total := r.column("unix_s"), r.column("bytes_total")
	if (c.time < 0) == (unix < 0) || (c.bytes < 0) == (total < 0) {
		return c, &FormatError{File: r.name, Line: 1, Problem: "exactly one of t_s and unix_s, and one of bytes and bytes_total, must be there", Hint: ownSummary}
	}
	if groups {
		if c.source, c.destination = r.column("source_group"), r.column("destination_group"); c.source < 0 || c.destination < 0 {
			return c, &FormatError{File: r.name, Line: 1, Problem: "there are no columns source_group and destination_group", Hint: "traffic capture writes them"}
		}
	}
	if unix >= 0 {
		c.time, c.unix = unix, true
	}
	if total >= 0 {
		c.bytes, c.counter = total, true
	}
	return c, nil
}

// maxCounter bounds a counter: beyond it a difference may not be exact.
const maxCounter = 1 << 62

func readOwnRow(r *rows, g *gathering, c ownColumns) (at time.Duration, key counterKey, bytes int64, err error) {
	seconds, err := r.number(c.time, maxSeconds)
	if err != nil {
		return 0, key, 0, err
	}
	at = time.Duration(seconds * float64(time.Second))
	if c.unix {
		if at -= unixMonday; at < 0 {
			return 0, key, 0, r.bad("unix_s: a time before 1970-01-05", "use t_s for seconds since a Monday")
		}
	}
	if key.source, err = g.node(c.name(r.cells[c.source])); err != nil {
		return 0, key, 0, err
	}
	if key.destination, err = g.node(c.name(r.cells[c.destination])); err != nil {
		return 0, key, 0, err
	}
	most := int64(maxBytes)
	if c.counter {
		most = maxCounter
	}
	if bytes, err = r.whole(c.bytes, most); err != nil {
		return 0, key, 0, err
	}
	if c.direction >= 0 {
		switch text := r.cells[c.direction]; text {
		case "", Write.String():
		case Read.String():
			key.direction = Read
		default:
			return 0, key, 0, r.bad(fmt.Sprintf("direction: %.20q", text), "write, read, or nothing where it is not known")
		}
	}
	return at, key, bytes, g.row(at)
}
