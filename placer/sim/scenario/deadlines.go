package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// deadlinesBlock is jobs of independent tasks that are bound by cpu, hold caps and
// must end in time.
type deadlinesBlock struct {
	Name         string             `hcl:"name,label"`
	Jobs         int                `hcl:"jobs"`
	Slack        float64            `hcl:"slack"` // of the deadline over the time at full speed
	MemoryMB     []int              `hcl:"memory_mb"`
	Every        spreadBlock        `hcl:"every_seconds,block"`
	Length       spreadBlock        `hcl:"length_seconds,block"` // at full speed
	Cores        spreadBlock        `hcl:"cores,block"`          // of a task at full speed
	Tasks        spreadBlock        `hcl:"tasks,block"`          // of a job, rounded up
	Interference *interferenceBlock `hcl:"interference,block"`   // none: tasks leave each other alone
	Meter        *meterBlock        `hcl:"meter,block"`          // none: it is exact
}

// interferenceBlock is truth.Interference; what is not given is the paper's.
type interferenceBlock struct {
	Mean      *float64 `hcl:"mean,optional"`
	At        *float64 `hcl:"neighbours,optional"`
	Deviation *float64 `hcl:"deviation,optional"`
	Most      *float64 `hcl:"most,optional"`
}

// meterBlock is the error of the slowdown meter.
type meterBlock struct {
	Bias      float64 `hcl:"bias"`
	Deviation float64 `hcl:"deviation"`
	Relative  bool    `hcl:"relative,optional"`
	Silent    float64 `hcl:"silent,optional"` // share of samples that are lost
}

// streamDeadlines is the stream of random numbers of such jobs.
const streamDeadlines = 101

// The time a move takes by the memory of the task, measured by the paper: 8, 10 and
// 12 s for 256, 512 and 1,024 MB.
func moveTime(memoryMB int) time.Duration {
	seconds := 8 + 2*math.Log2(float64(memoryMB)/256)
	return time.Duration(max(0, seconds) * float64(time.Second))
}

// draw the jobs under a seed.
func (d *deadlinesBlock) draw(seed uint64) []sim.Job {
	random := rand.New(rand.NewPCG(seed, streamDeadlines))
	every, length, cores, tasks := d.Every.distribution(1), d.Length.distribution(1), d.Cores.distribution(1), d.Tasks.distribution(1)
	out := make([]sim.Job, d.Jobs)
	at := 0.0
	for i := range out {
		at += every.Draw(random)
		full := length.Draw(random)
		size := cluster.Resources{CPUMHz: max(1, int(math.Round(cores.Draw(random)*mhzPerCore))), MemoryMB: d.MemoryMB[random.IntN(len(d.MemoryMB))]}
		count := max(1, int(math.Ceil(tasks.Draw(random))))
		out[i] = sim.Job{
			Number: i, At: seconds(at), Shape: sim.Tasks, Gang: true, Count: count, Size: size, Duration: seconds(full),
			Deadline: seconds(full * (1 + d.Slack)), MoveTime: moveTime(size.MemoryMB),
			App: truth.NewTask(fmt.Sprintf("%s-%d", d.Name, i), float64(size.CPUMHz)/mhzPerCore, float64(size.MemoryMB)),
		}
	}
	return out
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// truth is what really happens to them.
func (d *deadlinesBlock) truth(seed uint64) *truth.Capped {
	if d.Interference == nil {
		return &truth.Capped{Seed: seed}
	}
	i := truth.PaperInterference
	for _, p := range []struct{ from, to *float64 }{
		{d.Interference.Mean, &i.Mean}, {d.Interference.At, &i.At}, {d.Interference.Deviation, &i.Deviation}, {d.Interference.Most, &i.Most},
	} {
		if p.from != nil {
			*p.to = *p.from
		}
	}
	return &truth.Capped{Interference: i, Seed: seed}
}

func (d *deadlinesBlock) meter() sim.Meter {
	if d.Meter == nil {
		return sim.Meter{}
	}
	return sim.Meter{Bias: d.Meter.Bias, Deviation: d.Meter.Deviation, Relative: d.Meter.Relative, Silent: d.Meter.Silent}
}

// bound sets the jobs, what really happens to them, and what is seen of it.
func (r *runs) bound(c *sim.Config, t task) error {
	shared, err := r.submitted(t)
	if err != nil {
		return err
	}
	d := &r.scenario.file.Deadlines[0]
	c.Truth, c.Meter = d.truth(c.Seed), d.meter()
	if t.policy.ExactMeter {
		c.Meter = sim.Meter{}
	}
	c.Jobs, c.Expect = &sim.List{Jobs: shared.jobs}, len(shared.jobs)
	return nil
}

// deadlines checks a block.
func (c *checker) deadlines(i int) {
	d, at := &c.file.Deadlines[i], blockAt{"deadlines", i}
	c.between(d.Jobs, 1, maxJobs, "jobs", at)
	if !(d.Slack >= 0) || d.Slack > 100 {
		c.fail(c.at("slack", at), "slack is a share of the time at full speed from 0 to 100, not %v", d.Slack)
	}
	if len(d.MemoryMB) == 0 || slices.ContainsFunc(d.MemoryMB, func(mb int) bool { return mb < 1 || mb > 1<<20 }) {
		c.fail(c.at("memory_mb", at), "memory_mb lists the sizes of tasks, from 1 to %d", 1<<20)
	}
	for name, of := range map[string]trace.Distribution{
		"every_seconds": d.Every.distribution(1), "length_seconds": d.Length.distribution(1), "cores": d.Cores.distribution(1), "tasks": d.Tasks.distribution(1),
	} {
		if err := of.Check(); err != nil {
			c.fail(c.at("", at, blockAt{name, 0}), "%s", err)
		}
	}
	if t := d.truth(0).Interference; d.Interference != nil && (!(t.Mean >= 0) || !(t.At > 0) || !(t.Deviation >= 0) || !(t.Most >= 0) || t.Most > 100) {
		c.fail(c.at("", at, blockAt{"interference", 0}), "mean, deviation and most are at least 0, most at most 100, neighbours above 0")
	}
	if m := d.Meter; m != nil && (!(m.Deviation >= 0) || !(math.Abs(m.Bias) <= 10) || m.Deviation > 10 || !(m.Silent >= 0) || m.Silent > 1) {
		c.fail(c.at("", at, blockAt{"meter", 0}), "bias is from -10 to 10, deviation from 0 to 10, silent a share from 0 to 1")
	}
}

// withDeadlines checks what goes together with such jobs.
func (c *checker) withDeadlines() {
	if len(c.file.Deadlines) == 0 {
		return
	}
	if len(c.file.Deadlines) > 1 || len(c.file.Populations)+len(c.file.Traces) > 0 {
		c.fail(c.at("", blockAt{"deadlines", 0}), "a deadlines block excludes all other submissions: its tasks have a truth of their own")
	}
	for i, p := range c.file.Policies {
		if p.Knowledge != "none" {
			c.fail(c.at("knowledge", blockAt{"policy", i}), "nothing is profiled of tasks with deadlines: give policy %s knowledge = \"none\"", p.Name)
		}
	}
}

// detector checks the name of a policy's detector.
func (c *checker) detector(p *policyBlock, at blockAt) {
	if p.Detector == "" {
		return
	}
	var known []string
	for _, d := range deadline.Detectors() {
		known = append(known, d.Name)
	}
	c.oneOf(p.Detector, known, "detector", at)
}
