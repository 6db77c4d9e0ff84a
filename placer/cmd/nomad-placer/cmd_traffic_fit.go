package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// trafficFit is one run of the command with its flags.
type trafficFit struct {
	from    trafficFlags
	out     command.OutputFlags
	output  string
	windows string
	levels  int
	options network.FitOptions
	curves  bool
}

func trafficFitCommand() *command.Command {
	return &command.Command{
		Name: "traffic fit", Arguments: "[FILE]", MaxArgs: 1, Synopsis: "Fit a model to the network traffic of a cluster",
		About: "Reads who sent how much to whom, and fits a model that describes and regenerates it: a hierarchical Markov chain for every window of the week, over groups of racks, racks and servers (Delimitrou 2015, appendix C). " +
			"FILE is a table with the columns t_s (or unix_s), source, destination and bytes (or bytes_total), or a public data set; names of servers are group/rack/server, or cloud for what is outside. " +
			"The model has no names, addresses or payload. Without -o nothing is written. The same traffic and options give the same bytes.",
		Example: "nomad-placer traffic fit -o cluster.echo traffic.csv\n" +
			"nomad-placer traffic fit -synthetic 5x2x48 -o cluster.echo",
		Setup: func(f *flag.FlagSet) command.Runner {
			c := trafficFit{options: network.DefaultFit()}
			c.from.add(f)
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Write the model to this `file`.")
			f.StringVar(&c.windows, "windows", "study", "The `windows` that have a chain each: study (ten), days (24), one, auto (as the load and its pairs change), or a list such as \"mon-fri 00-12,mon-fri 12-24,sat-sun 00-24\".")
			f.IntVar(&c.levels, "levels", int(c.options.Levels), "How many levels are told apart: 1 groups of racks, 2 racks as well, 3 servers as well.")
			f.BoolVar(&c.options.Flat, "flat", false, "All pairs of servers, without hierarchy.")
			f.IntVar(&c.options.TopPairs, "top-pairs", 0, "Keep so many pairs of servers in different racks exactly, those with the most bytes in each window.")
			f.Float64Var(&c.options.DropBelow, "drop-below", c.options.DropBelow, "Leave out transitions below this share of a window's bytes. What is left out is counted.")
			f.BoolVar(&c.curves, "curves", false, "Also fit every server's traffic over time, as a sum of known shapes.")
			f.IntVar(&c.options.Workers, "workers", 0, "How many windows are fitted at once; 0 is one per processor. It does not change the result.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				if err := c.from.checkArguments(args, 0, "FILE"); err != nil {
					return err
				}
				if c.levels < 1 || c.levels > int(network.ServerLevel) {
					return command.UsageError("-levels is 1, 2 or 3, not %d", c.levels)
				}
				if c.windows != autoWindows {
					var err error
					if c.options.Windows, err = network.ParseWindows(c.windows); err != nil {
						return command.UsageError("-windows: %s", err)
					}
				}
				c.options.Levels = network.Level(c.levels)
				return c.run(ctx, s, args)
			}
		},
	}
}

// autoWindows are chosen by the traffic.
const autoWindows = "auto"

// trafficFitReport is what -json prints.
type trafficFitReport struct {
	Traffic         trafficReport   `json:"traffic"`
	Windows         []windowReport  `json:"windows"`
	Transitions     int             `json:"transitions"`
	MostTransitions int             `json:"most_transitions"` // of one window
	FlatTransitions int             `json:"flat_transitions"` // of one window
	DroppedPercent  network.Percent `json:"dropped_percent"`
	FileBytes       int64           `json:"file_bytes"`
	FitSeconds      float64         `json:"fit_seconds"`
	Curves          int             `json:"curves"`
	Written         string          `json:"written,omitempty"`
}

// windowReport is one window of a model.
type windowReport struct {
	Window      string          `json:"window"`
	Seconds     float64         `json:"seconds"`
	Bytes       float64         `json:"bytes"`
	Transitions int             `json:"transitions"`
	Dropped     network.Percent `json:"dropped_percent"`
	LargestLoss network.Percent `json:"largest_loss_percent"`
}

