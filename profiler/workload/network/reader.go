package network

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Source is one format of traffic that can be read: a row of the table in
// Sources.
type Source struct {
	Name    string // on the command line; that of the public data set
	Summary string
	Columns []string // that tell its header
	// Bin is how long a bin is, unless ReadOptions say otherwise.
	Bin time.Duration
	// Idle: where no row falls into a bin, there was no traffic. Otherwise nothing is
	// known of such a bin, and it counts as missing.
	Idle bool
	// Fallbacks are what is done about faults that do not stop reading.
	Fallbacks []string

	rows func(*rows, *gathering) error
}

// Sources lists the formats, sorted by name.
func Sources() []Source {
	return []Source{coflow, ownTable, roce}
}

// ReadOptions say how traffic is read.
type ReadOptions struct {
	Format   string        // a name of Sources; empty: found by the header
	Bin      time.Duration // 0: as the format has it
	Groups   bool          // whose traffic it is are the task groups of a captured table, not the nodes
	Progress func(share float64)
}

// Reading is what was read.
type Reading struct {
	Table *Table
	Names []string // of the servers, by number; they are no part of a model

	Format, File string
	Rows         int
	LeftOut      map[string]int // rows, by reason
	Notes        []string       // what was found and how it was taken
}

// ReadTraffic reads traffic from a file, or from the tables in a folder, as the nodes of
// a cluster write one each. It reads row by row; only the traffic itself is held.
func ReadTraffic(ctx context.Context, path string, o ReadOptions) (*Reading, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("traffic: %w", err)
	}
	if !info.IsDir() {
		return ReadFiles(ctx, os.DirFS(filepath.Dir(path)), []string{filepath.Base(path)}, o)
	}
	names, err := tablesIn(os.DirFS(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ReadFiles(ctx, os.DirFS(path), names, o)
}

func tablesIn(folder fs.FS) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.csv", "*.csv.gz"} {
		found, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: the folder has no tables (.csv or .csv.gz)", ErrFormat)
	}
	slices.Sort(names)
	return names, nil
}

// ReadFiles reads files of a folder, which are of one format.
func ReadFiles(ctx context.Context, folder fs.FS, names []string, o ReadOptions) (*Reading, error) {
	g := &gathering{ctx: ctx, numbers: map[string]int32{}, groups: o.Groups, leftOut: map[string]int{}, first: math.MaxInt64, seen: map[int64]struct{}{}}
	var source Source
	for i, name := range names {
		if o.Progress != nil {
			g.progress = func(share float64) { o.Progress((float64(i) + share) / float64(len(names))) }
		}
		var err error
		if source, err = g.readFile(folder, name, o, source); err != nil {
			return nil, err
		}
	}
	out, err := g.finish(source)
	if err == nil && len(names) > 1 {
		out.File = fmt.Sprintf("%d tables", len(names))
	}
	return out, err
}

// readFile reads one file, whose format is that of the one before.
func (g *gathering) readFile(folder fs.FS, name string, o ReadOptions, before Source) (Source, error) {
	r, err := openRows(folder, name)
	if err != nil {
		return Source{}, err
	}
	defer r.close()
	source, err := sourceOf(r, o.Format)
	switch {
	case err != nil:
		return Source{}, err
	case before.Name != "" && before.Name != source.Name:
		return Source{}, &FormatError{File: name, Line: 1, Problem: "it is " + source.Name + ", and the file before is " + before.Name, Hint: "a folder has tables of one format"}
	case o.Groups && source.Name != ownTable.Name:
		return Source{}, &FormatError{File: name, Line: 1, Problem: source.Name + " has no task groups", Hint: "traffic capture writes tables that have them"}
	}
	g.rows, g.bin = r, cmp.Or(o.Bin, source.Bin)
	if g.bin < time.Millisecond || week%g.bin != 0 {
		return Source{}, fmt.Errorf("%w: bins of %s do not divide a week (5m, 1m, 10s and 1s do)", ErrFormat, g.bin)
	}
	return source, source.rows(r, g)
}

func sourceOf(r *rows, format string) (Source, error) {
	var known []string
	for _, s := range Sources() {
		known = append(known, s.Name)
		has := !slices.ContainsFunc(s.Columns, func(c string) bool { return r.column(c) < 0 })
		switch {
		case format == s.Name && !has:
			return Source{}, &FormatError{File: r.name, Line: 1, Problem: "the header lacks columns of " + s.Name, Hint: "needed: " + strings.Join(s.Columns, ", ")}
		case has && (format == "" || format == s.Name):
			return s, nil
		}
	}
	if format != "" {
		return Source{}, fmt.Errorf("%w: unknown format %q; known: %s", ErrFormat, format, strings.Join(known, ", "))
	}
	return Source{}, &FormatError{
		File: r.name, Line: 1, Problem: "the header is of no known traffic",
		Hint: "known: " + strings.Join(known, ", ") + "; a table of one's own has the columns " + strings.Join(ownTable.Columns, ", "),
	}
}

// gathering collects records whose nodes are still called by names.
type gathering struct {
	ctx     context.Context
	rows    *rows
	bin     time.Duration
	numbers map[string]int32 // of names, in the order in which they were seen
	names   []string
	cloud   bool
	groups  bool
	records []Record
	first   time.Duration
	last    time.Duration
	seen    map[int64]struct{} // bins that some row is in
	count   int
	leftOut map[string]int
	notes   []string

	progress func(share float64)
}

// CloudName is how a table of traffic calls what is outside.
const CloudName = "cloud"

// cloudNumber stands for the cloud until the servers are known.
const cloudNumber = -1

