package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// trafficFlags say where traffic comes from: a file, or a declared cluster.
type trafficFlags struct {
	format    string
	groups    bool
	bin       time.Duration
	synthetic string
	weeks     int
	week      int // from 1; 0: all
	seed      uint64
}

func (t *trafficFlags) add(f *flag.FlagSet) {
	var known []string
	for _, s := range network.Sources() {
		known = append(known, s.Name)
	}
	f.StringVar(&t.format, "format", "", "The `name` of the format: "+strings.Join(known, ", ")+". By default it is found by the header.")
	f.BoolVar(&t.groups, "groups", false, "Of a captured table, the traffic of task groups (namespace/job/group) and not of nodes.")
	f.DurationVar(&t.bin, "bin", 0, "How long a bin is; 0 is what the format has (5m in a table of one's own).")
	f.StringVar(&t.synthetic, "synthetic", "", "In place of a file, the traffic of a declared cluster of this `size`: groups, racks in a group and servers in a rack, such as 10x10x48.")
	f.IntVar(&t.weeks, "weeks", 1, "How many weeks a declared cluster has.")
	f.IntVar(&t.week, "week", 0, "Only this week of the traffic, from 1, so that the others are held out; 0 is all of it.")
	f.Uint64Var(&t.seed, "seed", 1, "The seed of everything that is drawn. The same seed gives the same bytes.")
}

// declared is the cluster that -synthetic describes.
func (t *trafficFlags) declared() (network.SyntheticOptions, error) {
	o := network.DefaultSynthetic(t.seed)
	o.Weeks = t.weeks
	if t.bin != 0 {
		o.Bin = t.bin
	}
	parts := strings.Split(t.synthetic, "x")
	for i, size := range []*int{&o.Groups, &o.RacksPerGroup, &o.ServersPerRack} {
		n := 0
		if len(parts) == 3 {
			n, _ = strconv.Atoi(parts[i]) // 0 is refused below
		}
		if n < 1 {
			return o, command.UsageError("-synthetic takes groups x racks x servers, such as 10x10x48, not %q", t.synthetic)
		}
		*size = n
	}
	return o, nil
}

// trafficData is traffic with what is known of where it is from.
type trafficData struct {
	network.Traffic
	reading *network.Reading // nil for a declared cluster
	source  string
}

// checkArguments wants a file or a declared cluster, next to n other arguments.
func (t *trafficFlags) checkArguments(args []string, n int, names string) error {
	want := n + 1
	if t.synthetic != "" {
		want = n
	}
	if len(args) != want {
		return command.UsageError("either %s, or -synthetic without the traffic", names)
	}
	return nil
}

// aWeek is how long one of -week is.
const aWeek = 7 * 24 * time.Hour

// open is the week that is wanted of all of the traffic.
func (t *trafficFlags) open(ctx context.Context, path string, progress func(float64, string)) (trafficData, error) {
	data, err := t.openAll(ctx, path, progress)
	if err != nil || t.week == 0 {
		return data, err
	}
	span := data.Span()
	first := span.From - span.From%aWeek
	from := first + time.Duration(t.week-1)*aWeek
	if t.week < 1 || from >= span.To {
		return data, command.UsageError("-week %d: the traffic has the weeks 1 to %d", t.week, (span.To-first+aWeek-1)/aWeek)
	}
	data.Traffic = network.Part(data.Traffic, from, from+aWeek)
	data.source += fmt.Sprintf(", week %d", t.week)
	return data, nil
}

// openAll reads the file, or declares the cluster. path is not used for the latter.
func (t *trafficFlags) openAll(ctx context.Context, path string, progress func(float64, string)) (trafficData, error) {
	if t.synthetic != "" {
		o, err := t.declared()
		if err != nil {
			return trafficData{}, err
		}
		s, err := network.NewSynthetic(o)
		if err != nil {
			return trafficData{}, err
		}
		return trafficData{s, nil, "declared cluster " + t.synthetic}, nil
	}
	r, err := network.ReadTraffic(ctx, path, network.ReadOptions{Format: t.format, Groups: t.groups, Bin: t.bin, Progress: func(share float64) { progress(share, "reading "+path) }})
	if err != nil {
		return trafficData{}, err
	}
	return trafficData{r.Table, r, r.Format + ", " + r.File}, nil
}