func (c *trafficFit) run(ctx context.Context, s *command.Shell, args []string) error {
	if c.options.Workers <= 0 {
		c.options.Workers = runtime.NumCPU()
	}
	line := command.NewProgress(s, command.StillEvery)
	defer line.End()
	progress := line.Share("traffic fit")
	data, err := c.from.open(ctx, append(args, "")[0], progress)
	if err != nil {
		return err
	}
	if c.windows == autoWindows {
		c.options.Windows, err = network.ChooseWindows(ctx, data, network.StudyWindows(), func(share float64) { progress(share/3, "choosing windows") })
		if err != nil {
			return err
		}
	}
	c.options.Progress = func(share float64) { progress(share, "fitting the windows") }
	begun := s.Now()
	m, err := network.Fit(ctx, data, c.options)
	if err != nil {
		return err
	}
	took := s.Now().Sub(begun)
	m.Capture.Method = data.source
	if data.reading != nil {
		m.Capture.Method = data.reading.Format // the name of a file may say whose it is
	}
	if c.curves {
		if err := c.fitCurves(ctx, data, m, progress); err != nil {
			return err
		}
	}
	report := trafficFitReportOf(m, data.report())
	report.FitSeconds, report.Written = took.Seconds(), c.output
	if report.FileBytes, err = c.write(m); err != nil {
		return err
	}
	line.End()
	return c.out.Print(s, report, report.page)
}

// fitCurves adds the temporal model of every server.
func (c *trafficFit) fitCurves(ctx context.Context, data trafficData, m *network.Model, progress func(float64, string)) error {
	a, err := network.Observe(ctx, data, c.options.Windows, c.options.Workers, func(share float64) { progress(share/10, "reading again") })
	if err != nil {
		return err
	}
	m.Servers, err = network.FitServers(ctx, a, c.options.Workers, func(share float64) { progress(0.1+0.9*share, "fitting servers") })
	return err
}

// write writes the model, or only finds out how large it is.
func (c *trafficFit) write(m *network.Model) (int64, error) {
	if c.output == "" {
		return m.Bytes()
	}
	var size int64
	err := writeWhole(c.output, func(w io.Writer) error {
		var err error
		size, err = m.WriteTo(w)
		return err
	})
	return size, err
}

func trafficFitReportOf(m *network.Model, traffic trafficReport) trafficFitReport {
	r := trafficFitReport{
		Traffic: traffic, Transitions: m.Transitions(), Curves: len(m.Servers),
		MostTransitions: network.Transitions(m.Topology, m.Levels, true), FlatTransitions: network.FlatTransitions(m.Topology, m.Levels),
	}
	var dropped, all float64
	for _, c := range m.Chains {
		r.Windows = append(r.Windows, windowReport{
			Window: c.Window.String(), Seconds: c.Time.Seconds(), Bytes: c.Bytes, Transitions: len(c.Pairs),
			Dropped: network.PercentOf(c.DroppedBytes, c.Bytes), LargestLoss: network.Percent(100 * c.LargestLoss),
		})
		dropped += c.DroppedBytes
		all += c.Bytes
	}
	r.DroppedPercent = network.PercentOf(dropped, all)
	return r
}

func (r trafficFitReport) page(p *command.Page) {
	r.Traffic.page(p)
	r.modelPage(p)
	p.Fact("Fitted in", wording.Number(r.FitSeconds)+" s")
	if r.Written == "" {
		p.Fact("Written", "nothing; -o names a file")
	} else {
		p.Fact("Written", r.Written)
	}
}

// modelPage is what is known of the model itself.
func (r trafficFitReport) modelPage(p *command.Page) {
	p.Fact("Transitions", fmt.Sprintf("%s in all windows; one window has at most %s, without hierarchy %s",
		wording.Number(float64(r.Transitions)), wording.Number(float64(r.MostTransitions)), wording.Number(float64(r.FlatTransitions))))
	p.Fact("Left out", percentText(r.DroppedPercent)+" of the bytes")
	p.Fact("Size", wording.Bytes(float64(r.FileBytes)))
	if r.Curves > 0 {
		p.Fact("Curves", fmt.Sprintf("of %s", wording.Count(r.Curves, "server")))
	}
	var rows [][]command.Cell
	for _, w := range r.Windows {
		rows = append(rows, []command.Cell{
			command.Text(w.Window), command.Number(wording.Bytes(w.Bytes/w.Seconds) + "/s"), command.Number(wording.Number(float64(w.Transitions))), percentCell(w.Dropped), percentCell(w.LargestLoss),
		})
	}
	p.Section("Windows")
	p.Table([]string{"Window", "Traffic", "Transitions", "Left out", "of one server at most"}, rows)
}