// Why rows are left out.
const (
	leftLoopback = "a node sends to itself: it does not cross the network"
	leftIdle     = "no bytes: the bin is captured, and idle"
)

// checkEvery is how many rows are read between looks at the clock.
const checkEvery = 4096

// row notes that a row was read, which is of a moment.
func (g *gathering) row(at time.Duration) error {
	g.count++
	if g.count%checkEvery == 0 {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		tell(g.progress, g.rows.share())
	}
	g.first, g.last = min(g.first, at), max(g.last, at)
	g.seen[int64(at/g.bin)] = struct{}{}
	return nil
}

// node is the number of a name so far.
func (g *gathering) node(name string) (int32, error) {
	name = strings.TrimSpace(name)
	if name == CloudName {
		g.cloud = true
		return cloudNumber, nil
	}
	if n, known := g.numbers[name]; known {
		return n, nil
	}
	if parts := strings.Split(name, "/"); len(parts) > 3 || slices.Contains(parts, "") {
		return 0, g.rows.bad(fmt.Sprintf("%.60q is not the name of a server", name), "write server, rack/server, group/rack/server, or cloud for what is outside")
	}
	if len(g.names) == maxServers {
		return 0, g.rows.bad(fmt.Sprintf("more than %d servers", maxServers), "are the columns the right ones?")
	}
	n := int32(len(g.names))
	g.numbers[strings.Clone(name)] = n
	g.names = append(g.names, strings.Clone(name))
	return n, nil
}

// add keeps a record, unless it says nothing.
func (g *gathering) add(at time.Duration, source, destination int32, bytes int64, d Direction) {
	switch {
	case source == destination:
		g.leftOut[leftLoopback]++
	case bytes == 0:
		g.leftOut[leftIdle]++
	default:
		g.records = append(g.records, Record{At: at, Source: source, Destination: destination, Bytes: bytes, Direction: d})
	}
}

// maxBins bounds the span of a file: forty years of five minutes.
const maxBins = 1 << 22

// finish numbers the servers rack by rack and makes the table.
func (g *gathering) finish(s Source) (*Reading, error) {
	if len(g.records) == 0 {
		return nil, &FormatError{File: g.rows.name, Problem: fmt.Sprintf("there is no traffic in %d rows", g.count), Hint: "is the file complete, and the column of bytes the right one?"}
	}
	span := Span{From: g.first.Truncate(g.bin), To: g.last.Truncate(g.bin) + g.bin, Bin: g.bin}
	if span.Bins() > maxBins {
		return nil, &FormatError{File: g.rows.name, Problem: fmt.Sprintf("times from %s to %s, in bins of %s", g.first, g.last, g.bin), Hint: "are the times in the right unit?"}
	}
	if !s.Idle {
		for b := range span.Bins() {
			if _, found := g.seen[int64(span.From/g.bin)+int64(b)]; !found {
				span.Missing = append(span.Missing, b)
			}
		}
		if n := len(span.Missing); n > 0 {
			g.notes = append(g.notes, fmt.Sprintf("%d of %d bins of %s have no row: nothing was captured in them, which is not the same as no traffic; they count neither as time nor as bytes", n, span.Bins(), g.bin))
		}
	}
	topology, order, err := g.topology()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(order))
	for i, n := range order {
		names[n] = g.names[i]
	}
	for i := range g.records {
		for _, node := range []*int32{&g.records[i].Source, &g.records[i].Destination} {
			if *node == cloudNumber {
				*node = int32(topology.Servers())
			} else {
				*node = order[*node]
			}
		}
	}
	table, err := NewTable(topology, span, g.records)
	if err != nil {
		return nil, &FormatError{File: g.rows.name, Problem: "the rows contradict each other", Err: err}
	}
	return &Reading{Table: table, Names: names, Format: s.Name, File: g.rows.name, Rows: g.count, LeftOut: g.leftOut, Notes: g.notes}, nil
}

// topology finds groups and racks in the names: group/rack/server. It returns the
// final number of each server.
func (g *gathering) topology() (Topology, []int32, error) {
	if len(g.names) == 0 {
		return Topology{}, nil, &FormatError{File: g.rows.name, Problem: "there is only the cloud", Hint: "name the servers"}
	}
	type place struct {
		group, rack, server string
		number              int32
	}
	places := make([]place, len(g.names))
	for i, name := range g.names {
		parts := strings.Split(name, "/")
		p := place{server: parts[len(parts)-1], number: int32(i)}
		if len(parts) > 1 {
			p.rack = parts[len(parts)-2]
		}
		if len(parts) > 2 {
			p.group = parts[0]
		}
		places[i] = p
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(compareNatural(a.group, b.group), compareNatural(a.rack, b.rack), compareNatural(a.server, b.server), cmp.Compare(a.number, b.number))
	})
	var racks, sizes []int
	order := make([]int32, len(places))
	for i, p := range places {
		newGroup := i == 0 || p.group != places[i-1].group
		if newGroup {
			racks = append(racks, 0)
		}
		if newGroup || p.rack != places[i-1].rack {
			racks[len(racks)-1]++
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1]++
		order[p.number] = int32(i)
	}
	t, err := NewTopology(racks, sizes, g.cloud)
	return t, order, err
}

// compareNatural orders names as people do: rack-2 before rack-10. Only equal names
// are equal.
func compareNatural(a, b string) int { return cmp.Or(compareParts(a, b), cmp.Compare(a, b)) }

func compareParts(a, b string) int {
	for a != "" && b != "" {
		x, restX := leadingNumber(a)
		y, restY := leadingNumber(b)
		if x != "" && y != "" {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = restX, restY
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func leadingNumber(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}
