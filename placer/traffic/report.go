package traffic

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// Outside is how flows call what is of no job, or of no node of the cluster.
const Outside = network.CloudName

// Report is what moved in the last day that was captured, and what is expected next.
type Report struct {
	From            time.Time `json:"from"`
	To              time.Time `json:"to"`
	CapturedSeconds float64   `json:"captured_s"` // bins without any row do not count
	Jobs            []Flow    `json:"jobs"`       // between jobs (namespace/job), most bytes first
	Nodes           []Flow    `json:"nodes"`      // between nodes (datacenter/rack/node), most bytes first
	Load            []Load    `json:"load"`       // over time
	Uplinks         []Uplink  `json:"uplinks"`    // of racks (datacenter/rack), by name
	Problem         string    `json:"problem,omitempty"`
}

// Flow is what one sent another.
type Flow struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes int64  `json:"bytes"`
}

// Load is what moved in a part of the time, in bytes per second.
type Load struct {
	At        time.Time `json:"at"` // its beginning
	Captured  bool      `json:"captured"`
	SameRack  float64   `json:"same_rack_bytes_per_s"`
	OtherRack float64   `json:"other_rack_bytes_per_s"`
	Outside   float64   `json:"outside_bytes_per_s"`
}

// Uplink is what a rack exchanges with others and with the outside, both directions.
type Uplink struct {
	Rack        string  `json:"rack"`
	BytesPerSec float64 `json:"bytes_per_s"`
	// NextBytesPerSec is expected in the hour after the report; nil: not known.
	NextBytesPerSec *float64 `json:"next_bytes_per_s"`
	Basis           string   `json:"basis"` // what that is expected by, or why it is not known
}

// Bounds of a report, chosen by us.
const (
	Window     = 24 * time.Hour // that it covers
	loadPoints = 288            // that it has over time
	nextHour   = time.Hour      // that is forecast
	day        = 24 * time.Hour
)

// reportOf describes the traffic of nodes and groups.
func reportOf(nodes, groups *network.Reading) Report {
	span := nodes.Table.Span()
	recent := span.Between(max(span.From, span.To-Window), span.To)
	r := Report{
		From: network.Time(recent.From), To: network.Time(recent.To), CapturedSeconds: recent.Captured().Seconds(),
		Nodes: flowsOf(nodes, recent.From, func(name string) string { return name }),
		Load:  loadOf(nodes, recent),
	}
	if groups != nil {
		r.Jobs = flowsOf(groups, recent.From, parentOf)
	}
	r.Uplinks = uplinksOf(nodes, recent)
	return r
}

// parentOf is the name without its last part: the job of a group, the rack of a node.
func parentOf(name string) string {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		return name[:at]
	}
	return ""
}

// namesOf are the names of all nodes of a table, the cloud's included.
func namesOf(r *network.Reading, name func(string) string) []string {
	out := make([]string, len(r.Names), len(r.Names)+1)
	for i, n := range r.Names {
		out[i] = name(n)
	}
	return append(out, Outside)
}

// flowsOf adds up what names sent each other from a moment on.
func flowsOf(r *network.Reading, from time.Duration, name func(string) string) []Flow {
	names, sums := namesOf(r, name), map[[2]string]int64{}
	for _, record := range r.Table.Records() {
		if record.At >= from {
			sums[[2]string{names[record.Source], names[record.Destination]}] += record.Bytes
		}
	}
	out := make([]Flow, 0, len(sums))
	for pair, bytes := range sums {
		out = append(out, Flow{From: pair[0], To: pair[1], Bytes: bytes})
	}
	slices.SortFunc(out, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

// loadOf is the load over a span, in parts of whole bins.
func loadOf(r *network.Reading, span network.Span) []Load {
	perPart := (span.Bins() + loadPoints - 1) / loadPoints
	out := make([]Load, (span.Bins()+perPart-1)/perPart)
	seconds := make([]float64, len(out))
	missing := map[int]bool{}
	for _, b := range span.Missing {
		missing[b] = true
	}
	for b := range span.Bins() {
		if !missing[b] {
			seconds[b/perPart] += span.Bin.Seconds()
		}
	}
	racks := namesOf(r, parentOf)
	for _, record := range r.Table.Records() {
		if record.At < span.From {
			continue
		}
		l := &out[int((record.At-span.From)/span.Bin)/perPart]
		switch source, destination := racks[record.Source], racks[record.Destination]; {
		case source == Outside || destination == Outside:
			l.Outside += float64(record.Bytes)
		case source == destination:
			l.SameRack += float64(record.Bytes)
		default:
			l.OtherRack += float64(record.Bytes)
		}
	}
	for i := range out {
		l := &out[i]
		l.At = network.Time(span.From + time.Duration(i*perPart)*span.Bin)
		if l.Captured = seconds[i] > 0; l.Captured {
			l.SameRack, l.OtherRack, l.Outside = l.SameRack/seconds[i], l.OtherRack/seconds[i], l.Outside/seconds[i]
		}
	}
	return out
}

// uplinksOf are the racks' uplinks: what they carried in the recent span, and the forecast.
func uplinksOf(r *network.Reading, recent network.Span) []Uplink {
	span, racks := r.Table.Span(), namesOf(r, parentOf)
	basis, before := basisOf(span)
	carried, earlier := map[string]float64{}, map[string]float64{}
	for _, rack := range racks {
		carried[rack] = 0
	}
	for _, record := range r.Table.Records() {
		source, destination := racks[record.Source], racks[record.Destination]
		if source == destination {
			continue
		}
		for _, rack := range [2]string{source, destination} {
			if record.At >= recent.From {
				carried[rack] += float64(record.Bytes)
			}
			if before != nil && record.At >= before.From && record.At < before.To {
				earlier[rack] += float64(record.Bytes)
			}
		}
	}
	var out []Uplink
	for rack, bytes := range carried {
		if rack == Outside || rack == "" { // nodes without a rack have no uplink in common
			continue
		}
		u := Uplink{Rack: rack, BytesPerSec: bytes / recent.Captured().Seconds(), Basis: basis}
		if before != nil {
			next := earlier[rack] / before.Captured().Seconds()
			u.NextBytesPerSec = &next
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b Uplink) int { return cmp.Compare(a.Rack, b.Rack) })
	return out
}

// basisOf is the hour that the next one is expected to be like; nil: none was captured.
func basisOf(span network.Span) (words string, hour *network.Span) {
	for _, c := range []struct {
		back  time.Duration
		words string
	}{{7 * day, "the same hour a week before"}, {day, "the same hour a day before"}} {
		from := span.To - c.back
		if from < span.From {
			continue
		}
		if before := span.Between(from, from+nextHour.Truncate(span.Bin)); before.Captured() > 0 {
			return c.words, &before
		}
	}
	return "less than a day was captured, or not this hour", nil
}
