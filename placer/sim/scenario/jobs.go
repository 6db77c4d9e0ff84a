package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The streams of random numbers of a seed.
const (
	streamJobs = iota + 1
	streamLost
	streamTrace
	streamAdmission
)

// times is the arrival process; gap is the mean gap that the load demands.
func (a *arrivalsBlock) times(gap time.Duration) (trace.Arrivals, error) {
	every, err := optional(a.Every)
	if err != nil {
		return nil, err
	}
	sigma, err := optional(a.Sigma)
	if err != nil {
		return nil, err
	}
	middle, err := optional(a.Middle)
	if err != nil {
		return nil, err
	}
	if a.ByLoad {
		if a.Every != "" {
			return nil, fmt.Errorf("every and by_load exclude each other")
		}
		every = gap
	}
	var out trace.Arrivals
	switch a.Kind {
	case "constant":
		out = trace.Constant{Gap: every}
	case "poisson":
		out = trace.Poisson{MeanGap: every}
	case "gaussian_gaps":
		out = trace.GaussianGaps{MeanGap: every, Sigma: sigma}
	case "gaussian_times":
		out = trace.GaussianTimes{Middle: middle, Sigma: sigma}
	default:
		return nil, fmt.Errorf("unknown arrivals %q; known: constant, poisson, gaussian_gaps, gaussian_times", a.Kind)
	}
	if b := a.Burst; b != nil {
		between, err := optional(b.Every)
		if err != nil {
			return nil, err
		}
		out = trace.Burst{Base: out, After: b.After, Count: b.Jobs, Gap: between}
	}
	return out, out.Check()
}

func optional(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration such as \"90s\" or \"1h30m\"", text)
	}
	return d, nil
}

// distribution is of seconds.
func (d *durationBlock) distribution() (trace.Distribution, error) {
	var v [4]float64
	for i, text := range []string{d.Value, d.Low, d.High, d.Median} {
		span, err := optional(text)
		if err != nil {
			return nil, err
		}
		v[i] = span.Seconds()
	}
	most, err := optional(d.Most)
	if err != nil {
		return nil, err
	}
	var out trace.Distribution
	switch d.Kind {
	case "fixed":
		out = trace.Fixed(v[0])
	case "loguniform":
		out = trace.LogUniform{Low: v[1], High: v[2]}
	case "lognormal":
		out = trace.LogNormal{Median: v[3], Sigma: d.Sigma, Most: most.Seconds()}
	default:
		return nil, fmt.Errorf("unknown duration %q; known: fixed, loguniform, lognormal", d.Kind)
	}
	return out, out.Check()
}

// submissions are the jobs of the populations under a seed, and what the
// classifiers may learn from.
type submissions struct {
	jobs     []sim.Job
	training []*truth.Application
}

// populations draws everything that is submitted, in order of time.
func (s *Scenario) populations(m *truth.Model, h *hardware, rows []profile.Profile, seed uint64, load float64) (submissions, error) {
	var out submissions
	for i := range s.file.Populations {
		p := &s.file.Populations[i]
		part, err := p.draw(m, h, rows, seed, uint64(i), load)
		if err != nil {
			return out, fmt.Errorf("population %q: %w", p.Name, err)
		}
		out.jobs = append(out.jobs, part.jobs...)
		out.training = append(out.training, part.training...)
	}
	slices.SortStableFunc(out.jobs, func(a, b sim.Job) int { return int(min(1, max(-1, a.At-b.At))) })
	for i := range out.jobs {
		out.jobs[i].Number = i
	}
	return out, nil
}

func (p *populationBlock) draw(m *truth.Model, h *hardware, rows []profile.Profile, seed, number uint64, load float64) (submissions, error) {
	pool, err := applications(m, rows, p.spec(), seed)
	if err != nil {
		return submissions{}, err
	}
	random := rand.New(rand.NewPCG(seed, streamJobs+number<<8))
	durations, err := p.Duration.distribution()
	if err != nil {
		return submissions{}, err
	}
	var out submissions
	for range p.Jobs {
		a := p.pick(pool, random)
		out.jobs = append(out.jobs, p.job(a, m, h, durations, random))
	}
	arrivals, err := p.Arrivals.times(gapOf(out.jobs, h, load))
	if err != nil {
		return submissions{}, err
	}
	for i, at := range arrivals.Times(p.Jobs, random) {
		out.jobs[i].At = at
	}
	return out, nil
}

// spec is of the applications that jobs are drawn from.
func (p *populationBlock) spec() truth.Spec {
	return truth.Spec{Classes: p.sequence(), Count: p.pool(), Phases: p.Phases, CausedScale: p.Pressure, MostCores: float64(p.MostCores), Platforms: truth.Platforms(p.Platforms)}
}

// pool is how many applications jobs are drawn from.
func (p *populationBlock) pool() int {
	if p.Applications > 0 {
		return p.Applications
	}
	return p.Jobs
}

// sequence repeats every class by its weight.
func (p *populationBlock) sequence() []string {
	if len(p.Weights) == 0 {
		return p.Classes
	}
	var out []string
	for i, w := range p.Weights {
		out = append(out, slices.Repeat(p.Classes[i:i+1], w)...)
	}
	return out
}

// pick draws the application of a job.
func (p *populationBlock) pick(all []*truth.Application, random *rand.Rand) *truth.Application {
	if !p.EqualClasses {
		return all[random.IntN(len(all))]
	}
	class := p.Classes[random.IntN(len(p.Classes))]
	for {
		if a := all[random.IntN(len(all))]; a.Class == class {
			return a
		}
	}
}

