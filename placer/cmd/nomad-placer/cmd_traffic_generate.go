package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// trafficGenerate is one run of the command with its flags.
type trafficGenerate struct {
	out                command.OutputFlags
	output             string
	begin, length, bin time.Duration
	seed               uint64
	times              int
	mix                string
	events, exact      bool
	flowSizes, flows   string
	row                int // below 0: none
}

func trafficGenerateCommand() *command.Command {
	return &command.Command{
		Name: "traffic generate", Arguments: "FILE", MinArgs: 1, MaxArgs: 1, Synopsis: "Generate network traffic from a model",
		About: "Generates traffic as a table that traffic fit, show and compare read: what every server sends every other in every bin, or with -events message by message. " +
			"Windows of the model are active when they are due. Servers are called by number, as a model has no names. With -times, -mix and -flow-sizes it answers what if: a larger cluster, more or less of a kind of traffic, flows of published sizes. " +
			"FILE is what traffic fit wrote. The same model, options and seed give the same bytes.",
		Example: "nomad-placer traffic generate -o day.csv.gz cluster.echo\n" +
			"nomad-placer traffic generate -times 2 -mix other-group=1.5 -o more.csv cluster.echo",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c trafficGenerate
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Write the table to this `file`, packed where it ends in .gz, or with - to standard output. Without it the traffic is only summed up.")
			f.DurationVar(&c.begin, "from", 0, "Where in the week it begins: a `span` since Monday, 00:00.")
			f.DurationVar(&c.length, "for", 24*time.Hour, "How `long` it lasts.")
			f.DurationVar(&c.bin, "bin", 0, "How long a bin is; 0 is what the model was fitted to.")
			f.Uint64Var(&c.seed, "seed", 1, "The seed of everything that is drawn.")
			f.IntVar(&c.times, "times", 1, "What if the cluster had this many times the servers, each with the load it has.")
			f.StringVar(&c.mix, "mix", "", "What if kinds of traffic were more or less frequent: a `list` such as same-rack=0.5,same-group=2,other-group=2,reads=1,writes=0.8.")
			f.BoolVar(&c.events, "events", false, "Message by message, not added up by bin.")
			f.BoolVar(&c.exact, "exact-counts", false, exactCountsHelp)
			f.StringVar(&c.flowSizes, "flow-sizes", "", "Cut what a pair moves in a bin into flows of a size distribution in this `file` (columns workload, bytes, cdf_percent).")
			f.StringVar(&c.flows, "flows", "", "The `workload` of -flow-sizes; it may be left out where there is only one.")
			f.IntVar(&c.row, "row", -1, "In place of traffic, write the part of the model that this server plays, as a traffic block of the ibench driver takes it. -1 is none.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

// generatedReport is what -json prints.
type generatedReport struct {
	Traffic        trafficReport `json:"traffic"`
	Seed           uint64        `json:"seed"`
	Records        int           `json:"records"`
	Bytes          int64         `json:"bytes"`
	BytesPerSecond float64       `json:"bytes_per_second"`
	Written        string        `json:"written,omitempty"`
}

func (c *trafficGenerate) run(ctx context.Context, s *command.Shell, path string) error {
	m, err := readTrafficModel(path)
	if err != nil {
		return err
	}
	if m, err = c.whatIf(m); err != nil {
		return err
	}
	if c.row >= 0 {
		return c.writeRow(s, m)
	}
	span := network.Span{From: c.begin, To: c.begin + c.length, Bin: c.bin}
	if span.Bin == 0 {
		span.Bin = m.Capture.Bin
	}
	line := command.NewProgress(s, command.StillEvery)
	defer line.End()
	progress := line.Share("traffic generate")
	made, err := m.Generate(ctx, network.Generation{Span: span, Seed: c.seed, ExactCounts: c.exact, Workers: runtime.NumCPU(), Progress: func(share float64) { progress(share, "generating") }})
	if err != nil {
		return command.WithHint(err, "-from and -for are whole bins")
	}
	if made, err = c.shape(made); err != nil {
		return err
	}
	line.End()
	return c.finish(s, made)
}

// writeRow writes the part of a model that one server plays.
func (c *trafficGenerate) writeRow(s *command.Shell, m *network.Model) error {
	text, err := replay.Row(m, c.row)
	if err != nil {
		return command.WithHint(err, "servers are numbered from 0; traffic show -server has their number")
	}
	if len(text) > variableBytes {
		fmt.Fprintf(s.Err, "Note: %s do not fit into a Nomad Variable, which holds 64 KiB: hand them to the task as a file\n", wording.Bytes(float64(len(text))))
	}
	if c.output == "" || c.output == "-" {
		_, err := fmt.Fprintln(s.Out, text)
		return err
	}
	return writeWhole(c.output, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	})
}

// variableBytes is what a Nomad Variable holds.
const variableBytes = 64 << 10

// whatIf changes the model as the options say.
func (c *trafficGenerate) whatIf(m *network.Model) (*network.Model, error) {
	if c.mix != "" {
		mix, err := parseMix(c.mix)
		if err != nil {
			return nil, err
		}
		if m, err = m.WithMix(mix); err != nil {
			return nil, err
		}
	}
	if c.times == 1 {
		return m, nil
	}
	return m.Scale(c.times)
}

func parseMix(text string) (network.Mix, error) {
	mix := network.Unchanged()
	kinds := map[string]*float64{"same-rack": &mix.SameRack, "same-group": &mix.SameGroup, "other-group": &mix.OtherGroup, "reads": &mix.Reads, "writes": &mix.Writes}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		to, known := kinds[name]
		v, err := strconv.ParseFloat(value, 64)
		if !known || err != nil || !(v >= 0) {
			return mix, command.WithHint(command.UsageError("-mix: %q is not a kind of traffic and how many times as frequent it is", part), "known: same-rack, same-group, other-group, reads, writes; 0 leaves one out")
		}
		*to = v
	}
	return mix, nil
}

// shape adds up by bin, or cuts into flows.
func (c *trafficGenerate) shape(made *network.Table) (*network.Table, error) {
	if c.flowSizes == "" {
		if c.flows != "" {
			return nil, command.UsageError("-flows names a workload of -flow-sizes")
		}
		if c.events {
			return made, nil
		}
		return made.Binned(), nil
	}
	all, err := network.ReadFlowSizes(os.DirFS(filepath.Dir(c.flowSizes)), filepath.Base(c.flowSizes))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Workload)
		if d.Workload == c.flows || (c.flows == "" && len(all) == 1) {
			return network.Flows(made.Binned(), d, c.seed)
		}
	}
	slices.Sort(names)
	return nil, command.UsageError("-flows is one of: %s", strings.Join(names, ", "))
}

