package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// trafficCompare is one run of the command with its flags.
type trafficCompare struct {
	from  trafficFlags
	out   command.OutputFlags
	runs  int
	page  string
	parts string
	exact bool
	sent  string
}

// exactCountsHelp says what a generation with exact counts is.
const exactCountsHelp = "Draw each kind of traffic of a transition as often in a window as it was seen in it. The source draws each anew, and has more or fewer bursts than there were."

func trafficCompareCommand() *command.Command {
	return &command.Command{
		Name: "traffic compare", Arguments: "[MODEL TRAFFIC]", MaxArgs: 2, Synopsis: "Say how far what a model generates is from traffic",
		About: "Generates traffic like TRAFFIC from MODEL and compares both: average activity, fluctuation over time, and who talks to whom, over the 25, 50, 75, 95 and 100 % least loaded servers. " +
			"Where the model was fitted to the same traffic that is in-sample; traffic of another week says how good the model is as a forecast. A model of a cluster of another size is an error. " +
			"With -synthetic the traffic is that of a declared cluster. Without MODEL it repeats the experiments of the source on it (Delimitrou 2015, tables C.1 to C.4): published numbers, ours, a week that was held out, and other models. That takes some minutes on 10x10x48.",
		Example: "nomad-placer traffic compare cluster.echo next-week.csv\n" +
			"nomad-placer traffic compare -synthetic 5x2x48 -weeks 2 -week 2 cluster.echo\n" +
			"nomad-placer traffic compare -synthetic 10x10x48 -seed 1 -report study.html",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c trafficCompare
			c.from.add(f)
			c.out.Add(f)
			f.IntVar(&c.runs, "runs", 1, "How often traffic is generated; the deviations are the mean over the runs. The source has 5.")
			f.StringVar(&c.page, "report", "", "Write an HTML page with pictures to this `file`.")
			f.StringVar(&c.parts, "parts", "", "With -synthetic only these `parts` of the experiments, with commas between: "+strings.Join(network.StudyParts, ", ")+".")
			f.BoolVar(&c.exact, "exact-counts", false, exactCountsHelp)
			f.StringVar(&c.sent, "sent", "", "In place of what MODEL draws, what generators sent: a table that was captured of them, as long as TRAFFIC, in a `file`.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				switch {
				case c.runs < 1:
					return command.UsageError("-runs is at least 1")
				case c.sent != "" && (c.from.synthetic != "" || c.runs > 1 || c.exact):
					return command.UsageError("-sent is traffic that there is: it goes with MODEL and TRAFFIC alone")
				case c.from.synthetic != "" && len(args) == 0:
					return c.study(ctx, s)
				case c.from.synthetic == "" && len(args) == 2 && c.parts == "":
					return c.compare(ctx, s, args[0], args[1])
				case c.from.synthetic != "" && len(args) == 1 && c.parts == "":
					return c.compare(ctx, s, args[0], "")
				}
				return command.UsageError("traffic compare takes exactly: MODEL TRAFFIC, or -synthetic with MODEL or without")
			}
		},
	}
}

// deviation compares what the model generates, or what was captured of generators.
func (c *trafficCompare) deviation(ctx context.Context, m *network.Model, data trafficData, original *network.Activity, windows []network.Window, progress func(share float64)) (network.Deviation, *network.Activity, error) {
	if c.sent == "" {
		return network.CompareRuns(ctx, m, original, windows, c.runs, network.Generation{
			Seed: c.from.seed, ExactCounts: c.exact, Workers: runtime.NumCPU(), Progress: progress,
		})
	}
	sent, err := c.readSent(ctx, data, progress)
	if err != nil {
		return network.Deviation{}, nil, err
	}
	made, err := network.Observe(ctx, sent, windows, runtime.NumCPU(), nil)
	if err != nil {
		return network.Deviation{}, nil, err
	}
	made = made.As(original)
	d, err := network.Compare(original, made, windows)
	return d, made, err
}