// gapOf is the mean gap at which jobs keep a share of the cores busy, when each runs
// on nodes as they come and has no co-runners: a load is read off a cluster whose
// scheduler does not always find the best.
func gapOf(jobs []sim.Job, h *hardware, load float64) time.Duration {
	if load <= 0 {
		return time.Second // the arrivals state their own
	}
	cores := make([]float64, len(h.machines))
	for _, n := range h.nodes {
		cores[n.configuration] += float64(n.cores)
	}
	seconds := 0.0
	for i := range jobs {
		j := &jobs[i]
		seconds += float64(j.Size.Cores*j.Count) * j.Duration.Seconds() * slowness(j, h.machines, cores)
	}
	return time.Duration(seconds / float64(len(jobs)) / (load * h.cores) * float64(time.Second))
}

// slowness is how much longer than on its best configuration a job takes on a core
// as it comes; 1 where no configuration holds it.
func slowness(j *sim.Job, machines []truth.Machine, cores []float64) float64 {
	_, best := j.Best(machines)
	sum, weight := 0.0, 0.0
	for i := range machines {
		if v := j.App.Isolated[i]; v > 0 && machines[i].Holds(float64(j.Size.Cores), float64(j.Size.MemoryMB)) {
			sum += cores[i] * best / v
			weight += cores[i]
		}
	}
	if weight == 0 {
		return 1
	}
	return sum / weight
}

// job is one submission of an application.
func (p *populationBlock) job(a *truth.Application, m *truth.Model, h *hardware, durations trace.Distribution, random *rand.Rand) sim.Job {
	j := sim.Job{
		App: a, Class: slices.Index(truth.ClassNames(), a.Class), Count: 1, Priority: p.Priority, BestEffort: p.BestEffort,
		Duration: time.Duration(durations.Draw(random) * float64(time.Second)),
		Size:     cluster.Resources{Cores: int(a.Cores), MemoryMB: int(a.MemoryMB)},
	}
	if p.Shape == "tasks" {
		j.Shape, j.Count = sim.Tasks, max(1, p.Tasks)
	}
	if truth.Service(a.Class) {
		j.Shape = sim.Service
		j.Load = sim.Load{Swing: p.Swing, Period: must(p.SwingPeriod), Shift: time.Duration(random.Float64() * float64(must(p.SwingPeriod)))}
		j.Load.Spike, j.Load.SpikeAt, j.Load.SpikeEnd = p.Spike, must(p.SpikeAt), must(p.SpikeAt)+must(p.SpikeFor)
	}
	if p.Targets {
		p.target(&j, m, random)
		if p.Reservations == "published" {
			reserve(&j, h, random)
		}
	}
	return j
}

// needSpread is how many allocations of a distributed program a target takes, at
// most; chosen by us, so that 1,200 workloads fit the 200 servers of the paper.
const needSpread = 4

// targetQuantile of the configurations, by speed, reaches the target in isolation: a
// user asks for what most machines can do (chosen by us).
const targetQuantile = 0.4

// target sets what a job must reach: what its own size and count give on a
// configuration of the stated quantile.
func (p *populationBlock) target(j *sim.Job, m *truth.Model, random *rand.Rand) {
	if truth.Distributed(j.App.Class) {
		j.Count = 1 + random.IntN(needSpread)
	}
	isolated := slices.Sorted(slices.Values(j.App.Isolated))
	each := isolated[int(targetQuantile*float64(len(isolated)-1))]
	j.Target = each * float64(j.Count) * m.Group(j.App, j.Count)
	if j.Shape == sim.Service {
		j.Target /= 1 + p.Swing // its peak is what it was sized for
	}
}

// reserve puts the published error of users into what a job asks for: 70 % ask
// for up to ten times too much, 20 % for down to a fifth (Delimitrou 2015, §4.1,
// Fig. 4.1d; log-uniform within, a reading). No size is larger than the largest
// node.
func reserve(j *sim.Job, h *hardware, random *rand.Rand) {
	factor := userError(random)
	cores, memory := 0, 0
	for _, n := range h.nodes {
		cores, memory = max(cores, n.cores), max(memory, n.memoryMB)
	}
	if truth.Distributed(j.App.Class) {
		j.Count = min(16, max(1, int(math.Round(factor*float64(j.Count)))))
		return
	}
	j.Size.Cores = min(cores/2, max(1, int(math.Round(factor*float64(j.Size.Cores)))))
	j.Size.MemoryMB = min(memory/2, max(64, int(factor*float64(j.Size.MemoryMB))))
}

// userError is what a user asks for of what the job needs.
func userError(random *rand.Rand) float64 {
	switch x := random.Float64(); {
	case x < 0.7:
		return math.Exp(random.Float64() * math.Log(10))
	case x < 0.9:
		return math.Exp(-random.Float64() * math.Log(5))
	default:
		return 1
	}
}

// coresOf are the numbers of cores a policy may choose, as far as the largest node
// goes (Delimitrou 2015, §4.3.2: quantised to whole cores and blocks of memory).
func coresOf(h *hardware) []int {
	most := 0
	for _, n := range h.nodes {
		most = max(most, n.cores)
	}
	var out []int
	for _, c := range []int{1, 2, 4, 8, 12, 16, 24} {
		if c <= most {
			out = append(out, c)
		}
	}
	return out
}

// memoryBlocksMB go with them.
var memoryBlocksMB = []int{256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768}

// numbersOfNodes are the columns of the scale-out classification.
var numbersOfNodes = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32}
