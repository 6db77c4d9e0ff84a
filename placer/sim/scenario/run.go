package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Options of a run.
type Options struct {
	Policies []string // empty: all of the scenario
	Seeds    []uint64 // empty: those of the scenario
	Parallel int      // runs at once; 0: one per processor
	// Estimator, where it is not nil, changes what a policy would know.
	Estimator func(inner sim.Estimator) sim.Estimator
	// Progress is called from several goroutines with the share done, 0 to 1.
	Progress func(share float64, what string)
}

// Defaults of blocks that a file need not have; the paper's values.
const (
	defaultProfileTime = time.Minute
	defaultTraining    = 20
	defaultRestartTime = 30 * time.Second // chosen by us: an image pull and a start
	defaultMoveTime    = 30 * time.Second
)

// ErrPolicy: the scenario has no such policy.
var ErrPolicy = errors.New("no such policy in the scenario")

// task is one run.
type task struct {
	policy *policyBlock
	load   int
	seed   int
}

// Run runs every policy at every load under every seed. The result does not
// depend on how many run at once.
func (s *Scenario) Run(ctx context.Context, o Options) (*report.Report, error) {
	r, err := s.prepare(o)
	if err != nil {
		return nil, err
	}
	if err := r.all(ctx, r.tasks, o); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// Shared are runs of some policies that are asked for one by one. What they have in common, the
// jobs and what classifiers say of them, is made once.
type Shared struct{ runs *runs }

// Share prepares the runs of some policies.
func (s *Scenario) Share(o Options) (*Shared, error) {
	r, err := s.prepare(o)
	if err != nil {
		return nil, err
	}
	return &Shared{r}, nil
}

// Play runs a policy at every load under every seed, as Scenario.Run does, one run after the
// other. Several policies may be played at once, and each once.
func (s *Shared) Play(ctx context.Context, policy string) ([]report.Line, error) {
	own := slices.DeleteFunc(slices.Clone(s.runs.tasks), func(t task) bool { return t.policy.Name != policy })
	if len(own) == 0 {
		return nil, s.runs.scenario.noPolicy(policy)
	}
	if err := s.runs.all(ctx, own, Options{Parallel: 1}); err != nil {
		return nil, err
	}
	defer s.runs.forget(own)
	return s.runs.lines(own[0].policy), nil
}

// prepare wires what all runs have in common.
func (s *Scenario) prepare(o Options) (*runs, error) {
	policies, err := s.choose(o.Policies)
	if err != nil {
		return nil, err
	}
	seeds := o.Seeds
	if len(seeds) == 0 {
		seeds = s.Seeds
	}
	var l *colocation
	if s.file.Colocation != nil {
		var err error
		if l, err = newColocation(s.file.Colocation); err != nil {
			return nil, err
		}
	}
	h, err := s.hardwareOf(l)
	if err != nil {
		return nil, err
	}
	r := &runs{
		scenario: s, colocation: l, hardware: h, policies: policies, seeds: seeds, between: o.Estimator,
		worlds: map[[2]int]*submitted{}, results: map[task]*sim.Result{}, skipped: map[string]int{},
	}
	maps.Copy(r.skipped, h.skipped)
	r.model = s.model(h.machines)
	if r.rows, err = s.loadMeasured(r.model); err != nil {
		return nil, err
	}
	for seed := range seeds { // seeds outermost: what a seed needs is freed when it is done
		for load := range s.Loads {
			for _, p := range policies {
				r.tasks = append(r.tasks, task{p, load, seed})
			}
		}
	}
	return r, nil
}

// forget frees results, which hold every job.
func (r *runs) forget(tasks []task) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, t := range tasks {
		delete(r.results, t)
	}
}

// Model is what really happens on the scenario's cluster.
func (s *Scenario) Model() (*truth.Model, error) {
	h, err := s.hardware()
	if err != nil {
		return nil, err
	}
	return s.model(h.machines), nil
}

func (s *Scenario) choose(names []string) ([]*policyBlock, error) {
	var out []*policyBlock
	for i := range s.file.Policies {
		if len(names) == 0 || slices.Contains(names, s.file.Policies[i].Name) {
			out = append(out, &s.file.Policies[i])
		}
	}
	for _, n := range names {
		if !slices.Contains(s.Policies(), n) {
			return nil, s.noPolicy(n)
		}
	}
	return out, nil
}

func (s *Scenario) noPolicy(name string) error {
	return fmt.Errorf("%w: %q; it has %s", ErrPolicy, name, strings.Join(s.Policies(), ", "))
}

