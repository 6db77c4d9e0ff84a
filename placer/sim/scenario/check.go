package scenario

import (
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/shape"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Bounds of a scenario, against slips of the pen.
const (
	maxSeeds    = 100
	maxJobs     = 10_000_000
	maxTasks    = 100_000
	maxPolicies = 100
)

var platforms = []string{"", string(truth.Hardware), string(truth.Published)}

// check fills the scenario and collects every problem.
func (c *checker) check(s *Scenario) {
	f := c.file
	s.Title, s.Source, s.Notes = f.Title, f.Source, f.Notes
	s.limit = c.span(f.Limit, 0, "limit")
	c.seeds(s)
	c.loads(s)
	for _, name := range f.Columns {
		source, err := interference.ParseSource(name)
		if err != nil {
			c.fail(c.at("columns"), "%s", err)
		}
		s.Columns = append(s.Columns, source)
	}
	if len(f.Columns) == 0 {
		s.Columns = paragonColumns
	}
	switch {
	case f.Provision != nil:
		c.provision()
	case f.Colocation != nil:
		c.colocation(s)
	default:
		c.cluster()
	}
	switch {
	case f.Colocation != nil || f.Provision != nil:
	case f.JobClasses != nil && len(f.Populations)+len(f.Traces) > 0:
		c.fail(c.at("", blockAt{"job_classes", 0}), "job classes have no truth: they cannot be mixed with populations or traces")
	case f.JobClasses != nil:
		c.jobClasses()
	case len(f.Populations)+len(f.Traces)+len(f.Deadlines) == 0:
		c.fail(c.body.Range(), "nothing is submitted: a population, a trace, a deadlines or a job_classes block is needed")
	case len(f.Populations) > 0 && len(f.Traces) > 0:
		c.fail(c.at("", blockAt{"trace", 0}), "a trace has no truth: it cannot be mixed with populations")
	case len(f.Traces) > 1:
		c.fail(c.at("", blockAt{"trace", 1}), "one trace at a time")
	}
	for i := range f.Populations {
		c.population(i)
	}
	for i := range f.Traces {
		c.trace(i)
	}
	for i := range f.Deadlines {
		c.deadlines(i)
	}
	if len(c.problems) == 0 && s.usesMeasured() {
		c.onlyMeasured()
	}
	c.calibrated(s)
	c.world()
	c.policies()
	c.profiling(s)
	c.withDeadlines()
}

func (c *checker) seeds(s *Scenario) {
	if n := len(c.file.Seeds); n == 0 || n > maxSeeds {
		c.fail(c.at("seeds"), "1 to %d seeds are needed, not %d", maxSeeds, n)
	}
	seen := map[int]bool{}
	for _, v := range c.file.Seeds {
		if v < 0 || seen[v] {
			c.fail(c.at("seeds"), "seed %d is negative or there twice", v)
		}
		seen[v] = true
		s.Seeds = append(s.Seeds, uint64(v))
	}
}

func (c *checker) loads(s *Scenario) {
	by := c.file.JobClasses != nil
	for _, p := range c.file.Populations {
		by = by || p.Arrivals.ByLoad
	}
	if c.file.Provision != nil {
		s.Loads = append(s.Loads, c.file.Loads...) // checked with its sweep
		if len(s.Loads) == 0 {
			s.Loads = []float64{0}
		}
		return
	}
	if c.file.Colocation == nil && by != (len(c.file.Loads) > 0) {
		c.fail(c.at("loads"), "loads and an arrivals block with by_load = true need each other")
	}
	for _, l := range c.file.Loads {
		if !(l > 0) || l > 10 && c.file.Colocation == nil {
			c.fail(c.at("loads"), "a load is a share of the cluster's cores above 0, not %v", l)
		}
	}
	s.Loads = append(s.Loads, c.file.Loads...)
	if len(s.Loads) == 0 {
		s.Loads = []float64{0}
	}
}

func (c *checker) cluster() {
	at, b := blockAt{"cluster", 0}, c.file.Cluster
	switch {
	case one(b.Shape != "", b.Nodes != "", len(b.Kinds) > 0) != 1:
		c.fail(c.at("shape", at), "cluster needs either shape, machines or kind blocks")
	case b.Shape != "":
		if _, err := shape.Lookup(b.Shape); err != nil {
			c.fail(c.at("shape", at), "%s", err)
		}
	}
	for i, l := range b.Lose {
		here := blockAt{"lose", i}
		if l.Nodes < 1 {
			c.fail(c.at("nodes", at, here), "nodes = %d: at least one is lost", l.Nodes)
		}
		c.span(l.At, 0, "at", at, here)
		c.span(l.For, 0, "for", at, here)
	}
}

func (c *checker) population(i int) {
	p, at := &c.file.Populations[i], blockAt{"population", i}
	if len(p.Classes) == 0 {
		c.fail(c.at("classes", at), "classes is empty")
	}
	for _, name := range p.Classes {
		c.oneOf(name, truth.ClassNames(), "classes", at)
	}
	if len(p.Weights) > 0 && len(p.Weights) != len(p.Classes) {
		c.fail(c.at("weights", at), "%d weights for %d classes", len(p.Weights), len(p.Classes))
	}
	for _, w := range p.Weights {
		if w < 0 {
			c.fail(c.at("weights", at), "a weight is negative")
		}
	}
	c.between(p.Jobs, 1, maxJobs, "jobs", at)
	c.between(p.Applications, 0, maxJobs, "applications", at)
	c.between(p.Phases, 0, 16, "phases", at)
	c.between(p.Tasks, 0, maxTasks, "tasks", at)
	c.oneOf(p.Platforms, platforms, "platforms", at)
	c.oneOf(p.Shape, []string{"", "batch", "tasks"}, "shape", at)
	c.between(p.MostCores, 0, 1024, "most_cores", at)
	c.oneOf(p.Reservations, []string{"", "exact", "published"}, "reservations", at)
	if p.Reservations != "" && !p.Targets {
		c.fail(c.at("reservations", at), "reservations differ from the need only with targets = true")
	}
	if p.Targets && p.Shape == "tasks" {
		c.fail(c.at("targets", at), "tasks have no common target")
	}
	if p.Swing < 0 || p.Swing >= 1 {
		c.fail(c.at("load_swing", at), "load_swing is a share from 0 to below 1")
	}
	c.span(p.SwingPeriod, 0, "load_period", at)
	c.span(p.SpikeAt, 0, "spike_at", at)
	if length := c.span(p.SpikeFor, 0, "spike_for", at); p.Spike < 0 || (p.Spike > 0) != (length > 0) {
		c.fail(c.at("load_spike", at), "load_spike is above 0, and it and spike_for need each other")
	}
	if _, err := p.Arrivals.times(time.Second); err != nil {
		c.fail(c.at("", at, blockAt{"arrivals", 0}), "%s", err)
	}
	if _, err := p.Duration.distribution(); err != nil {
		c.fail(c.at("", at, blockAt{"duration", 0}), "%s", err)
	}
}

// onlyMeasured: what is measured is not mixed with what is drawn, so that a report
// says one thing.
func (c *checker) onlyMeasured() {
	for i, p := range c.file.Populations {
		if !slices.Equal(p.Classes, []string{truth.MeasuredClass}) {
			c.fail(c.at("classes", blockAt{"population", i}), "class %q is not mixed with drawn ones in a scenario", truth.MeasuredClass)
		}
		if p.Targets {
			c.fail(c.at("targets", blockAt{"population", i}), "measured rows have no targets")
		}
	}
	for i, t := range c.file.Traces {
		if !slices.Equal(t.Classes, []string{truth.MeasuredClass}) {
			c.fail(c.at("classes", blockAt{"trace", i}), "class %q is not mixed with drawn ones in a scenario", truth.MeasuredClass)
		}
	}
}

func (c *checker) between(v, low, high int, attribute string, path ...blockAt) {
	if v < low || v > high {
		c.fail(c.at(attribute, path...), "%s = %d is not from %d to %d", attribute, v, low, high)
	}
}

func (c *checker) trace(i int) {
	t, at := &c.file.Traces[i], blockAt{"trace", i}
	c.oneOf(t.Format, trace.Names(), "trace", at)
	if _, err := t.columns(); err != nil {
		c.fail(c.at("columns", at), "%s", err)
	}
	for _, name := range t.Classes {
		c.oneOf(name, truth.ClassNames(), "classes", at)
	}
	c.oneOf(t.Platforms, platforms, "platforms", at)
	c.between(t.Applications, 0, maxJobs, "applications", at)
	c.between(t.Limit, 0, maxJobs, "limit", at)
	c.span(t.From, 0, "from", at)
	c.span(t.To, 0, "to", at)
	if t.Duration != nil {
		if _, err := t.Duration.distribution(); err != nil {
			c.fail(c.at("", at, blockAt{"duration", 0}), "%s", err)
		}
	}
	for _, s := range []struct {
		name string
		of   *spreadBlock
	}{{"tasks", t.Tasks}, {"task_cores", t.TaskCPU}, {"task_memory_mb", t.TaskMB}} {
		if d := s.of.distribution(1); s.of != nil && d.Check() != nil {
			c.fail(c.at("", at, blockAt{s.name, 0}), "%s", d.Check())
		}
	}
	if !(t.Cores >= 0) || !(t.MemoryMB >= 0) {
		c.fail(c.at("", at), "cores and memory_mb, what 1 means in the trace, must not be negative")
	}
	if t.Sample < 0 || t.Sample > 1 {
		c.fail(c.at("sample", at), "sample = %v is no share from 0 to 1", t.Sample)
	}
	if from, to := must(t.From), must(t.To); to > 0 && to <= from {
		c.fail(c.at("to", at), "to = %q is not after from = %q", t.To, t.From)
	}
}

func (c *checker) profiling(s *Scenario) {
	p, at := c.file.profiling(), blockAt{"profiling", 0}
	c.span(p.Time, 0, "time", at)
	c.between(p.Training, 0, 10_000, "training", at)
	c.between(p.LabSlots, 0, maxJobs, "lab_slots", at)
	c.measured(s, p.Entries, p.Classifier, p.Sources, at)
	for i := range c.file.Policies {
		c.ablated(s, &c.file.Policies[i], blockAt{"policy", i})
	}
	if len(p.Sources) == 0 && s.knows("hashed") {
		c.fail(c.at("", at), "knowledge = \"hashed\" needs sources: those whose scores bear least error")
	}
}

// measured checks how jobs are measured, and what completes it.
func (c *checker) measured(s *Scenario, entries int, classifier string, sources []string, at blockAt) {
	c.between(entries, 0, 100, "entries", at)
	for _, name := range sources {
		if source, err := interference.ParseSource(name); err != nil {
			c.fail(c.at("sources", at), "%s", err)
		} else if !slices.Contains(s.Columns, source) {
			c.fail(c.at("sources", at), "source %q is not one of the scenario's columns", name)
		}
	}
	if classifier == "" {
		return
	}
	var known []string
	for _, d := range classify.Classifiers() {
		known = append(known, d.Name)
	}
	c.oneOf(classifier, known, "classifier", at)
}

// ablated checks what a policy takes from or gives to what is known of jobs.
func (c *checker) ablated(s *Scenario, p *policyBlock, at blockAt) {
	c.measured(s, p.Entries, p.Classifier, p.Sources, at)
	for _, name := range append(slices.Clone(p.Exact), p.Ignored...) {
		c.oneOf(name, estimator.PartNames(), "exact and ignored", at)
	}
	for _, name := range p.Exact {
		if slices.Contains(p.Ignored, name) {
			c.fail(c.at("ignored", at), "%q is in exact and in ignored", name)
		}
	}
	changed := p.Entries != 0 || p.Classifier != "" || len(p.Sources)+len(p.Exact)+len(p.Ignored) > 0
	if changed && (c.file.Colocation != nil || p.Knowledge == "none" || p.Knowledge == "oracle") {
		c.fail(c.at("", at), "policy %s: entries, classifier, sources, exact and ignored change what is measured of jobs, and nothing is", p.Name)
	}
}

func (c *checker) world() {
	if w, at := c.file.World, (blockAt{"world", 0}); w != nil {
		c.span(w.RestartTime, 0, "restart_time", at)
		c.span(w.MoveTime, 0, "move_time", at)
		c.span(w.Window, 0, "window", at)
		c.span(w.SampleEvery, 0, "sample_every", at)
		c.span(w.Decision, 0, "decision_time", at)
		c.span(w.PerNode, 0, "decision_time_per_node", at)
	}
}

func (c *checker) policies() {
	if n := len(c.file.Policies); n == 0 || n > maxPolicies {
		c.fail(c.body.Range(), "1 to %d policy blocks are needed, not %d", maxPolicies, n)
	}
	seen := map[string]bool{}
	for i := range c.file.Policies {
		p, at := &c.file.Policies[i], blockAt{"policy", i}
		if seen[p.Name] {
			c.fail(c.at("", at), "policy %q is there twice", p.Name)
		}
		seen[p.Name] = true
		c.policy(p, at)
	}
}

// policy completes a block and checks its names.
func (c *checker) policy(p *policyBlock, at blockAt) {
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	set(&p.Selector, p.Name)
	set(&p.Admission, "fifo")
	set(&p.Adapter, "none")
	set(&p.Sizing, "reservation")
	var selectors, controllers, adapters []string
	for _, d := range policy.Selectors() {
		selectors = append(selectors, d.Name)
	}
	for _, d := range admission.Controllers() {
		controllers = append(controllers, d.Name)
	}
	for _, d := range adapt.Adapters() {
		adapters = append(adapters, d.Name)
	}
	c.oneOf(p.Selector, selectors, "selector", at)
	c.oneOf(p.Admission, controllers, "admission", at)
	c.held(p, at)
	c.strategy(p, at)
	c.oneOf(p.Adapter, adapters, "adapter", at)
	c.detector(p, at)
	c.oneOf(p.Sizing, []string{"reservation", "policy"}, "sizing", at)
	c.between(p.Agents, 0, 10_000, "agents", at)
	if !(p.StartBelow >= 0 && p.StartBelow <= 1) {
		c.fail(c.at("start_below", at), "start_below = %g is no share from 0 to 1", p.StartBelow)
	}
	d, err := policy.LookupSelector(p.Selector)
	if err == nil {
		if _, err = d.Options(p.Options); err != nil {
			c.fail(c.at("options", at), "%s", err)
		}
		switch {
		case d.NeedsProfile && c.file.Colocation != nil:
			set(&p.Knowledge, "nlm")
		case d.NeedsProfile:
			set(&p.Knowledge, "estimated")
		}
	}
	set(&p.Knowledge, "none")
	c.oneOf(p.Knowledge, c.knowledgeNames(), "knowledge", at)
	if len(c.file.Traces) > 0 && len(c.file.Traces[0].Classes) == 0 && p.Knowledge != "none" {
		c.fail(c.at("knowledge", at), "policy %s needs knowledge, and a trace without classes has nothing to profile: give it classes, or the policy knowledge = \"none\"", p.Name)
	}
}