// readSent reads the table of -sent as one of the time of the traffic.
func (c *trafficCompare) readSent(ctx context.Context, data trafficData, progress func(share float64)) (*network.Table, error) {
	from := c.from
	from.week = 0
	sent, err := from.openAll(ctx, c.sent, func(share float64, _ string) { progress(share) })
	if err != nil {
		return nil, err
	}
	want, got := data.Span(), sent.Span()
	switch {
	case !slices.Equal(sent.reading.Names, data.reading.Names) || !sent.Topology().Equal(data.Topology()):
		return nil, command.WithHint(fmt.Errorf("%s has %s, the traffic %s", c.sent, sent.Topology(), data.Topology()), "both must name the same servers; a server without traffic needs a row of 0 bytes")
	case want.Bins() != got.Bins() || want.Bin != got.Bin:
		return nil, command.WithHint(fmt.Errorf("%s has %d bins of %s, the traffic %d of %s", c.sent, got.Bins(), got.Bin, want.Bins(), want.Bin), "both must be as long; cut what was captured before the generators began and after they ended")
	}
	return sent.reading.Table.At(want.From)
}

// compared is what -json prints of a model against traffic.
type compared struct {
	Sent      string            `json:"sent,omitempty"` // table of what generators sent; empty: the model was drawn from
	Traffic   trafficReport     `json:"traffic"`
	Seed      uint64            `json:"seed"`
	Runs      int               `json:"runs"`
	Deviation network.Deviation `json:"deviation"`
	Report    string            `json:"report,omitempty"`
}

func (c *trafficCompare) compare(ctx context.Context, s *command.Shell, modelPath, trafficPath string) error {
	m, err := readTrafficModel(modelPath)
	if err != nil {
		return err
	}
	line := command.NewProgress(s, command.StillEvery)
	defer line.End()
	progress := line.Share("traffic compare")
	data, err := c.from.open(ctx, trafficPath, progress)
	if err != nil {
		return err
	}
	if err := m.Fits(data.Topology()); err != nil {
		return command.WithHint(err, "fit a model to this traffic; servers are counted as traffic fit counts them, so both files must name the same ones")
	}
	windows := make([]network.Window, len(m.Chains))
	for i, chain := range m.Chains {
		windows[i] = chain.Window
	}
	original, err := network.Observe(ctx, data, windows, runtime.NumCPU(), func(share float64) { progress(share/4, "adding up") })
	if err != nil {
		return err
	}
	if original.Total() == 0 {
		return command.WithHint(fmt.Errorf("%s: no traffic in any window of the model", data.source), "the model's windows are other parts of the week; traffic show names them")
	}
	d, made, err := c.deviation(ctx, m, data, original, windows, func(share float64) { progress(0.25+0.75*share, "generating") })
	if err != nil {
		return err
	}
	result := compared{Sent: c.sent, Traffic: data.report(), Seed: c.from.seed, Runs: c.runs, Deviation: d, Report: c.page}
	if c.page != "" {
		if err := writeTrafficPage(c.page, comparePictures(original.Maps(), made.Maps(), d, data.source)); err != nil {
			return err
		}
	}
	line.End()
	return c.out.Print(s, result, func(p *command.Page) {
		result.Traffic.page(p)
		if result.Sent != "" {
			p.Fact("Compared with", result.Sent+", captured of generators")
		} else {
			p.Fact("Seed", fmt.Sprintf("%d, %s", result.Seed, wording.Count(c.runs, "run")))
		}
		deviationPage(p, d)
	})
}

