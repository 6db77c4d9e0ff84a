package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// trafficView is the page of who exchanges how much with whom.
type trafficView struct {
	Known    bool
	Report   traffic.Report
	Nodes    bool   // the caller may read nodes
	Locality string // empty: nothing moved between nodes
	Jobs     template.HTML
	JobFlows []flowRow
	NodeMap  template.HTML
	RackMap  template.HTML
	OverTime template.HTML
	Uplinks  []uplinkRow
}

// flowRow is one line of the list of flows.
type flowRow struct{ From, To, Bytes, Share string }

// uplinkRow is one rack.
type uplinkRow struct{ Rack, Now, Next, Basis string }

// mostFlows is how many flows are listed; mostNames how many names a map has, the others
// being one.
const (
	mostFlows = 20
	mostNames = 24
)

func (s *server) trafficPage(r *http.Request) (pageView, error) {
	report, nodes, err := s.traffic(r.Context())
	if errors.Is(err, cluster.ErrNoRecord) {
		return pageView{Template: "traffic", Title: "Network traffic", Data: trafficView{}}, nil
	}
	if err != nil {
		return pageView{}, err
	}
	return pageView{Template: "traffic", Title: "Network traffic", Wide: true, Data: viewTraffic(report, nodes)}, nil
}

func (s *server) trafficJSON(r *http.Request) (any, error) {
	report, _, err := s.traffic(r.Context())
	report.Jobs, report.Nodes = orNone(report.Jobs), orNone(report.Nodes)
	report.Load, report.Uplinks = orNone(report.Load), orNone(report.Uplinks)
	return report, err
}

// orNone makes an empty list print as [], not null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// traffic is what the caller may see of it: jobs of namespaces whose records it may read, and
// nodes if it may read those.
func (s *server) traffic(ctx context.Context) (report traffic.Report, nodes bool, err error) {
	all := s.records
	v, limited := s.records.(*seen)
	if limited {
		all = v.all
	}
	reader, ok := all.(TrafficRecords)
	if !ok {
		return report, false, fmt.Errorf("no traffic is captured here: %w", cluster.ErrNoRecord)
	}
	report, err = reader.Traffic(ctx)
	if err != nil || !limited {
		return report, true, err
	}
	if nodes, err = v.caller.MayReadNodes(ctx); err != nil {
		return traffic.Report{}, false, err
	}
	if !nodes {
		report.Nodes, report.Load, report.Uplinks, report.Problem = nil, nil, nil, ""
	}
	report.Jobs, err = v.flows(ctx, report.Jobs)
	return report, nodes, err
}

// otherNamespace is how a caller sees jobs whose records it may not read.
const otherNamespace = "another namespace"

