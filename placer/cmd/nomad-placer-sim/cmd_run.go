package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

func runCommand() *command.Command {
	return &command.Command{
		Name: "run", Arguments: "FILE", Synopsis: "Compare policies on a simulated cluster",
		About: "Runs a scenario file: every policy under every seed, on the same submissions. Prints a table of what became of the jobs; ± is half the 95 % interval over seeds. " +
			"The same file and seeds give the same bytes. Performance is the ideal time over the real one; a job that was killed or had not ended counts as 0.",
		Example: "nomad-placer-sim run -seeds 1,2 examples/sim/paragon-ec2-low.hcl",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simRun{}
			r.out.Add(f)
			f.StringVar(&r.policies, "policy", "", "Only these `names`, with commas between. Default: all of the scenario.")
			f.StringVar(&r.seeds, "seeds", "", "Other `numbers` as seeds, with commas between. Default: those of the scenario.")
			f.StringVar(&r.page, "report", "", "Write an HTML page with pictures to this `file`.")
			f.IntVar(&r.parallel, "parallel", 0, "How many runs at once; 0 is one per processor. It does not change the result.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return r.run(ctx, s, args[0]) }
		},
	}
}

type simRun struct {
	out                   command.OutputFlags
	policies, seeds, page string
	parallel              int
}

func (r *simRun) run(ctx context.Context, s *command.Shell, file string) error {
	o := scenario.Options{Parallel: r.parallel}
	if r.parallel < 0 {
		return command.UsageError("-parallel must not be negative")
	}
	if r.policies != "" {
		o.Policies = strings.Split(r.policies, ",")
	}
	if r.seeds != "" {
		for text := range strings.SplitSeq(r.seeds, ",") {
			seed, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
			if err != nil || slices.Contains(o.Seeds, seed) {
				return command.UsageError("-seeds takes different whole numbers with commas between, not %q", r.seeds)
			}
			o.Seeds = append(o.Seeds, seed)
		}
	}
	sc, err := scenario.Load(file)
	if err != nil {
		return err
	}
	progress := newSimProgress(s, sc.Name)
	o.Progress = progress.tell
	result, err := sc.Run(ctx, o)
	progress.end()
	switch {
	case errors.Is(err, scenario.ErrPolicy):
		return command.UsageError("%s", err)
	case err != nil:
		return err
	}
	if r.page != "" {
		if err := writePage(result, r.page); err != nil {
			return err
		}
	}
	return r.out.Print(s, result, func(p *command.Page) { simPage(p, result) })
}

func writePage(r *report.Report, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.HTML(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// simPage has a row per metric and a column per policy and load.
func simPage(p *command.Page, r *report.Report) {
	p.Line(command.Heading(r.Title))
	if r.Source != "" {
		p.Line(command.Cell{Text: r.Source, Hue: command.Faint})
	}
	for _, n := range sortedSkips(r.Skipped) {
		p.Line(command.Cell{Text: n, Hue: command.Warn})
	}
	for _, n := range r.Notes {
		p.Line(command.Cell{Text: "Note: " + n, Hue: command.Faint})
	}
	p.Line()
	header := []string{"Metric"}
	for _, l := range r.Lines {
		name := l.Policy
		if l.Load != 0 {
			name += fmt.Sprintf(" at %g", l.Load)
		}
		header = append(header, name)
	}
	var rows [][]command.Cell
	for _, m := range report.Metrics() {
		row := []command.Cell{{Text: m.Name + ", " + m.Unit, Hue: command.Bold}}
		known := false
		for i := range r.Lines {
			f, ok := r.Lines[i].Figure(m.Name)
			known = known || ok
			row = append(row, command.Number(simFigure(f, ok)))
		}
		if known {
			rows = append(rows, row)
		}
	}
	p.Table(header, rows)
}

// sortedSkips says what of a trace was left out.
func sortedSkips(skipped map[string]int) []string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		out = append(out, fmt.Sprintf("%d jobs of the trace were left out: %s", skipped[why], why))
	}
	return out
}

func simFigure(f report.Figure, ok bool) string {
	if !ok {
		return "–"
	}
	digits := 1
	if f.Mean >= 1000 {
		digits = 0
	}
	out := strconv.FormatFloat(f.Mean, 'f', digits, 64)
	if f.Low != nil {
		out += " ±" + strconv.FormatFloat(f.Mean-*f.Low, 'f', digits, 64)
	}
	return out
}

// simProgress shows how far the runs are, and how long the rest takes, on
// standard error of a terminal.
type simProgress struct {
	shell *command.Shell
	name  string
	begun time.Time
	mutex sync.Mutex
	shown time.Time
	any   bool
}

func newSimProgress(s *command.Shell, name string) *simProgress {
	now := s.Now()
	return &simProgress{shell: s, name: name, begun: now, shown: now}
}

// simProgressEvery is how often the line is written anew.
const simProgressEvery = 500 * time.Millisecond

func (p *simProgress) tell(share float64, what string) {
	if !p.shell.Terminal {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := p.shell.Now()
	if now.Sub(p.shown) < simProgressEvery || share <= 0 {
		return
	}
	p.shown, p.any = now, true
	left := time.Duration(float64(now.Sub(p.begun)) * (1 - share) / share).Round(time.Second)
	fmt.Fprintf(p.shell.Err, "\r\033[K%s: %3.0f %%, %s left (%s)", p.name, 100*share, left, what)
}

func (p *simProgress) end() {
	if p.any {
		fmt.Fprint(p.shell.Err, "\r\033[K")
	}
}