func (c *trafficGenerate) finish(s *command.Shell, made *network.Table) error {
	data := trafficData{made, nil, "generated"}
	report := generatedReport{Traffic: data.report(), Seed: c.seed, Records: len(made.Records()), Written: c.output}
	for _, r := range made.Records() {
		report.Bytes += r.Bytes
	}
	report.BytesPerSecond = float64(report.Bytes) / made.Span().Captured().Seconds()
	to := s.Out
	switch c.output {
	case "":
	case "-":
		if err := network.WriteTable(s.Out, made, data.serverName); err != nil {
			return err
		}
		to = s.Err
	default:
		if err := writeWhole(c.output, func(w io.Writer) error { return c.writeTable(w, data) }); err != nil {
			return err
		}
	}
	return c.out.PrintTo(s, to, report, func(p *command.Page) {
		report.Traffic.page(p)
		p.Fact("Records", wording.Number(float64(report.Records)))
		p.Fact("Load", wording.Bytes(report.BytesPerSecond)+"/s")
		p.Fact("Seed", fmt.Sprint(report.Seed))
		if c.output == "" {
			p.Fact("Written", "nothing; -o names a file")
		} else {
			p.Fact("Written", c.output)
		}
	})
}

func (c *trafficGenerate) writeTable(w io.Writer, data trafficData) error {
	if !strings.HasSuffix(c.output, ".gz") {
		return network.WriteTable(w, data, data.serverName)
	}
	zip := gzip.NewWriter(w)
	return errors.Join(network.WriteTable(zip, data, data.serverName), zip.Close())
}
