package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/endpoints"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture"
)

// trafficCapture is one run of the command with its flags.
type trafficCapture struct {
	nomad     nomadFlags
	out       command.OutputFlags
	output    string
	bin, poll time.Duration
	length    time.Duration
	node      string
	rackMeta  string
	addresses string
	folders   string
}

func trafficCaptureCommand() *command.Command {
	return &command.Command{
		Name: "traffic capture", Synopsis: "Capture who of this node exchanges how much with whom",
		About: "Adds a row to a table for what this node, or a task group on it, sent to another or to the cloud in each bin, from the kernel's counters of TCP connections. It looks at no packet and loads nothing into the kernel. " +
			"Run it on every node, as root; a folder with the tables of all nodes is what traffic fit and traffic show read. " +
			"Names come from Nomad: nodes are datacenter/rack/node, task groups namespace/job/group. Where there is no Nomad they come from -addresses. Addresses are forgotten once they have a name. " +
			"A connection is in the table of the node that began it. It begins with the next whole bin and ends with the last whole one; interrupt it at any time.",
		Example: "nomad-placer traffic capture -o /var/lib/traffic/$(hostname).csv\n" +
			"nomad-placer traffic capture -addresses addresses.csv -node rack-1/web-1 -bin 10s -for 10m -o web-1.csv",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c trafficCapture
			c.nomad.add(f)
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Add to the table in this `file`, which is made if need be; - is the standard output.")
			f.DurationVar(&c.bin, "bin", 5*time.Minute, "How long a bin is.")
			f.DurationVar(&c.poll, "poll", time.Second, "How often ended connections are read. The kernel keeps about 8,000 of a namespace.")
			f.DurationVar(&c.length, "for", 0, "How long to capture; 0 is until it is interrupted.")
			f.StringVar(&c.node, "node", "", "The `node` this is: its ID in Nomad, by default that of the agent that answers; with -addresses its name in the table.")
			f.StringVar(&c.rackMeta, "rack-meta", "rack", "The `key` of a node's meta that names its rack. Nodes without it are those of a datacenter.")
			f.StringVar(&c.addresses, "addresses", "", "In place of Nomad, a `file` with the columns address (with or without a port), node and group.")
			f.StringVar(&c.folders, "namespaces", strings.Join(capture.Folders(), ","), "The `folders`, with commas between, in which the network namespaces of allocations are.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				switch {
				case c.output == "":
					return command.UsageError("-o names the table")
				case c.bin < time.Second || c.poll < 10*time.Millisecond || c.poll > c.bin:
					return command.UsageError("-bin is at least 1s, and -poll between 10ms and a bin")
				case c.length < 0 || (c.length > 0 && c.length < c.bin):
					return command.UsageError("-for is at least one bin")
				case c.addresses != "" && c.node == "":
					return command.UsageError("-addresses needs -node, the name of this node")
				}
				return c.run(ctx, s)
			}
		},
	}
}

// trafficCaptureReport is what -json prints.
type trafficCaptureReport struct {
	Node       string  `json:"node"`
	Bins       int     `json:"bins"`
	BinSeconds float64 `json:"bin_s"`
	Rows       int     `json:"rows"`
	Bytes      int64   `json:"bytes"`
	// AttributedPercent is which part of what the interfaces of the allocations counted
	// is in connections. The rest is headers, retransmissions and other protocols.
	AttributedPercent network.Percent `json:"attributed_percent"`
	Lost              int             `json:"lost"`     // notices of connections that the kernel did not keep
	Vanished          int             `json:"vanished"` // namespaces that ended meanwhile
	NotAnswered       int             `json:"not_answered"`
	CPUPercent        network.Percent `json:"cpu_percent"` // of a core
	Written           string          `json:"written"`

	counted, talked uint64
}

func (c *trafficCapture) run(ctx context.Context, s *command.Shell) error {
	book, err := c.open(ctx)
	if err != nil {
		return err
	}
	self, err := book.name(ctx, book.self)
	if err != nil {
		return err
	}
	table, err := openCaptured(s, c.output, capturedHeader, "traffic capture")
	if err != nil {
		return err
	}
	defer table.close()
	watch, err := capture.New(strings.Split(c.folders, ","))
	if err != nil {
		return err
	}
	defer watch.Close()
	r := trafficCaptureReport{Node: self, BinSeconds: c.bin.Seconds(), Written: c.output}
	begun, used := s.Now(), cpuTime()
	if err := c.bins(ctx, s, watch, book, table, &r); err != nil {
		return err
	}
	r.CPUPercent = network.PercentOf((cpuTime() - used).Seconds(), s.Now().Sub(begun).Seconds())
	r.AttributedPercent = network.PercentOf(float64(r.talked), float64(r.counted))
	to := s.Out
	if c.output == "-" {
		to = s.Err
	}
	return c.out.PrintTo(s, to, r, r.page)
}