// deviationPage is the comparison as a table, in percent.
func deviationPage(p *command.Page, d network.Deviation) {
	p.Section("Deviation in percent, over the least loaded servers")
	var rows [][]command.Cell
	for _, r := range []struct {
		name string
		of   network.Deviations
	}{
		{"average", d.Average}, {"fluctuation, by window", d.Fluctuation}, {"fluctuation, by bin", d.FluctuationBins}, {"locality", d.Locality},
	} {
		rows = append(rows, append([]command.Cell{command.Text(r.name)}, deviationCells(r.of)...))
	}
	p.Table(deviationHeader("Servers"), rows)
	p.Line()
	p.Fact("Pairs", fmt.Sprintf("%s by bytes (%s in a rack, %s between racks), %s of all alike", percentText(d.Pairs), percentText(d.PairsSameRack), percentText(d.PairsOtherRack), percentText(d.PairsUnweighted)))
	p.Fact("Racks", percentText(d.Racks))
	p.Fact("Elsewhere", percentText(d.Elsewhere)+" of what was generated is between nodes that exchange nothing")
	p.Fact("Errors", fmt.Sprintf("over time: %s for half of the servers, %s for 90 %%; over pairs: %s and %s",
		percentText(d.Temporal.At(50)), percentText(d.Temporal.At(90)), percentText(d.Spatial.At(50)), percentText(d.Spatial.At(90))))
	p.Fact("Total", percentText(d.Total)+" more than the original")
}

// studied is what -json prints of the experiments.
type studied struct {
	*network.Study
	Published []network.Published `json:"published"`
	Report    string              `json:"report,omitempty"`
}

func (c *trafficCompare) study(ctx context.Context, s *command.Shell) error {
	cluster, err := c.from.declared()
	if err != nil {
		return err
	}
	cluster.Weeks = max(2, cluster.Weeks)
	o := network.DefaultStudy(c.from.seed, s.Now)
	o.Cluster, o.Runs, o.Workers = cluster, c.runs, runtime.NumCPU()
	o.Smaller.Bin = cluster.Bin
	if c.parts != "" {
		o.Parts = strings.Split(c.parts, ",")
		for _, part := range o.Parts {
			if !slices.Contains(network.StudyParts, part) {
				return command.UsageError("-parts are of: %s; not %q", strings.Join(network.StudyParts, ", "), part)
			}
		}
	}
	line := command.NewProgress(s, command.StillEvery)
	o.Progress = line.Share("traffic compare")
	found, err := network.RunStudy(ctx, o)
	line.End()
	if err != nil {
		return err
	}
	if c.page != "" {
		if found.Whole == nil {
			return command.UsageError("-report shows the part cluster, which -parts leaves out")
		}
		w := found.Whole
		if err := writeTrafficPage(c.page, comparePictures(w.Original, w.Again, w.InSample, found.Cluster)); err != nil {
			return err
		}
	}
	return c.out.Print(s, studied{found, network.PublishedTables(), c.page}, func(p *command.Page) { studyPage(p, found) })
}

func studyPage(p *command.Page, f *network.Study) {
	p.Line(command.Heading("Declared cluster"), command.Text(f.Cluster))
	p.Line(command.Cell{Text: fmt.Sprintf("seed %d; deviations in percent; the systems of the source are not available, so its numbers are context", f.Seed), Hue: command.Faint})
	transitionTable(p, f)
	if f.Whole != nil {
		wholePage(p, f.Whole)
	}
	for _, t := range []struct{ table, title string }{
		{"C.1", "average activity, one rack of 24, two hours"}, {"C.2", "average activity"}, {"C.3", "fluctuation of subsets"}, {"C.4", "locality of subsets"},
	} {
		studyTable(p, f, t.table, t.title)
	}
	if len(f.Models) > 0 {
		modelTable(p, f)
	}
	if len(f.Pairs) > 0 {
		pairTable(p, f)
	}
	for i := range f.Curves {
		curvePage(p, &f.Curves[i])
	}
	checkTable(p, f)
}

func transitionTable(p *command.Page, f *network.Study) {
	p.Section("Transitions of one window")
	var rows [][]command.Cell
	for _, t := range f.Transitions {
		rows = append(rows, []command.Cell{command.Text(t.What), command.Number(wording.Number(float64(t.Hierarchical))), command.Number(wording.Number(float64(t.Flat))), percentCell(t.Fewer)})
	}
	p.Table([]string{"Cluster", "Hierarchical", "Flat", "Fewer"}, rows)
}

