package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// Options of Run.
type Options struct {
	Scenarios fs.FS     // holds NAME.hcl
	Folder    string    // what paths in the scenarios are relative to; empty: where the program runs
	Data      string    // folder of public measurements by name; empty: none
	Work      string    // folder of kept results; empty: nothing is kept
	Seeds     []uint64  // empty: those of each scenario
	World     string    // that scenarios are put into (scenario.Worlds), where they can be; empty: their own
	Parallel  int       // runs at once; 0: one per processor
	Elsewhere Elsewhere // makes the runs that are not kept; nil: this machine does
	Now       func() time.Time
	Progress  func(Progress) // one call at a time; may be nil
}

// Progress is how far a report is.
type Progress struct {
	Done, Total int           // runs
	Kept        int           // of those done: from an earlier time
	Left        time.Duration // of the runs; 0 when they are done
	What        string        // ended last
}

// Errors of what is asked for.
var (
	ErrUnknown = errors.New("no such experiment")
	ErrWorld   = errors.New("no such world")
)

// Choose returns the experiments of that name or paper; all where none is named.
func Choose(names []string) ([]Experiment, error) {
	every := Experiments()
	if len(names) == 0 {
		return every, nil
	}
	var out []Experiment
	for _, name := range names {
		found := slices.ContainsFunc(every, func(e Experiment) bool { return e.ID == name || e.Paper == name })
		if !found {
			var known []string
			for _, p := range Papers() {
				known = append(known, p.Name)
			}
			for _, e := range every {
				known = append(known, e.ID)
			}
			return nil, fmt.Errorf("%w: %q; known: %s", ErrUnknown, name, strings.Join(known, ", "))
		}
	}
	for _, e := range every {
		if slices.Contains(names, e.ID) || slices.Contains(names, e.Paper) {
			out = append(out, e)
		}
	}
	return out, nil
}

// Run makes the report. It does not depend on how many run at once, nor on what
// was kept.
func Run(ctx context.Context, chosen []Experiment, o Options) (*Report, error) {
	r, err := newRunner(o)
	if err != nil {
		return nil, err
	}
	if err := r.plan(chosen); err != nil {
		return nil, err
	}
	if err := r.mark(ctx); err != nil {
		return nil, err
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return r.all(running) })
	group.Go(func() error { return r.compute(running, chosen) })
	if err := group.Wait(); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err) // who gave up says why
	}
	return r.report(chosen), nil
}