// runs are the runs of one scenario.
type runs struct {
	scenario *Scenario
	hardware *hardware
	between  func(sim.Estimator) sim.Estimator // may be nil
	// colocation is nil where applications are not measured next to each other.
	colocation *colocation
	model      *truth.Model
	rows       measuredRows // none where all applications are drawn
	policies   []*policyBlock
	seeds      []uint64
	tasks      []task

	mutex   sync.Mutex
	worlds  map[[2]int]*submitted // by load and seed
	results map[task]*sim.Result
	skipped map[string]int
	done    atomic.Int64 // millionths of tasks
}

// submitted is what all policies of a load and seed share.
type submitted struct {
	once sync.Once
	err  error
	left atomic.Int32 // policies that still need it

	submissions
	estimators estimators
	classes    lotes.Model // that jobs declare
	demanded   demanded    // of a provision block
}

func (r *runs) all(ctx context.Context, tasks []task, o Options) error {
	parallel := o.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, t := range tasks {
		if running.Err() != nil {
			break
		}
		group.Go(func() error {
			if err := r.one(running, t, o.Progress); err != nil {
				return fmt.Errorf("policy %s, seed %d: %w", t.policy.Name, r.seeds[t.seed], err)
			}
			return nil
		})
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err) // who gave up says why
}

func (r *runs) one(ctx context.Context, t task, progress func(float64, string)) error {
	config, finish, err := r.config(t)
	if err != nil {
		return err
	}
	last := int64(0)
	tell := func(share float64) {
		now := int64(share * 1e6)
		total := r.done.Add(now - last)
		last = now
		if progress != nil {
			progress(float64(total)/1e6/float64(len(r.tasks)), fmt.Sprintf("%s, seed %d", t.policy.Name, r.seeds[t.seed]))
		}
	}
	config.Progress = func(ended, expected int, now sim.Instant) {
		switch {
		case expected > 0:
			tell(float64(ended) / float64(expected))
		case config.Limit > 0:
			tell(min(1, float64(now)/float64(config.Limit)))
		}
	}
	world, err := sim.New(config)
	if err != nil {
		return err
	}
	result, err := world.Run(ctx)
	if err != nil {
		return err
	}
	tell(1)
	r.scenario.priced(result)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.results[t] = result
	if s := r.worlds[[2]int{t.load, t.seed}]; s != nil && s.left.Add(-1) == 0 {
		delete(r.worlds, [2]int{t.load, t.seed})
	}
	return finish(r.skipped)
}

// config wires one run together. finish closes what it reads, and counts what was
// left out.
func (r *runs) config(t task) (sim.Config, func(map[string]int) error, error) {
	s, seed := r.scenario, r.seeds[t.seed]
	b, rented, err := r.nodesOf(t)
	if err != nil {
		return sim.Config{}, nil, err
	}
	c := sim.Config{
		Board: b, Seed: seed, Limit: s.limit, Agents: t.policy.Agents, Nodes: s.lost(r.hardware, seed),
		RestartTime: defaultRestartTime, MoveTime: defaultMoveTime, Truth: r.model,
	}
	if w := s.file.World; w != nil {
		c.Window, c.SampleEvery, c.Instant = must(w.Window), must(w.SampleEvery), w.Instant
		c.DecisionTime = must(w.Decision) + time.Duration(b.Len())*must(w.PerNode)
		c.RestartTime, c.MoveTime = orElse(w.RestartTime, c.RestartTime), orElse(w.MoveTime, c.MoveTime)
	}
	c.Instant = c.Instant || t.policy.FreeDecisions
	if t.policy.FreeMoves {
		c.MoveTime = time.Nanosecond // none is the default
	}
	nothing := func(map[string]int) error { return nil }
	if rented != nil {
		c.Fleet = rented
	}
	if err := r.decider(&c, t, b, rented); err != nil {
		return c, nothing, err
	}
	switch {
	case s.file.Provision != nil:
		return c, nothing, r.provisioned(&c, t)
	case r.colocation != nil:
		return c, nothing, r.colocated(&c, t)
	case s.file.JobClasses != nil:
		return c, nothing, r.classed(&c, t)
	case len(s.file.Deadlines) > 0:
		return c, nothing, r.bound(&c, t)
	case len(s.file.Traces) > 0:
		replay, err := r.replayed(&c, t)
		if err != nil {
			return c, nothing, err
		}
		return c, closing(replay), nil
	default:
		return c, nothing, r.populated(&c, t)
	}
}

// populated wires a run of populations.
func (r *runs) populated(c *sim.Config, t task) error {
	shared, err := r.submitted(t)
	if err != nil {
		return err
	}
	if err := r.know(c, t, shared); err != nil {
		return err
	}
	c.Jobs, c.Expect = &sim.List{Jobs: sized(shared.jobs, t.policy.Sizing == "policy")}, len(shared.jobs)
	return nil
}