// flows keeps what jobs that the caller may read exchange. Others have no names, and what they
// exchange among themselves is left out.
func (v *seen) flows(ctx context.Context, list []traffic.Flow) ([]traffic.Flow, error) {
	names := map[string]bool{}
	for _, f := range list {
		names[namespaceOf(f.From)], names[namespaceOf(f.To)] = true, true
	}
	delete(names, traffic.Outside)
	yes, err := may(ctx, names, v.caller.MayReadRecordsOf)
	if err != nil {
		return nil, err
	}
	seenAs := func(name string) string {
		if name == traffic.Outside || yes[namespaceOf(name)] {
			return name
		}
		return otherNamespace
	}
	sums := map[[2]string]int64{}
	for _, f := range list {
		pair := [2]string{seenAs(f.From), seenAs(f.To)}
		if slices.ContainsFunc(pair[:], func(name string) bool { return name != otherNamespace && name != traffic.Outside }) {
			sums[pair] += f.Bytes
		}
	}
	var out []traffic.Flow
	for pair, bytes := range sums {
		out = append(out, traffic.Flow{From: pair[0], To: pair[1], Bytes: bytes})
	}
	slices.SortFunc(out, func(a, b traffic.Flow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out, nil
}

func viewTraffic(r traffic.Report, nodes bool) trafficView {
	v := trafficView{Known: true, Report: r, Nodes: nodes, Locality: locality(r.Nodes)}
	v.Jobs = flowMap("what jobs send each other", r.Jobs, func(name string) string { return name }, false)
	total := bytesOf(r.Jobs)
	for _, f := range r.Jobs[:min(mostFlows, len(r.Jobs))] {
		v.JobFlows = append(v.JobFlows, flowRow{f.From, f.To, wording.Bytes(float64(f.Bytes)), wording.Number(100*float64(f.Bytes)/total) + " %"})
	}
	if !nodes {
		return v
	}
	v.NodeMap = flowMap("what nodes send each other", r.Nodes, func(name string) string { return name }, true)
	v.RackMap = flowMap("what racks send each other", r.Nodes, rackOf, true)
	v.OverTime = loadChart(r)
	for _, u := range r.Uplinks {
		row := uplinkRow{u.Rack, wording.Bytes(u.BytesPerSec) + "/s", wording.Unknown, u.Basis}
		if u.NextBytesPerSec != nil {
			row.Next = wording.Bytes(*u.NextBytesPerSec) + "/s"
		}
		v.Uplinks = append(v.Uplinks, row)
	}
	return v
}

func bytesOf(flows []traffic.Flow) float64 {
	sum := 0.0
	for _, f := range flows {
		sum += float64(f.Bytes)
	}
	return sum
}

// rackOf a node is its name without the last part.
func rackOf(node string) string {
	if node == traffic.Outside {
		return node
	}
	if at := strings.LastIndexByte(node, '/'); at >= 0 {
		return node[:at]
	}
	return "(none)"
}

// locality says which share of the bytes stays where.
func locality(nodes []traffic.Flow) string {
	var same, other, outside float64
	for _, f := range nodes {
		switch {
		case f.From == traffic.Outside || f.To == traffic.Outside:
			outside += float64(f.Bytes)
		case rackOf(f.From) == rackOf(f.To):
			same += float64(f.Bytes)
		default:
			other += float64(f.Bytes)
		}
	}
	all := same + other + outside
	if all == 0 {
		return ""
	}
	percent := func(v float64) string { return wording.Number(100*v/all) + " %" }
	return fmt.Sprintf("%s moved: %s within a rack, %s between racks, %s to and from the outside.", wording.Bytes(all), percent(same), percent(other), percent(outside))
}

// flowMap draws who sends whom which share of the bytes; empty: nothing moved. Names are in
// the order of their bytes, or byName.
func flowMap(label string, flows []traffic.Flow, name func(string) string, byName bool) template.HTML {
	total := bytesOf(flows)
	if total == 0 {
		return ""
	}
	sums, exchanged := map[[2]string]float64{}, map[string]float64{}
	for _, f := range flows {
		from, to := name(f.From), name(f.To)
		sums[[2]string{from, to}] += float64(f.Bytes)
		exchanged[from] += float64(f.Bytes)
		exchanged[to] += float64(f.Bytes)
	}
	names := namesOfMap(exchanged, byName)
	at := map[string]int{}
	for i, n := range names {
		at[n] = i
	}
	bytes := make([][]float64, len(names))
	for i := range bytes {
		bytes[i] = make([]float64, len(names))
	}
	place := func(n string) int {
		if i, shown := at[n]; shown {
			return i
		}
		return len(names) - 1 // the others
	}
	most := 0.0
	for pair, sum := range sums {
		from, to := place(pair[0]), place(pair[1])
		bytes[from][to] += sum
		most = max(most, bytes[from][to])
	}
	h := chart.Heat{Label: label, Rows: names, Columns: names, Full: 100 * most / total, Unit: " %"}
	for i, row := range bytes {
		cells := make([]chart.Cell, len(names))
		for j, sum := range row {
			cells[j] = chart.Cell{Value: 100 * sum / total, Note: fmt.Sprintf("%s to %s: %s", names[i], names[j], wording.Bytes(sum))}
		}
		h.Cells = append(h.Cells, cells)
	}
	return h.SVG()
}

// namesOfMap are those that exchange most, and one for the others where there are more.
func namesOfMap(exchanged map[string]float64, byName bool) []string {
	var names []string
	for n := range exchanged {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(exchanged[b], exchanged[a]), cmp.Compare(a, b)) })
	more := len(names) > mostNames
	if more {
		names = names[:mostNames-1]
	}
	if byName {
		slices.Sort(names)
	}
	if more {
		names = append(names, "(others)")
	}
	return names
}

// loadChart draws what moved over time, in hours before the end.
func loadChart(r traffic.Report) template.HTML {
	if len(r.Load) < 2 {
		return ""
	}
	line := func(name string, of func(traffic.Load) float64) chart.Series {
		s := chart.Series{Name: name}
		for _, l := range r.Load {
			y := math.NaN()
			if l.Captured {
				y = of(l) / 1e6
			}
			s.Points = append(s.Points, chart.Point{X: l.At.Sub(r.To).Hours(), Y: y})
		}
		return s
	}
	return chart.Plot{
		Label: "traffic over time", Width: 760, Height: 240,
		X: chart.Axis{Title: "hours before the end", Tight: true, Text: wording.Number}, Y: chart.Axis{Title: "MB/s", Text: wording.Number},
		Series: []chart.Series{
			line("within racks", func(l traffic.Load) float64 { return l.SameRack }),
			line("between racks", func(l traffic.Load) float64 { return l.OtherRack }),
			line("to and from the outside", func(l traffic.Load) float64 { return l.Outside }),
		},
	}.SVG()
}