// newRunner makes the folder of kept results, and fills what was left out.
func newRunner(o Options) (*runner, error) {
	if o.World != "" && !slices.Contains(scenario.Worlds(), o.World) {
		return nil, fmt.Errorf("%w: %q; known: %s", ErrWorld, o.World, strings.Join(scenario.Worlds(), ", "))
	}
	if o.Work != "" {
		if err := os.MkdirAll(o.Work, 0o755); err != nil {
			return nil, fmt.Errorf("figures: %w", err)
		}
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	return &runner{
		options: o, files: map[string]*input{}, absent: map[string]string{}, lines: map[At][]report.Line{}, tables: map[string]*computed{},
		costs: map[[2]string]float64{}, store: store{folder: o.Work}, processors: semaphore.NewWeighted(int64(o.Parallel)),
	}, nil
}

// mark lets what is kept depend on how this program places and slows jobs.
func (r *runner) mark(ctx context.Context) (err error) {
	if len(r.jobs) == 0 || r.options.Work == "" {
		return nil
	}
	if r.store.canary, err = canary(ctx, r.options.Parallel); err != nil {
		return err
	}
	if r.store.own, err = ownCanary(ctx, r.options.Parallel); err != nil {
		return err
	}
	for _, file := range r.files {
		if file.scenario.Colocated() {
			r.store.colocated, err = colocatedCanary()
			break
		}
	}
	return err
}

// input is a scenario with the seeds it is run under.
type input struct {
	scenario *scenario.Scenario
	seeds    []uint64
	tolerant bool // a run that fails is a result

	// how it was read
	file, folder string
	world        string // that it was put into; empty: none
	entrants     []scenario.Entrant
}

// runner is a report being made.
type runner struct {
	options Options
	store   store
	names   []string // of scenarios, in the order of first use
	files   map[string]*input
	absent  map[string]string // why scenarios are not run
	jobs    []job
	tables  map[string]*computed
	// processors are for runs and computations, each of which takes one.
	processors *semaphore.Weighted

	mutex sync.Mutex
	ended []*kept // by job
	tally Progress
	costs map[[2]string]float64 // host seconds of a scenario and policy
	host  []hostRow
	lines map[At][]report.Line
}

// job is one run to be made, or kept.
type job struct {
	scenario, policy string
	seed             uint64
}

// absentData says that public measurements are not where they are looked for.
func absentData(path string) string { return "the data is not here: " + path }

// computed is the outcome of a computation.
type computed struct {
	table  *Table
	absent string
}

// plan reads the scenarios and lists the runs.
func (r *runner) plan(chosen []Experiment) error {
	for _, e := range chosen {
		if err := e.check(); err != nil {
			return err
		}
		for _, name := range e.Scenarios {
			if r.files[name] != nil || r.absent[name] != "" {
				continue
			}
			if err := r.load(name); err != nil {
				return fmt.Errorf("figures: %s: %w", e.ID, err)
			}
		}
	}
	r.list()
	return nil
}

// list makes the list of runs: seeds outermost, so that the time left is known
// after the first.
func (r *runner) list() {
	most := 0
	for _, file := range r.files {
		most = max(most, len(file.seeds))
	}
	for at := range most {
		for _, name := range r.names {
			file := r.files[name]
			if at >= len(file.seeds) {
				continue
			}
			for _, p := range file.scenario.Policies() {
				r.jobs = append(r.jobs, job{name, p, file.seeds[at]})
			}
		}
	}
	r.ended, r.tally.Total = make([]*kept, len(r.jobs)), len(r.jobs)
}

// load puts a scenario into the world that is asked for, and once more into that of measured rows,
// where it can be in them.
func (r *runner) load(name string) error {
	s, err := scenario.Open(r.options.Scenarios, name+".hcl", r.folder())
	if err != nil {
		return err
	}
	if path := s.Absent(); path != "" {
		r.absent[name] = absentData(path)
		return nil
	}
	measured, err := inWorld(s, scenario.MeasuredWorld)
	if err != nil {
		return err
	}
	world := ""
	if r.options.World != "" {
		in, err := inWorld(s, r.options.World)
		if err != nil {
			return err
		}
		if in != nil {
			s, world = in, r.options.World
		}
	}
	r.enlist(name, name, s, world)
	if measured != nil && r.options.World != scenario.MeasuredWorld {
		r.enlist(measuredName(name), name, measured, scenario.MeasuredWorld)
	}
	return nil
}

// inWorld is nil where the scenario cannot be in that world.
func inWorld(s *scenario.Scenario, world string) (*scenario.Scenario, error) {
	in, err := s.InWorld(world)
	if errors.Is(err, scenario.ErrScenario) {
		return nil, nil
	}
	return in, err
}

// measuredName is how a scenario is called in the world of measured rows.
func measuredName(name string) string { return name + " (" + scenario.MeasuredWorld + ")" }

// folder is what paths in scenarios are relative to.
func (r *runner) folder() string { return cmp.Or(r.options.Folder, ".") }

func (r *runner) enlist(name, file string, s *scenario.Scenario, world string) {
	in := &input{scenario: s, seeds: s.Seeds, file: file + ".hcl", folder: r.folder(), world: world}
	if len(r.options.Seeds) > 0 {
		in.seeds = r.options.Seeds
	}
	r.files[name], r.names = in, append(r.names, name)
}

// all makes every run that is not kept.
func (r *runner) all(ctx context.Context) error {
	var missing []int
	for i := range r.jobs {
		if !r.known(i) {
			missing = append(missing, i)
		}
	}
	makeThem := r.here
	if r.options.Elsewhere != nil && len(missing) > 0 {
		makeThem = r.hand
	}
	if err := makeThem(ctx, missing); err != nil {
		return err
	}
	r.sort()
	return nil
}

// known takes a run that is kept.
func (r *runner) known(i int) bool {
	j := r.jobs[i]
	file := r.files[j.scenario]
	var k kept
	if !r.store.get(r.store.key(file.scenario, j.policy, j.seed), &k) || !file.whole(&k) {
		return false
	}
	r.end(i, &k, true)
	return true
}

// whole reports whether a result has all that the scenario asks for.
func (in *input) whole(k *kept) bool {
	return len(k.Lines) == len(in.scenario.Loads) || in.tolerant && k.Failed != ""
}

// here makes runs on this machine.
func (r *runner) here(ctx context.Context, missing []int) error {
	d := r.deal(missing)
	group, running := errgroup.WithContext(ctx)
	for range r.options.Parallel {
		group.Go(func() error {
			for b, i := d.next(nil); b != nil && running.Err() == nil; b, i = d.next(b) {
				if err := r.onProcessor(running, func() error { return r.play(running, b, i) }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err) // who gave up says why
}

// onProcessor does something when one of the processors is free for it.
func (r *runner) onProcessor(ctx context.Context, do func() error) error {
	if err := r.processors.Acquire(ctx, 1); err != nil {
		return context.Cause(ctx)
	}
	defer r.processors.Release(1)
	return do()
}

// play makes a run of a batch, and keeps it.
func (r *runner) play(ctx context.Context, b *batch, i int) error {
	j := r.jobs[i]
	k, err := b.input.play(ctx, b.shared, kept{Scenario: j.scenario, Policy: j.policy, Seed: j.seed}, r.options.Now)
	if err != nil {
		return err
	}
	return r.made(i, &k)
}

// made keeps a run.
func (r *runner) made(i int, k *kept) error {
	j := r.jobs[i]
	if err := r.store.put(r.store.key(r.files[j.scenario].scenario, j.policy, j.seed), k); err != nil {
		return err
	}
	r.end(i, k, false)
	return nil
}

// end counts a run that has ended.
func (r *runner) end(i int, k *kept, before bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.ended[i] = k
	r.tally.Done++
	if before {
		r.tally.Kept++
	}
	j := r.jobs[i]
	r.costs[[2]string{j.scenario, j.policy}] = k.HostSeconds
	if r.options.Progress == nil {
		return
	}
	r.tally.Left = r.left()
	r.tally.What = fmt.Sprintf("%s, %s, seed %d", j.scenario, j.policy, j.seed)
	r.options.Progress(r.tally)
}

// left is the expected time of the runs that have not ended: each as the last of
// the same scenario and policy, or as the mean of all.
func (r *runner) left() time.Duration {
	mean := 0.0
	for _, c := range r.costs {
		mean += c / float64(len(r.costs))
	}
	sum := 0.0
	for i, j := range r.jobs {
		if r.ended[i] != nil {
			continue
		}
		cost, ok := r.costs[[2]string{j.scenario, j.policy}]
		if !ok {
			cost = mean
		}
		sum += cost
	}
	return time.Duration(sum / float64(r.options.Parallel) * float64(time.Second))
}

// sort puts what ended in the order of the jobs, whichever ended first.
func (r *runner) sort() {
	at := map[[2]string]int{}
	for i, k := range r.ended {
		j := r.jobs[i]
		for _, l := range k.Lines {
			row := At{j.scenario, j.policy, l.Load}
			r.lines[row] = append(r.lines[row], l)
		}
		group := [2]string{j.scenario, j.policy}
		n, ok := at[group]
		if !ok {
			n = len(r.host)
			at[group] = n
			r.host = append(r.host, hostRow{Scenario: j.scenario, Policy: j.policy})
		}
		r.host[n].add(k)
	}
}

// compute makes the tables that are not of scenarios.
func (r *runner) compute(ctx context.Context, chosen []Experiment) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(r.options.Parallel)
	for _, e := range chosen {
		if e.Compute == nil || r.tables[e.Compute.Name] != nil {
			continue
		}
		out := &computed{}
		r.tables[e.Compute.Name] = out
		group.Go(func() error {
			return r.onProcessor(running, func() (err error) {
				if *out, err = r.computation(running, e.Compute); err != nil {
					return fmt.Errorf("figures: %s: %w", e.ID, err)
				}
				return nil
			})
		})
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err) // who gave up says why
}

func (r *runner) computation(ctx context.Context, c *Computation) (computed, error) {
	table, err := c.run(ctx, environment{r.options.Data, r.options.Scenarios, &r.store, r.tell})
	if errors.Is(err, fs.ErrNotExist) {
		return computed{absent: absentData(c.Source)}, nil
	}
	return computed{table: table}, err
}

// tell says what a computation does; how long it takes is not known.
func (r *runner) tell(what string) {
	if r.options.Progress == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.tally.What, r.tally.Left = what, r.left()
	r.options.Progress(r.tally)
}

func (r *runner) report(chosen []Experiment) *Report {
	out := &Report{Format: ReportFormat, World: r.options.World, host: r.host}
	for i := range chosen {
		e := &chosen[i]
		own, measured, rows, notes := &results{}, (*results)(nil), e.Rows, []string(nil)
		if e.Compute != nil {
			c := r.tables[e.Compute.Name]
			own.table, own.absent = c.table, c.absent
			if len(rows) == 0 && c.table != nil {
				rows = c.table.rows()
			}
		}
		for _, name := range e.Scenarios {
			own.absent = cmp.Or(own.absent, r.absent[name])
		}
		if len(e.Scenarios) > 0 && own.absent == "" {
			own.first, own.lines = e.Scenarios[0], r.of(e.Scenarios, func(name string) string { return name })
			if !slices.ContainsFunc(e.Scenarios, func(name string) bool { return r.files[measuredName(name)] == nil }) {
				measured = &results{first: own.first, lines: r.of(e.Scenarios, measuredName)}
			}
			if len(rows) == 0 {
				rows = everyRow(r.files[own.first].scenario)
			}
			notes = r.notes(e.Scenarios)
		}
		out.Outcomes = append(out.Outcomes, e.outcome(own, measured, rows, notes))
	}
	for i := range out.Outcomes {
		out.Outcomes[i].Why = out.told(out.Outcomes[i].Why)
	}
	out.Counts = count(out.Outcomes)
	return out
}

// everyRow is every policy at every load.
func everyRow(s *scenario.Scenario) []At {
	return loaded(s.Loads, s.Policies()...)
}

// of are the lines of some scenarios, by their names, as they are called in a world.
func (r *runner) of(scenarios []string, called func(string) string) map[At][]report.Line {
	names := map[string]string{}
	for _, name := range scenarios {
		names[called(name)] = name
	}
	out := map[At][]report.Line{}
	for a, lines := range r.lines {
		if name, ok := names[a.Scenario]; ok {
			a.Scenario = name
			out[a] = lines
		}
	}
	return out
}

// notes of scenarios, each once.
func (r *runner) notes(scenarios []string) []string {
	var out []string
	for _, name := range scenarios {
		for _, n := range r.files[name].scenario.Notes {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// hostRow is what runs of a scenario and policy took on the host.
type hostRow struct {
	Scenario, Policy string
	Runs             int
	Seconds          float64 // of all runs
	Events           int
	Decisions        int
	Examined         int64
}

func (h *hostRow) add(k *kept) {
	h.Runs++
	h.Seconds += k.HostSeconds
	for _, l := range k.Lines {
		h.Events += l.Counters.Events
		h.Decisions += l.Counters.Decisions
		h.Examined += l.Counters.Examined
	}
}