// bins captures bin by bin until the time is over or the command is interrupted.
func (c *trafficCapture) bins(ctx context.Context, s *command.Shell, watch *capture.Capture, book *addressBook, table *captured, r *trafficCaptureReport) error {
	begin := s.Now().Truncate(c.bin).Add(c.bin)
	end := begin.Add(c.length.Truncate(c.bin))
	for at := begin.Add(-c.bin); c.length == 0 || at.Before(end); at = at.Add(c.bin) {
		over, err := c.until(ctx, s, watch, at.Add(c.bin))
		if err != nil || over {
			return err
		}
		if err := book.refresh(ctx); err != nil {
			r.NotAnswered++ // who is where is still known from the last time
		}
		sample, err := watch.Read(capture.Endpoint{Node: book.self}, book.known)
		if err != nil {
			return err
		}
		if at.Before(begin) {
			continue // part of a bin
		}
		if err := r.bin(ctx, table, book, at, sample); err != nil {
			return err
		}
	}
	return nil
}

// until polls until a moment; over reports an interruption.
func (c *trafficCapture) until(ctx context.Context, s *command.Shell, watch *capture.Capture, moment time.Time) (over bool, err error) {
	for {
		left := moment.Sub(s.Now())
		if left <= 0 {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return true, nil
		case <-s.After(min(left, c.poll)):
		}
		if err := watch.Poll(); err != nil {
			return false, err
		}
	}
}

// bin writes the rows of a bin.
func (r *trafficCaptureReport) bin(ctx context.Context, table *captured, book *addressBook, at time.Time, sample capture.Sample) error {
	r.Bins++
	r.Lost += sample.Lost
	r.Vanished += sample.Vanished
	for _, counted := range sample.Counted {
		if counted.Group != "" {
			r.counted += counted.Sent + counted.Received
			r.talked += counted.TalkedSent + counted.TalkedReceived
		}
	}
	flows := sample.Flows
	if len(flows) == 0 { // says that the bin was captured
		flows = []capture.Flow{{From: capture.Endpoint{Node: book.self}, To: capture.Outside}}
	}
	for _, f := range flows {
		for _, e := range []*capture.Endpoint{&f.From, &f.To} {
			name, err := book.name(ctx, e.Node)
			if err != nil {
				return err
			}
			e.Node = name
		}
		table.row(at, f)
		r.Rows++
		r.Bytes += f.Bytes
	}
	return table.flush()
}

func (r trafficCaptureReport) page(p *command.Page) {
	p.Fact("Node", r.Node)
	p.Fact("Captured", fmt.Sprintf("%s of %s", wording.Count(r.Bins, "bin"), wording.Duration(time.Duration(r.BinSeconds*float64(time.Second)))))
	p.Fact("Rows", fmt.Sprintf("%d, with %s", r.Rows, wording.Bytes(float64(r.Bytes))))
	p.Fact("Attributed", percentText(r.AttributedPercent)+" of what the interfaces of allocations counted is in connections; the rest is headers, retransmissions and other protocols")
	p.Fact("Processor", percentText(r.CPUPercent)+" of a core")
	if r.Vanished > 0 {
		p.Fact("Ended", wording.Count(r.Vanished, "network namespace"))
	}
	if r.Lost > 0 {
		p.Item(command.Warn, fmt.Sprintf("%d times the kernel had more ended connections than it keeps, or connections without a notice: their bytes are missing (poll more often)", r.Lost))
	}
	if r.NotAnswered > 0 {
		p.Item(command.Warn, fmt.Sprintf("Nomad did not answer at the end of %s: allocations that were new then count as the cloud", wording.Count(r.NotAnswered, "bin")))
	}
	p.Fact("Written", r.Written)
}

// cpuTime is what the process has used of the processor.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// addressBook says who is behind addresses, by what Nomad or a file says.
type addressBook struct {
	cluster *endpoints.Cluster // nil: a file
	self    string             // ID, or name in a file
	known   *capture.Addresses
}