func orElse(text string, fallback time.Duration) time.Duration {
	if text == "" {
		return fallback
	}
	return must(text)
}

// columns of a policy that knows nothing of sources are none: its board is
// cheaper.
func (r *runs) columns(p *policyBlock) []interference.Source {
	if p.Knowledge == "none" && len(r.scenario.file.Populations) == 0 || r.scenario.file.JobClasses != nil {
		return nil
	}
	return r.scenario.Columns
}

// sized are the jobs as a policy gets them that chooses sizes: what users
// reserve is then only a hint, and the size of one allocation is the program's own.
func sized(jobs []sim.Job, byPolicy bool) []sim.Job {
	if !byPolicy {
		return jobs
	}
	out := slices.Clone(jobs)
	for i := range out {
		if out[i].Target > 0 {
			out[i].Sized = true
		}
	}
	return out
}

// decider is the selector, the controller and the adapter.
func (r *runs) decider(c *sim.Config, t task, b *board.Board, rented *fleet.Fleet) error {
	p := t.policy
	d, err := policy.LookupSelector(p.Selector)
	if err != nil {
		return err
	}
	options, err := d.Options(p.Options)
	if err != nil {
		return err
	}
	if err := r.inform(t, b); err != nil {
		return err
	}
	c.Selector = d.New(b, options)
	a, err := admission.Lookup(p.Admission)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(c.Seed, streamAdmission))
	held, err := admissionOptions(p.AdmissionOptions)
	if err != nil {
		return fmt.Errorf("admission %s: %w", p.Admission, err)
	}
	p.provisioned(&held, rented)
	if c.Controller, err = a.New(b, held, random); err != nil {
		return fmt.Errorf("admission %s: %w", p.Admission, err)
	}
	if p.Adapter == "none" {
		return nil
	}
	adapter, err := adapt.Lookup(p.Adapter)
	if err != nil {
		return err
	}
	thresholds := adapt.Defaults()
	thresholds.Below = sim.QoS // most jobs have no target: what they lose is judged by their bound
	thresholds.Moves, thresholds.Detector, thresholds.Window = p.Moves, p.Detector, c.Window
	thresholds.MoveTime = c.MoveTime
	c.Adapter = adapter.New(thresholds)
	return nil
}

// submitted draws what a load and seed need, once.
func (r *runs) submitted(t task) (*submitted, error) {
	at := [2]int{t.load, t.seed}
	r.mutex.Lock()
	shared := r.worlds[at]
	if shared == nil {
		shared = &submitted{}
		shared.left.Store(int32(len(r.policies)))
		r.worlds[at] = shared
	}
	r.mutex.Unlock()
	shared.once.Do(func() { shared.err = r.draw(shared, t) })
	return shared, shared.err
}

func (r *runs) draw(shared *submitted, t task) error {
	s, seed := r.scenario, r.seeds[t.seed]
	if len(s.file.Deadlines) > 0 {
		shared.jobs = s.file.Deadlines[0].draw(seed)
		return nil
	}
	var err error
	if s.file.Provision != nil {
		if shared.demanded, err = s.file.Provision.draw(r.model, s.file.profiling(), seed, s.Loads[t.load]); err != nil {
			return err
		}
		shared.training = shared.demanded.training
		return nil
	}
	if s.file.JobClasses != nil {
		shared.jobs, shared.classes, err = s.file.JobClasses.draw(s, r.hardware, seed, s.Loads[t.load])
		return err
	}
	if len(s.file.Populations) > 0 {
		if shared.submissions, err = s.populations(r.model, r.hardware, r.rows.submitted, seed, s.Loads[t.load]); err != nil {
			return err
		}
	}
	shared.training, err = s.training(r.model, r.rows.teaching, seed)
	return err
}

// report puts the lines in the order of the file.
func (r *runs) report() *report.Report {
	s := r.scenario
	out := &report.Report{Format: report.Format, Scenario: s.Name, Title: s.Title, Source: s.Source, Notes: s.Notes, Seeds: r.seeds, Lines: r.lines(r.policies...)}
	if len(r.skipped) > 0 {
		out.Skipped = maps.Clone(r.skipped)
	}
	return out
}

// lines are of policies that have been run.
func (r *runs) lines(policies ...*policyBlock) []report.Line {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var out []report.Line
	for load, value := range r.scenario.Loads {
		for _, p := range policies {
			var results []*sim.Result
			for seed := range r.seeds {
				results = append(results, r.results[task{p, load, seed}])
			}
			out = append(out, report.Summarise(p.Name, value, results))
		}
	}
	return out
}
