package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/whatif"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

func provisionWhatIfCommand() *command.Command {
	return &command.Command{
		Name: "provision what-if", Synopsis: "Say what other strategies of owned and rented nodes would have cost",
		About: "Replays the runs of jobs that are on record under SR, OdF, OdM, HF and HM in the simulated world, at the prices in a file (placer/docs/performance-block.md, Prices), and says how jobs would have done besides. " +
			"Owned nodes are paid for whole terms, so that costs are over weeks, and what is saved holds for these weeks alone. Runs are recorded while the agent's configuration has a provision block; with strategy = \"SR\" it rents nothing. " +
			"The same records, prices and seed give the same answer; what is assumed is printed with it.",
		Example: "nomad-placer provision what-if -since 7d -prices prices.hcl",
		Setup: func(f *flag.FlagSet) command.Runner {
			var w whatIfFlags
			w.from.add(f)
			w.out.Add(f)
			f.StringVar(&w.since, "since", "7d", "Replay the runs from this `time` before now on, such as 36h or 7d.")
			f.StringVar(&w.prices, "prices", "", "What nodes cost, a `file`. Of types that the agent rents only the price must be in it.")
			f.StringVar(&w.weeks, "weeks", "", "The horizons of costs: `numbers` of weeks with commas between. Default: 1,4,13,26,52,104.")
			f.Uint64Var(&w.seed, "seed", 1, "Draw spin-ups and other customers by this `number`.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return w.run(ctx, s) }
		},
	}
}

type whatIfFlags struct {
	from                 recordFlags
	out                  command.OutputFlags
	since, prices, weeks string
	seed                 uint64
}

// runRecords are records that know of runs.
type runRecords interface {
	Runs(context.Context) (provision.Runs, error)
	Provision(context.Context) (provision.Report, error)
}

func (w *whatIfFlags) run(ctx context.Context, s *command.Shell) error {
	if w.prices == "" {
		return command.UsageError("-prices is needed: a file with what nodes cost")
	}
	since, err := spanOf(w.since)
	if err != nil {
		return err
	}
	weeks, err := weeksOf(w.weeks)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(w.prices)
	if err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	opened, err := w.from.open(s)
	if err != nil {
		return err
	}
	on, ok := opened.(runRecords)
	if !ok {
		return errors.New("these records know of no runs")
	}
	report, err := on.Provision(ctx)
	if err != nil && !errors.Is(err, cluster.ErrNoRecord) {
		return err
	}
	prices, err := blockOptions().DecodePrices(text, w.prices, typesOf(report))
	if err != nil {
		return err
	}
	recorded, err := recordedRuns(ctx, opened, on)
	if err != nil {
		return err
	}
	now := s.Now()
	q := questionOf(report, prices)
	q.From, q.To, q.Weeks, q.Seed = now.Add(-since), now, weeks, w.seed
	progress := command.NewProgress(s, command.StillEvery)
	comparison, err := whatif.Compare(ctx, recorded, q, progress.Share("replaying"))
	progress.End()
	if errors.Is(err, provision.ErrNoRuns) {
		return command.WithHint(err, `runs are recorded while the agent's configuration has a provision block; with strategy = "SR" it rents nothing`)
	}
	if err != nil {
		return err
	}
	return w.out.Print(s, comparison, func(p *command.Page) { comparisonPage(p, comparison) })
}

// recordedRuns are runs and decisions.
func recordedRuns(ctx context.Context, all records, on runRecords) (whatif.Recorded, error) {
	runs, err := on.Runs(ctx)
	if errors.Is(err, cluster.ErrNoRecord) {
		return whatif.Recorded{}, errors.New("the agent records no runs: it is of an earlier release")
	}
	if err != nil {
		return whatif.Recorded{}, err
	}
	decisions, err := all.Decisions(ctx)
	return whatif.Recorded{Runs: runs, Decisions: decisions}, err
}

// Runs asks the agent.
func (p pageRecords) Runs(ctx context.Context) (provision.Runs, error) {
	return fetch[provision.Runs](ctx, p, "provision", "runs")
}

// longestSpan bounds how far back is looked.
const longestSpan = 10 * 365 * 24 * time.Hour

// spanOf reads a time span, also in days.
func spanOf(text string) (time.Duration, error) {
	span, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n float64
		n, err = strconv.ParseFloat(days, 64)
		span = time.Duration(min(n, longestSpan.Hours()) * 24 * float64(time.Hour))
	}
	if err != nil || span <= 0 || span > longestSpan {
		return 0, command.UsageError("-since takes a time above 0 such as 36h or 7d, not %q", text)
	}
	return span, nil
}

// weeksOf reads horizons.
func weeksOf(text string) ([]float64, error) {
	if text == "" {
		return provision.DefaultWeeks(), nil
	}
	var out []float64
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) {
			return nil, command.UsageError("-weeks takes numbers above 0 with commas between, not %q", text)
		}
		out = append(out, v)
	}
	return out, nil
}