func (c *trafficCapture) open(ctx context.Context) (*addressBook, error) {
	if c.addresses != "" {
		known, err := readAddressFile(c.addresses)
		return &addressBook{self: c.node, known: known}, err
	}
	client, err := c.nomad.client()
	if err != nil {
		return nil, err
	}
	b := &addressBook{cluster: endpoints.New(client, c.rackMeta), self: c.node}
	if b.self == "" {
		if b.self, err = b.cluster.Self(ctx); err != nil {
			return nil, command.WithHint(err, "-address names the agent of this node, -node the node; -addresses works without Nomad")
		}
	}
	return b, b.refresh(ctx)
}

// refresh reads who is where now.
func (b *addressBook) refresh(ctx context.Context) error {
	if b.cluster == nil {
		return nil
	}
	list, err := b.cluster.List(ctx, b.self)
	if err != nil {
		return err
	}
	b.known = capture.NewAddresses()
	for _, e := range list {
		b.known.Add(e.At, capture.Endpoint{Node: e.Node, Group: e.Group})
	}
	return nil
}

// name is what a table calls a node.
func (b *addressBook) name(ctx context.Context, node string) (string, error) {
	if b.cluster == nil || node == network.CloudName {
		return node, nil
	}
	return b.cluster.Name(ctx, node)
}

// readAddressFile reads the file of -addresses.
func readAddressFile(path string) (*capture.Addresses, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.Comment, rows.FieldsPerRecord = '#', 3
	header, err := rows.Read()
	if err != nil || strings.Join(header, ",") != "address,node,group" {
		return nil, command.WithHint(fmt.Errorf("%s:1: the header is not address,node,group", path), "a row such as 10.0.0.7:80,rack-1/web-1,default/shop/web; without a port the whole address is the group's; the group may be empty")
	}
	known := capture.NewAddresses()
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return known, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := rows.FieldPos(0)
		at, err := parseEndpoint(cells[0])
		if err != nil || cells[1] == "" {
			return nil, command.WithHint(fmt.Errorf("%s:%d: %q of node %q is no address", path, line, cells[0], cells[1]), "write 10.0.0.7, 10.0.0.7:80 or [fd00::7]:80, and the name of its node")
		}
		known.Add(at, capture.Endpoint{Node: cells[1], Group: cells[2]})
	}
}

func parseEndpoint(text string) (netip.AddrPort, error) {
	if whole, err := netip.ParseAddr(text); err == nil {
		return netip.AddrPortFrom(whole, 0), nil
	}
	return netip.ParseAddrPort(text)
}

// captured is the table that is written: each bin in one piece.
type captured struct {
	file *os.File // nil: standard output
	to   io.Writer
	text strings.Builder
	csv  *csv.Writer
}

// capturedHeader is that of a table of one's own, with the task groups.
const capturedHeader = "unix_s,source,destination,bytes,direction,source_group,destination_group"

// openCaptured opens a table with a header to add to it; writer is the command that writes such.
func openCaptured(s *command.Shell, path, header, writer string) (*captured, error) {
	t := &captured{to: s.Out}
	t.csv = csv.NewWriter(&t.text)
	if path != "-" {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		t.file, t.to = file, file
		has := make([]byte, len(header)+1)
		n, err := io.ReadFull(file, has)
		switch {
		case n == 0 && errors.Is(err, io.EOF):
		case string(has[:n]) == header+"\n":
			return t, nil
		default:
			t.close()
			return nil, command.WithHint(fmt.Errorf("%s:1: it is no captured table", path), "-o names a new file, or one that "+writer+" wrote")
		}
	}
	t.text.WriteString(header + "\n")
	return t, t.flush()
}

func (t *captured) row(at time.Time, f capture.Flow) {
	// An error of a strings.Builder there is not.
	_ = t.csv.Write([]string{
		strconv.FormatInt(at.Unix(), 10), f.From.Node, f.To.Node, strconv.FormatInt(f.Bytes, 10), f.Direction.String(), f.From.Group, f.To.Group,
	})
}

func (t *captured) flush() error {
	t.csv.Flush()
	_, err := io.WriteString(t.to, t.text.String())
	t.text.Reset()
	return err
}

func (t *captured) close() {
	if t.file != nil {
		_ = t.file.Close() // every bin was written already
	}
}
