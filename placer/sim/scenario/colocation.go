package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// colocationBlock is a cluster of machines with a few equal slots, and applications
// measured next to each other as what is submitted (Chiang and Huang 2011, §4.1). It
// takes the place of cluster, populations and profiling.
type colocationBlock struct {
	Machines int    `hcl:"machines"`
	Slots    int    `hcl:"slots,optional"` // of a machine; 2
	Mix      string `hcl:"mix"`            // light, medium, heavy or uniform: of requests to the disk
	// Spread of the rank by requests, a standard deviation; 1.5.
	Spread  float64 `hcl:"spread,optional"`
	Runtime string  `hcl:"runtime"` // of every application alone
	// PerMinute are submitted, as a Poisson process, until the limit; with loads, the
	// load is the number. Without either as many as there are slots are submitted at
	// once.
	PerMinute float64 `hcl:"per_minute,optional"`
	Poisson   bool    `hcl:"poisson,optional"` // the loads are numbers per minute
}

const (
	defaultSlots  = 2
	defaultSpread = 1.5 // not published
)

// mixMeans are the mean ranks of the published mixes of eight applications.
var mixMeans = map[string]float64{"light": 2.5, "medium": 4, "heavy": 5.5, "uniform": math.NaN()}

// characteristicColumns are the columns of a board whose scores are characteristics
// and not percent.
var characteristicColumns = []interference.Source{"reads", "writes", "cpu_local", "cpu_global"}

// colocationKnowledge are what policies may know: a model learnt next to background
// workloads, or the measured pairs themselves.
var colocationKnowledge = []string{"nlm", "lm", "wmm", "oracle", "none"}

func (c *checker) colocation(s *Scenario) {
	b, at := c.file.Colocation, blockAt{"colocation", 0}
	if len(c.file.Columns) > 0 {
		c.fail(c.at("columns"), "colocation has columns of its own")
	}
	s.Columns = characteristicColumns
	c.between(b.Machines, 1, maxJobs, "machines", at)
	c.between(b.Slots, 0, 64, "slots", at)
	c.oneOf(b.Mix, []string{"light", "medium", "heavy", "uniform"}, "mix", at)
	if b.Spread < 0 {
		c.fail(c.at("spread", at), "spread is a standard deviation above 0, not %v", b.Spread)
	}
	if c.span(b.Runtime, 0, "runtime", at) <= 0 {
		c.fail(c.at("runtime", at), "runtime is needed, above 0")
	}
	if b.Poisson != (len(c.file.Loads) > 0) {
		c.fail(c.at("poisson", at), "loads and poisson = true need each other")
	}
	if b.PerMinute < 0 || b.Poisson && b.PerMinute > 0 {
		c.fail(c.at("per_minute", at), "per_minute is above 0, and excludes poisson = true")
	}
	if (b.Poisson || b.PerMinute > 0) && s.limit <= 0 {
		c.fail(c.at("limit"), "work that keeps coming needs a limit")
	}
	if len(c.file.Populations)+len(c.file.Traces) > 0 || c.file.Profiling != nil || c.file.Cluster.Shape != "" || c.file.Cluster.Nodes != "" {
		c.fail(c.at("", at), "colocation replaces the cluster, populations, traces and profiling: an empty cluster block is left")
	}
}

// Colocated reports whether the scenario is of applications measured next to each
// other, of which policies know a model.
func (s *Scenario) Colocated() bool { return s.file.Colocation != nil }

// colocation is what all runs of such a scenario share.
type colocation struct {
	block *colocationBlock
	world *truth.Colocated
	set   *backgrounds.Set
}

func newColocation(b *colocationBlock) (*colocation, error) {
	set, err := backgrounds.Load(backgrounds.Local)
	if err != nil {
		return nil, err
	}
	world, err := truth.NewColocated(set)
	if err != nil {
		return nil, err
	}
	return &colocation{b, world, set}, nil
}

func (l *colocation) slots() int {
	if l.block.Slots > 0 {
		return l.block.Slots
	}
	return defaultSlots
}