// trafficReport is what of the traffic is printed.
type trafficReport struct {
	Source      string         `json:"source"`
	Servers     int            `json:"servers"`
	Racks       int            `json:"racks"`
	Groups      int            `json:"groups"`
	Cloud       bool           `json:"cloud"`
	FromSeconds float64        `json:"from_s"`
	ToSeconds   float64        `json:"to_s"`
	BinSeconds  float64        `json:"bin_s"`
	MissingBins int            `json:"missing_bins"`
	Rows        int            `json:"rows,omitempty"`
	LeftOut     map[string]int `json:"left_out,omitempty"`
	Notes       []string       `json:"notes,omitempty"`
}

func (d trafficData) report() trafficReport {
	top, span := d.Topology(), d.Span()
	_, cloud := top.Cloud()
	r := trafficReport{
		Source: d.source, Servers: top.Servers(), Racks: top.Racks(), Groups: top.Groups(), Cloud: cloud,
		FromSeconds: span.From.Seconds(), ToSeconds: span.To.Seconds(), BinSeconds: span.Bin.Seconds(), MissingBins: len(span.Missing),
	}
	if d.reading != nil {
		r.Rows, r.LeftOut, r.Notes = d.reading.Rows, d.reading.LeftOut, d.reading.Notes
	}
	return r
}

func (r trafficReport) page(p *command.Page) {
	p.Fact("Traffic", r.Source)
	size := fmt.Sprintf("%s in %s in %s", wording.Count(r.Servers, "server"), wording.Count(r.Racks, "rack"), wording.Count(r.Groups, "group"))
	if r.Cloud {
		size += ", and the cloud for what is outside"
	}
	p.Fact("Cluster", size)
	span := time.Duration((r.ToSeconds - r.FromSeconds) * float64(time.Second))
	text := fmt.Sprintf("%s in bins of %s", wording.Duration(span), wording.Duration(time.Duration(r.BinSeconds*float64(time.Second))))
	if r.MissingBins > 0 {
		text += fmt.Sprintf(", of which %d were not captured", r.MissingBins)
	}
	p.Fact("Span", text)
	for _, why := range slices.Sorted(maps.Keys(r.LeftOut)) {
		p.Item(command.Plain, fmt.Sprintf("%d left out: %s", r.LeftOut[why], why))
	}
	for _, note := range r.Notes {
		p.Item(command.Warn, note)
	}
}

// serverName is how the traffic calls a server; a number where it has no names.
func (d trafficData) serverName(server int) string {
	if d.reading != nil {
		return d.reading.Names[server]
	}
	return network.ServerName(d.Topology(), server)
}

// errNoModel: a file is something else.
var errNoModel = errors.New("no traffic model")

// readTrafficModel reads a model's file. What is no model at all is errNoModel.
func readTrafficModel(path string) (*network.Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if !network.IsModel(file) {
		return nil, command.WithHint(fmt.Errorf("%s: %w", path, errNoModel), "traffic fit writes one from traffic")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return network.ReadModel(path, file)
}

// percentText writes a percentage; what is not known is called so.
func percentText(p network.Percent) string {
	if !p.Known() {
		return wording.Unknown
	}
	return p.String() + " %"
}

// percentCell is a number of a table.
func percentCell(p network.Percent) command.Cell { return command.Number(percentText(p)) }

// deviationCells are the parts of the servers, as in tables C.1 to C.4.
func deviationCells(d network.Deviations) []command.Cell {
	cells := make([]command.Cell, len(d))
	for i, v := range d {
		cells[i] = command.Number(v.String())
	}
	return cells
}

// deviationHeader names the columns of deviationCells.
func deviationHeader(first ...string) []string {
	for _, part := range network.Parts {
		first = append(first, fmt.Sprintf("%d %%", part))
	}
	return first
}
