//go:build e2e

package traffic

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

var (
	cycle = flag.Duration("cycle", 16*time.Second, "how long the four loads last together, which are fitted, held out and generated; an hour is 1h")
	exact = flag.Bool("exact", false, "have generators send a cycle with exact counts, too")
	page  = flag.String("tables", "", "write the tables of captured and generated traffic to this `file`, too")
)

const (
	binsOfWindow = 24 // as five minutes are of two hours; a bin is a second at least
	// generatedMost is how far what was sent may be from what was asked for, in percent, and
	// capturedMost how far what was captured of it may be from what was sent: the greetings of 552
	// connections are 0.3 % of 16 seconds.
	generatedMost = 5
	capturedMost  = 0.5
	// staticMost is how far what is generated within a static rack may be from the original, in
	// percent: what is drawn of its messages is 2 % off by chance.
	staticMost = 10
	everyPair  = 1000            // more than there are between racks
	startTime  = 2 * time.Second // of the capture, in which it opens all namespaces
	// lateMost is how much later than the last bin of a cycle its bytes may be captured.
	lateMost = 30 * time.Second
)

// TestTablesOnNetworkNamespaces has services of 24 network namespaces talk for two cycles of four
// loads, with the product's capture running. The first cycle is fitted, the second is held out.
// Then generators in the same namespaces send what the model asks for, which is captured, too. What
// was captured and what was generated is compared as tables C.1 to C.4 do (Delimitrou 2015).
func TestTablesOnNetworkNamespaces(t *testing.T) {
	window := *cycle / time.Duration(len(loads))
	bin := binOf(window)
	if window < time.Second || window%bin != 0 || *cycle%time.Duration(len(loads)) != 0 {
		t.Fatalf("-cycle %s: each of the %d loads must last whole seconds", *cycle, len(loads))
	}
	s := startServices(t)
	watch := s.startCapture(t, bin)
	begun := time.Now().Add(startTime).Truncate(bin).Add(bin)
	if err := s.run(t.Context(), begun, window, bin, 2**cycle); err != nil {
		t.Fatal(err)
	}
	// The last bin is written when it is over.
	if err := sleepUntil(t.Context(), begun.Add(2**cycle+bin)); err != nil {
		t.Fatal(err)
	}
	all := watch.read(t)
	fitted, held := cut(t, all, begun), cut(t, all, begun.Add(*cycle))
	o := network.DefaultFit()
	o.Windows = cycleWindows(window)
	m, err := network.Fit(t.Context(), fitted, o)
	if err != nil {
		t.Fatal(err)
	}
	o.TopPairs = everyPair
	pairwise, err := network.Fit(t.Context(), fitted, o)
	if err != nil {
		t.Fatal(err)
	}
	plain := s.generate(t, watch, m, bin, false)
	c := compared{t: t, fitted: fitted, held: held, plain: plain, windows: o.Windows, columns: []column{
		{"model", fitted, draw(t, m, fitted, false)}, {"generated", fitted, plain.table}, {"held out", held, plain.table},
		{"exact counts, model", fitted, draw(t, m, fitted, true)}, {"exact counts and pairs, model", fitted, draw(t, pairwise, fitted, true)},
	}}
	if *exact {
		g := s.generate(t, watch, m, bin, true)
		c.columns = append(c.columns, column{"exact counts, generated", fitted, g.table}, column{"exact counts, held out", held, g.table})
	}
	c.columns = append(c.columns, column{"trace", held, fitted})
	report := watch.stop(t)
	text := c.page(bin, report)
	t.Log("\n" + text)
	if *page != "" {
		if err := os.WriteFile(*page, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	if report.Lost > 0 {
		t.Errorf("the capture lost %d notices", report.Lost)
	}
	for rack, kind := range rackKinds {
		if !kind.bursts {
			inside := func(r network.Record) bool { return rackOfRecord(fitted, r) == rack }
			within(t, "what was generated within "+kind.name, bytesOf(plain.table, inside), bytesOf(fitted, inside), staticMost)
		}
	}
}

// binOf is about a 24th of a window: whole seconds that divide it and an hour.
func binOf(window time.Duration) time.Duration {
	bin := max(time.Second, (window / binsOfWindow).Truncate(time.Second))
	for bin > time.Second && (window%bin != 0 || time.Hour%bin != 0) {
		bin -= time.Second
	}
	return bin
}

// generation is a cycle that generators sent.
type generation struct {
	table  *network.Table
	report replay.Report
}

// generate has generators send what a model asks for, and checks that they sent that and that it
// was captured.
func (s *services) generate(t *testing.T, watch *capturing, m *network.Model, bin time.Duration, exact bool) generation {
	t.Helper()
	begun, sent := s.play(t, m, bin, exact)
	all, captured := watch.await(t, begun, bin, float64(sent.Sent))
	g := generation{cut(t, all, begun), sent}
	within(t, "what the generators sent of what they were asked for", float64(sent.Sent), float64(sent.Asked), generatedMost)
	within(t, "what was captured of what the generators sent", captured, float64(sent.Sent), capturedMost)
	if exact {
		within(t, "what was sent with exact counts of what the model has", captured, expected(m), generatedMost)
	}
	if sent.Capped > 0 || sent.Unanswered > 0 || len(sent.Silent) > 0 {
		t.Errorf("generators: %s", sent)
	}
	return g
}

// await reads what was captured of a cycle until nearly all bytes that were sent are there. A look
// at the connections of all namespaces takes its time, on a loaded machine more than a bin: what
// was sent last is captured after the cycle, and what was sent while the last look before the
// cycle went on is of the bin before it. Whoever calls it judges what it returns.
func (c *capturing) await(t *testing.T, begun time.Time, bin time.Duration, sent float64) (all *network.Table, captured float64) {
	t.Helper()
	for end, last := begun.Add(*cycle+2*bin), time.Now().Add(lateMost); ; end = end.Add(bin) {
		if err := sleepUntil(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		all = c.read(t)
		captured = bytesOf(since(t, all, begun.Add(-bin)), anywhere)
		if captured >= sent*(1-capturedMost/100.0) || end.After(last) {
			return all, captured
		}
	}
}

// draw is what a model generates without a network, for the same time.
func draw(t *testing.T, m *network.Model, like *network.Table, exact bool) *network.Table {
	t.Helper()
	made, err := m.Generate(t.Context(), network.Generation{Span: like.Span(), Seed: playSeed, ExactCounts: exact, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func within(t *testing.T, what string, got, want, most float64) {
	t.Helper()
	if away := 100 * (got/want - 1); !(away >= -most && away <= most) {
		t.Errorf("%s: %.4g bytes of %.4g, %+.1f %%; %g are allowed", what, got, want, away, most)
	}
}

// cycleWindows are the four loads as windows of a Monday's first moments.
func cycleWindows(length time.Duration) []network.Window {
	var out []network.Window
	for i := range loads {
		out = append(out, network.Window{Start: time.Duration(i) * length, End: time.Duration(i+1) * length})
	}
	return out
}

// expected is what a model asks for in the time that it was fitted to.
func expected(m *network.Model) float64 {
	sum := 0.0
	for _, c := range m.Chains {
		sum += c.Bytes - c.DroppedBytes
	}
	return sum
}

func bytesOf(t *network.Table, counts func(network.Record) bool) float64 {
	sum := 0.0
	for _, r := range t.Records() {
		if counts(r) {
			sum += float64(r.Bytes)
		}
	}
	return sum
}

func anywhere(network.Record) bool { return true }

// rackOfRecord is the rack in which a record stays; below 0 where it leaves one.
func rackOfRecord(t *network.Table, r network.Record) int {
	from, to := t.Topology().Rack(int(r.Source)), t.Topology().Rack(int(r.Destination))
	if from != to {
		return -1
	}
	return from
}

// since is all that was captured from a moment on.
func since(t *testing.T, all *network.Table, begin time.Time) *network.Table {
	t.Helper()
	span := all.Span()
	part, err := all.Cut(span.From+begin.Sub(network.Time(span.From)), span.To)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// cut is a cycle of what was captured, as the first moments of a Monday.
func cut(t *testing.T, all *network.Table, begin time.Time) *network.Table {
	t.Helper()
	from := all.Span().From + begin.Sub(network.Time(all.Span().From))
	part, err := all.Cut(from, from+*cycle)
	if err == nil {
		part, err = part.At(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s := part.Span(); s.To != *cycle || len(s.Missing) > 0 {
		t.Fatalf("captured from %s on: %s of %s, bins %v are missing", begin, s.To, *cycle, s.Missing)
	}
	return part
}

// captureReport is what of the report of traffic capture counts here.
type captureReport struct {
	Bins       int             `json:"bins"`
	Attributed network.Percent `json:"attributed_percent"`
	Lost       int             `json:"lost"`
	CPU        network.Percent `json:"cpu_percent"`
}

// capturing is a running traffic capture.
type capturing struct {
	cmd       *exec.Cmd
	names     []string
	file      string
	bin       time.Duration
	out, errs bytes.Buffer
}

// startCapture begins to capture, until it is stopped.
func (s *services) startCapture(t *testing.T, bin time.Duration) *capturing {
	t.Helper()
	text := ""
	for server, name := range s.names {
		text += fmt.Sprintf("%s,%s,default/rack-%d/server-%d\n", s.spaces.Address(spaceOf(server)), name, server/cell.servers, server%cell.servers)
	}
	c := startCapture(t, s.spaces.Folder, text, bin, min(bin/2, time.Second))
	c.names = s.names
	return c
}

// startCapture captures what happens in the namespaces of a folder, which have these addresses.
func startCapture(t *testing.T, spaces, known string, bin, poll time.Duration) *capturing {
	t.Helper()
	folder := t.TempDir()
	addresses := filepath.Join(folder, "addresses.csv")
	if err := os.WriteFile(addresses, []byte("address,node,group\n"+known), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &capturing{file: filepath.Join(folder, "captured.csv"), bin: bin}
	c.cmd = exec.CommandContext(t.Context(), filepath.Join(binDir, "nomad-placer"), "traffic", "capture", "-json", "-addresses", addresses, "-node", "here/host",
		"-namespaces", spaces, "-bin", bin.String(), "-poll", poll.String(), "-o", c.file)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.errs
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// read is what was captured so far between the servers of the cluster; what else this machine
// has to do with the network is no part of it.
func (c *capturing) read(t *testing.T) *network.Table {
	t.Helper()
	r, err := network.ReadTraffic(t.Context(), c.file, network.ReadOptions{Bin: c.bin})
	if err != nil {
		t.Fatalf("%v: %s", err, &c.errs)
	}
	topology, err := network.Uniform(cell.groups, cell.racks, cell.servers)
	if err != nil {
		t.Fatal(err)
	}
	number := make([]int32, len(r.Names)+1) // and the cloud
	for i := range number {
		number[i] = -1
		if i < len(r.Names) {
			number[i] = int32(slices.Index(c.names, r.Names[i]))
		}
	}
	var records []network.Record
	for _, q := range r.Table.Records() {
		if q.Source, q.Destination = number[q.Source], number[q.Destination]; q.Source >= 0 && q.Destination >= 0 {
			records = append(records, q)
		}
	}
	table, err := network.NewTable(topology, r.Table.Span(), records)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func (c *capturing) stop(t *testing.T) captureReport {
	t.Helper()
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("traffic capture: %v: %s", err, &c.errs)
	}
	var r captureReport
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil {
		t.Fatalf("traffic capture: %v: %s", err, &c.out)
	}
	return r
}

// play has a generator in every namespace send its part of the model for a cycle; it returns
// when they began, and what all of them did.
func (s *services) play(t *testing.T, m *network.Model, bin time.Duration, exact bool) (time.Time, replay.Report) {
	t.Helper()
	address := func(server int) string {
		return netip.AddrPortFrom(s.spaces.Address(spaceOf(server)), port+1).String()
	}
	var players []*player
	for server := range s.names {
		r := replay.Request{Server: server, Listen: address(server), ExactCounts: exact}
		for other := range s.names {
			if other != server {
				r.Peers = append(r.Peers, replay.Peer{Server: other, Address: address(other)})
			}
		}
		players = append(players, startPlayer(t, m, r, spaceOf(server), filepath.Join(s.spaces.Folder, spaceOf(server))))
	}
	begun := time.Now().Truncate(bin).Add(2 * bin) // after a bin without traffic
	if err := sleepUntil(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	for _, p := range players {
		p.tell(t)
	}
	if err := sleepUntil(t.Context(), begun.Add(*cycle+bin)); err != nil {
		t.Fatal(err)
	}
	var all replay.Report
	for _, p := range players {
		r := p.stop(t)
		all.Messages += r.Messages
		all.Asked += r.Asked
		all.Sent += r.Sent
		all.Capped += r.Capped
		all.Unanswered += r.Unanswered
		all.Seconds = max(all.Seconds, r.Seconds)
		all.Silent = append(all.Silent, r.Silent...)
	}
	return begun, all
}

// column is a comparison: a column of the tables.
type column struct {
	name           string
	original, made *network.Table
}

// compared makes the page.
type compared struct {
	t            *testing.T
	fitted, held *network.Table
	plain        generation
	windows      []network.Window
	columns      []column
}

// deviation compares the part of a cluster that some racks are, in some windows.
func (c compared) deviation(p column, racks []int, windows []network.Window) network.Deviation {
	c.t.Helper()
	activity := func(table *network.Table) *network.Activity {
		var of network.Traffic = table
		if racks != nil {
			subset, err := network.NewSubset(table.Topology(), racks)
			if err != nil {
				c.t.Fatal(err)
			}
			parts, err := network.Extract(c.t.Context(), table, []network.Subset{subset}, nil)
			if err != nil {
				c.t.Fatal(err)
			}
			of = parts[0]
		}
		a, err := network.Observe(c.t.Context(), of, windows, 1, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		return a
	}
	original := activity(p.original)
	d, err := network.Compare(original, activity(p.made).As(original), windows)
	if err != nil {
		c.t.Fatal(err)
	}
	return d
}

// racksThat are the racks with bursts, or without.
func racksThat(burst bool) []int {
	var out []int
	for rack, kind := range rackKinds {
		if kind.bursts == burst {
			out = append(out, rack)
		}
	}
	return out
}

// page is what was found, as text that a document can have.
func (c compared) page(bin time.Duration, capture captureReport) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d servers in %d racks; four loads of %s, bins of %s.\n\n", len(serverNames()), len(rackKinds), c.windows[0].End, bin)
	out.WriteString("| MB/s | captured | generated | apart, % | held out |\n| --- | ---: | ---: | ---: | ---: |\n")
	c.rates(&out)
	out.WriteString("\n| deviation over all servers, % | bound |")
	for _, p := range c.columns {
		fmt.Fprintf(&out, " %s |", p.name)
	}
	fmt.Fprintf(&out, "\n| --- | ---: |%s\n", strings.Repeat(" ---: |", len(c.columns)))
	for i, load := range loads {
		for _, bursts := range []bool{false, true} {
			c.row(&out, fmt.Sprintf("C.1 average, load %s, %s", load.name, kindName(bursts)), network.BoundWebmail, racksThat(bursts), c.windows[i:i+1],
				func(d network.Deviation) network.Percent { return d.Average.All() })
		}
	}
	c.row(&out, "C.2 average, the cluster", network.BoundAverage, nil, c.windows, func(d network.Deviation) network.Percent { return d.Average.All() })
	for rack, kind := range rackKinds {
		c.row(&out, "C.3 fluctuation, "+kind.name, network.BoundFluctuation, []int{rack}, c.windows, func(d network.Deviation) network.Percent { return d.Fluctuation.All() })
	}
	for rack, kind := range rackKinds {
		c.row(&out, "C.4 locality, "+kind.name, network.BoundLocality, []int{rack}, c.windows, func(d network.Deviation) network.Percent { return d.Locality.All() })
	}
	sent := c.plain.report
	fmt.Fprintf(&out, "\nThe generators sent %.2f of %.2f MB that they were asked for (%+.2f %%), in %d messages; the capture used %s %% of a core and attributed %s %% of what the interfaces counted.\n",
		float64(sent.Sent)/1e6, float64(sent.Asked)/1e6, 100*(float64(sent.Sent)/float64(sent.Asked)-1), sent.Messages, capture.CPU, capture.Attributed)
	return out.String()
}

func kindName(bursts bool) string {
	if bursts {
		return "varying"
	}
	return "static"
}

// row is a line of the tables: the error in percent in every column.
func (c compared) row(out *strings.Builder, name string, bound network.Percent, racks []int, windows []network.Window, of func(network.Deviation) network.Percent) {
	fmt.Fprintf(out, "| %s | %s |", name, bound)
	for _, p := range c.columns {
		found, mark := of(c.deviation(p, racks, windows)), ""
		if !(found <= bound) {
			mark = ", missed"
		}
		fmt.Fprintf(out, " %s%s |", found, mark)
	}
	out.WriteString("\n")
}

// rates are bytes per second by load and by how far apart the servers are.
func (c compared) rates(out *strings.Builder) {
	line := func(name string, counts func(r network.Record) bool, length time.Duration) {
		rate := func(table *network.Table) float64 { return bytesOf(table, counts) / length.Seconds() / 1e6 }
		x, y := rate(c.fitted), rate(c.plain.table)
		fmt.Fprintf(out, "| %s | %.3f | %.3f | %+.1f | %.3f |\n", name, x, y, 100*(y/x-1), rate(c.held))
	}
	line("all", anywhere, *cycle)
	for i, load := range loads {
		w := c.windows[i]
		line("load "+load.name, func(r network.Record) bool { return r.At >= w.Start && r.At < w.End }, w.End-w.Start)
	}
	for rack, kind := range rackKinds {
		line("within "+kind.name, func(r network.Record) bool { return rackOfRecord(c.fitted, r) == rack }, *cycle)
	}
	topology := c.fitted.Topology()
	sameGroup := func(r network.Record) bool {
		return topology.Group(int(r.Source)) == topology.Group(int(r.Destination))
	}
	line("between racks of a group", func(r network.Record) bool { return rackOfRecord(c.fitted, r) < 0 && sameGroup(r) }, *cycle)
	line("between groups", func(r network.Record) bool { return !sameGroup(r) }, *cycle)
}