func wholePage(p *command.Page, w *network.Whole) {
	p.Section("The whole cluster")
	p.Fact("Model", fmt.Sprintf("%s, %s transitions in all windows, fitted in %s s", wording.Bytes(float64(w.Model.FileBytes)), wording.Number(float64(w.Model.Transitions)), wording.Number(w.Model.FitSeconds)))
	p.Fact("Locality", fmt.Sprintf("%s within a rack, %s between neighbours, %s between others", percentText(w.Character.SameRack), percentText(w.Character.NeighbourRack), percentText(w.Character.OtherRack)))
	p.Fact("Weekend", percentText(w.Character.Weekend)+" of the load of weekdays")
	deviationPage(p, w.InSample)
	p.Section("The week that was held out")
	deviationPage(p, w.HeldOut)
	p.Section("The first week itself as a forecast of that week")
	deviationPage(p, w.Replayed)
}

// studyTable is one of tables C.1 to C.4: published rows, and ours.
func studyTable(p *command.Page, f *network.Study, table, title string) {
	var rows [][]command.Cell
	for _, r := range f.Rows {
		if r.Table != table {
			continue
		}
		rows = append(rows, append([]command.Cell{command.Text(r.System), command.Text("in-sample")}, deviationCells(r.InSample)...))
		if r.Bins.All().Known() {
			rows = append(rows, append([]command.Cell{command.Text(""), command.Text("by bin")}, deviationCells(r.Bins)...))
		}
		rows = append(rows, append([]command.Cell{command.Text(""), command.Text("held out")}, deviationCells(r.HeldOut)...))
	}
	if len(rows) == 0 {
		return
	}
	for _, q := range network.PublishedTables() {
		if q.Table == table {
			rows = append(rows, append([]command.Cell{command.Text(q.System), command.Text("published")}, deviationCells(q.Values)...))
		}
	}
	p.Section("Table " + table + ": " + title)
	p.Table(deviationHeader("System", "Week"), rows)
}

func modelTable(p *command.Page, f *network.Study) {
	p.Section("Models compared, on a smaller cluster: all servers, in-sample and held out")
	var rows [][]command.Cell
	for _, m := range f.Models {
		rows = append(rows, []command.Cell{
			command.Text(m.Name), command.Number(wording.Number(float64(m.Transitions))), command.Number(wording.Bytes(float64(m.FileBytes))),
			command.Number(m.InSample.Average.All().String() + " / " + m.HeldOut.Average.All().String()),
			command.Number(m.InSample.Fluctuation.All().String() + " / " + m.HeldOut.Fluctuation.All().String()),
			command.Number(m.InSample.Locality.All().String() + " / " + m.HeldOut.Locality.All().String()),
		})
	}
	p.Table([]string{"Model", "Transitions", "Size", "Average", "Fluctuation", "Locality"}, rows)
	p.Line(command.Cell{Text: "One level is 28, two are 9.1 and three 4.4 on average in the source (Fig. C.15).", Hue: command.Faint})
}

func pairTable(p *command.Page, f *network.Study) {
	p.Section("Random pairs of servers: median and highest")
	var rows [][]command.Cell
	cell := func(d network.PairDeviation) command.Cell {
		return command.Number(fmt.Sprintf("%s, %s of %d", d.Median, d.Highest, d.Pairs))
	}
	for _, r := range f.Pairs {
		rows = append(rows, []command.Cell{command.Text(r.Model), command.Text(r.Days), cell(r.SameRack), cell(r.OtherRack)})
	}
	p.Table([]string{"Model", "Days", "Same rack", "Other rack"}, rows)
	p.Line(command.Cell{Text: "Published: 12.2 on a weekday and 8.9 at the weekend, for one pair.", Hue: command.Faint})
}

func checkTable(p *command.Page, f *network.Study) {
	p.Section("Bounds of the source")
	var rows [][]command.Cell
	for _, c := range f.Checks {
		verdict := command.Cell{Text: "kept", Hue: command.Good}
		if !c.Met {
			verdict = command.Cell{Text: "missed", Hue: command.Bad}
		}
		rows = append(rows, []command.Cell{command.Text(c.What), command.Number(c.Found.String()), command.Number("≤ " + c.Bound.String()), verdict})
	}
	p.Table([]string{"What", "Found", "Bound", ""}, rows)
}