// slotSize is what an application takes of a machine.
var slotSize = cluster.Resources{Cores: 1, MemoryMB: 1}

func (l *colocation) hardware() *hardware {
	h := &hardware{machines: []truth.Machine{{Name: "slots", Cores: float64(l.slots()), MemoryMB: float64(l.slots())}}}
	for range l.block.Machines {
		h.nodes = append(h.nodes, node{cores: l.slots(), mhz: l.slots() * mhzPerCore, memoryMB: l.slots()})
		h.cores += float64(l.slots())
	}
	h.machines[0].Capability = []float64{100, 100, 100, 100}
	return h
}

// jobs are those of a seed and load.
func (l *colocation) jobs(seed uint64, load float64, limit time.Duration) sim.Source {
	out := &colocatedJobs{l: l, random: rand.New(rand.NewPCG(seed, streamJobs)), limit: limit}
	if l.block.PerMinute > 0 {
		load = l.block.PerMinute
	}
	if load > 0 {
		out.gap = time.Duration(float64(time.Minute) / load)
	} else {
		out.left = l.block.Machines * l.slots()
	}
	return out
}

// expected is the number of jobs, about.
func (j *colocatedJobs) expected() int {
	if j.gap > 0 {
		return int(j.limit / j.gap)
	}
	return j.left
}

type colocatedJobs struct {
	l      *colocation
	random *rand.Rand
	gap    time.Duration // mean; 0: all at once
	limit  time.Duration
	left   int // where all are there at once
	number int
	now    time.Duration
}

// Next implements sim.Source.
func (j *colocatedJobs) Next() (sim.Job, bool, error) {
	if j.gap > 0 {
		j.now += time.Duration(j.random.ExpFloat64() * float64(j.gap))
		if j.now > j.limit {
			return sim.Job{}, false, nil
		}
	} else if j.left--; j.left < 0 {
		return sim.Job{}, false, nil
	}
	job := sim.Job{
		Number: j.number, At: j.now, App: j.draw(), Class: -1, Count: 1, Size: slotSize, Duration: must(j.l.block.Runtime),
	}
	j.number++
	return job, true, nil
}

// draw an application by its rank.
func (j *colocatedJobs) draw() *truth.Application {
	all := j.l.world.Applications()
	mean := mixMeans[j.l.block.Mix]
	if math.IsNaN(mean) {
		return all[j.random.IntN(len(all))]
	}
	spread := j.l.block.Spread
	if spread == 0 {
		spread = defaultSpread
	}
	rank := math.Round(mean + spread*j.random.NormFloat64())
	return all[int(min(float64(len(all)), max(1, rank)))-1]
}

// colocated wires a run of such a scenario.
func (r *runs) colocated(c *sim.Config, t task) error {
	l := r.colocation
	jobs := l.jobs(c.Seed, r.scenario.Loads[t.load], r.scenario.limit)
	c.Jobs, c.Truth, c.Expect = jobs, l.world, jobs.(*colocatedJobs).expected()
	if t.policy.Knowledge == "none" {
		return nil
	}
	known, err := estimator.NewColocated(l.world, l.set, t.policy.Knowledge, must(l.block.Runtime))
	if err != nil {
		return fmt.Errorf("knowledge %s: %w", t.policy.Knowledge, err)
	}
	c.Estimator = known
	return nil
}

// hardwareOf is the cluster of the scenario, or of its colocation or provision.
func (s *Scenario) hardwareOf(l *colocation) (*hardware, error) {
	switch {
	case l != nil:
		return l.hardware(), nil
	case s.file.Provision != nil:
		return s.file.Provision.hardware(), nil
	}
	return s.hardware()
}

// boardOf is a fresh board of the run.
func (r *runs) boardOf(p *policyBlock) *board.Board {
	if r.colocation != nil {
		return r.hardware.board(characteristicColumns)
	}
	return r.hardware.board(r.columns(p))
}

// knowledgeNames are what a policy block may say.
func (c *checker) knowledgeNames() []string {
	if c.file.Colocation != nil {
		return colocationKnowledge
	}
	return []string{"estimated", "planned", "hashed", "useless", "oracle", "none"}
}