// typesOf are the types of an agent as a price list may name them. What was measured of their spin-up
// counts.
func typesOf(r provision.Report) []jobhcl.InstanceTypeConfig {
	var out []jobhcl.InstanceTypeConfig
	for _, t := range r.Types {
		if t.Cores > 0 && t.MemoryMB > 0 { // an earlier release says neither
			typ := t.Type()
			out = append(out, jobhcl.InstanceTypeConfig{
				Name: typ.Name, NodeClass: t.NodeClass, Cores: typ.Cores, MemoryMB: typ.MemoryMB, PricePerHour: typ.PricePerHour, SpinUp: typ.SpinUp, Family: typ.Family,
			})
		}
	}
	return out
}

// questionOf is what is asked at prices, with the mapping and the retention of the agent where they are
// known.
func questionOf(r provision.Report, prices jobhcl.PricesConfig) provision.Question {
	d := jobhcl.DefaultProvisionConfig()
	q := provision.Question{Mapping: d.Mapping, Retention: d.Retention, Outside: prices.OutsidePercent / 100}
	if r.Mapping != "" {
		q.Mapping, q.Retention = r.Mapping, r.Retention
	}
	q.Prices = provision.PriceList{
		Owned: provision.OwnedNode{
			Cores: prices.Owned.Cores, MemoryMB: prices.Owned.MemoryMB, PricePerHour: prices.Owned.PricePerHour, TermWeeks: prices.Owned.TermWeeks,
		},
		MinimumBilled: prices.MinimumBilled,
	}
	if n := prices.Owned.Nodes; n > 0 {
		q.Prices.Owned.Nodes = &n
	}
	for _, t := range prices.Types {
		q.Prices.Types = append(q.Prices.Types, provision.Type{Name: t.Name, Family: t.Family, Cores: t.Cores, MemoryMB: t.MemoryMB, PricePerHour: t.PricePerHour, SpinUp: t.SpinUp})
	}
	return q
}

func comparisonPage(p *command.Page, c provision.Comparison) {
	const stamp = "2006-01-02 15:04 UTC"
	p.Fact("Replayed", fmt.Sprintf("%s of %s, %s to %s", wording.Count(c.Allocations, "allocation"), wording.Count(c.Runs, "run"), c.From.Format(stamp), c.To.Format(stamp)))
	p.Fact("Load", fmt.Sprintf("%s cores on average, %s to %s", wording.Number(c.Load.MeanCores), wording.Number(c.Load.LeastCores), wording.Number(c.Load.MostCores)))
	p.Fact("Owned node", fmt.Sprintf("%s, %s MB, %s per hour of a term of %s", wording.Count(c.Owned.Cores, "core"), wording.Number(float64(c.Owned.MemoryMB)), wording.Number(c.Owned.PricePerHour), wording.Count(c.Owned.TermWeeks, "week")))
	for _, text := range c.LeftOutTexts() {
		p.Item(command.Warn, text)
	}
	p.Section("What each would have reached")
	reached := make([][]command.Cell, len(c.Strategies))
	for i, s := range c.Strategies {
		reached[i] = []command.Cell{
			command.Heading(string(s.Strategy)), command.Number(fmt.Sprint(s.OwnedNodes)), command.Number(fmt.Sprint(s.RentedNodes)), command.Number(wording.Number(s.RentedMean)),
			command.Number(wording.Number(s.Performance) + " %"), command.Number(wording.Number(s.Worst) + " %"),
			command.Number(wording.Duration(time.Duration(s.WaitSeconds * float64(time.Second)))), command.Number(fmt.Sprint(s.Unfinished)),
		}
	}
	p.Table([]string{"Strategy", "Nodes owned", "rented", "Cores rented", "Performance", "95 % reach", "Wait", "Unfinished"}, reached)
	p.Item(command.Faint, "Performance is relative to isolation, from submission on; cores rented and the wait are means.")
	costs(p, c)
	p.Section("What is assumed")
	for _, note := range c.Notes {
		p.Item(command.Plain, note)
	}
}

// costs are what each strategy costs in weeks, a row for each horizon.
func costs(p *command.Page, c provision.Comparison) {
	if len(c.Strategies) == 0 {
		return
	}
	p.Section("What each would cost in so many weeks, and how that compares with SR in the same weeks")
	header := []string{"Weeks"}
	for _, s := range c.Strategies {
		header = append(header, string(s.Strategy))
	}
	var rows [][]command.Cell
	for i, h := range c.Strategies[0].Horizons {
		row := []command.Cell{command.Number(wording.Number(h.Weeks))}
		for _, s := range c.Strategies {
			row = append(row, command.Number(costText(s.Horizons[i])))
		}
		rows = append(rows, row)
	}
	p.Table(header, rows)
	for _, s := range c.Strategies {
		if text := s.CheaperText(); text != "" {
			p.Item(command.Plain, text)
		}
	}
}

func costText(h provision.HorizonCost) string {
	text := wording.Number(h.Cost)
	if h.Saved == nil {
		return text
	}
	sign := "+"
	if *h.Saved > 0 {
		sign = "−"
	}
	return fmt.Sprintf("%s %s%.0f %%", text, sign, max(*h.Saved, -*h.Saved))
}
