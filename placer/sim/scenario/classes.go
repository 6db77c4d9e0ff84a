package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// What 1 is where a cluster of kinds does not say: sizes then have five digits.
const (
	wholeCores    = 100
	wholeMemoryMB = 100_000
)

func (b *clusterBlock) whole() (mhz, memoryMB float64) {
	mhz, memoryMB = wholeCores*mhzPerCore, wholeMemoryMB
	if u := b.Units; u != nil && u.Cores > 0 {
		mhz = u.Cores * mhzPerCore
	}
	if u := b.Units; u != nil && u.MemoryMB > 0 {
		memoryMB = u.MemoryMB
	}
	return mhz, memoryMB
}

// fromKinds builds the cluster of kind blocks, in their order.
func (s *Scenario) fromKinds() (*hardware, error) {
	mhz, memoryMB := s.file.Cluster.whole()
	h := &hardware{mhz: mhz, memoryMB: memoryMB}
	for i, k := range s.file.Cluster.Kinds {
		n := node{configuration: i, mhz: int(math.Round(k.CPU * mhz)), memoryMB: int(math.Round(k.Memory * memoryMB))}
		n.cores = n.mhz / mhzPerCore
		m := truth.Machine{
			Name: fmt.Sprintf("%g/%g", k.CPU, k.Memory), Cores: float64(n.mhz) / mhzPerCore, GHz: unknownGHz, IPC: 1, LLCMB: unknownLLCMB,
			MemoryMB: float64(n.memoryMB), Siblings: unknownSiblings, Family: "unknown", Share: float64(k.Machines) * k.CPU,
		}
		for range k.Machines {
			h.nodes = append(h.nodes, n)
			h.cores += m.Cores
		}
		h.machines = append(h.machines, m)
	}
	capabilities(h.machines, s.Columns)
	return h, nil
}

// jobClass is a class drawn or stated.
type jobClass struct {
	hours, sigma, share float64
	need                [2]float64 // cpu and memory, of the whole
	rate                []float64  // by kind, relative
	application         *truth.Application
}

// draw the classes and the jobs of a seed at a load.
func (j *jobClassesBlock) draw(s *Scenario, h *hardware, seed uint64, load float64) ([]sim.Job, lotes.Model, error) {
	random := rand.New(rand.NewPCG(seed, streamJobs))
	classes := j.classes(len(h.machines), random)
	model, program := statedModel(classes, h)
	plan, err := lotes.Make(program, lotes.Near)
	if err != nil {
		return nil, model, fmt.Errorf("job_classes: %w", err)
	}
	if !j.Declared {
		model = lotes.Model{}
	}
	begin, err := j.begin(s, h, random)
	if err != nil {
		return nil, model, fmt.Errorf("job_classes: %w", err)
	}
	perHour := (load - begin.held) * plan.Binned
	if perHour <= 0 {
		return nil, model, fmt.Errorf("job_classes: the tasks at the start hold %.2f of the cores, which is no less than the load %v", begin.held, load)
	}
	if expected := perHour*must(j.For).Hours() + float64(len(begin.jobs)); expected > maxJobs {
		return nil, model, fmt.Errorf("job_classes: about %.0f jobs, at most %d", expected, maxJobs)
	}
	return j.jobs(classes, h, perHour, begin, random), model, nil
}

// classes as stated, or drawn (Tran 2016, §5.4): mean times uniform, at least a
// share of them, needs around their mean, rates relative between kinds of machines.
func (j *jobClassesBlock) classes(kinds int, random *rand.Rand) []jobClass {
	var out []jobClass
	for _, c := range j.Classes {
		out = append(out, jobClass{hours: must(c.Time).Hours(), sigma: c.Sigma, share: c.Share, need: [2]float64{c.CPU, c.Memory}})
	}
	unit := orElse(j.Time, time.Hour).Hours()
	for range j.Drawn {
		c := jobClass{hours: unit * max(j.Least, random.Float64()), share: 1}
		for l := range c.need {
			c.need[l] = j.Need + j.Phi*(2*random.Float64()-1)
		}
		out = append(out, c)
	}
	for k := range out {
		for range kinds {
			out[k].rate = append(out[k].rate, 1+j.Omega*(2*random.Float64()-1))
		}
		if j.Omega > 0 {
			out[k].application = &truth.Application{
				Name: fmt.Sprint("class ", k+1), Unit: "jobs/h", Cores: 1e-9, Isolated: out[k].rate, Phases: []truth.Phase{{Share: 1}}, Origin: "drawn: rates of a class by kind of machine",
			}
		}
	}
	return out
}

// statedModel is the classes as LoTES gets them, and its program.
func statedModel(classes []jobClass, h *hardware) (lotes.Model, lotes.Program) {
	model := lotes.Model{Declared: true}
	var p lotes.Program
	counts := make([]int, len(h.machines))
	for _, n := range h.nodes {
		counts[n.configuration]++
	}
	for i, m := range h.machines {
		p.Configurations = append(p.Configurations, lotes.Configuration{Name: m.Name, Machines: counts[i], Capacity: []float64{m.Cores * mhzPerCore, m.MemoryMB}})
	}
	for _, c := range classes {
		own := lotes.ModelClass{Share: c.share, Size: lotes.Size{CPUMHz: c.need[0] * h.mhz, MemoryMB: c.need[1] * h.memoryMB}}
		for _, r := range c.rate {
			own.Rate = append(own.Rate, r/c.hours)
		}
		model.Classes = append(model.Classes, own)
		p.Classes = append(p.Classes, lotes.Class{Share: c.share, Need: []float64{own.Size.CPUMHz, own.Size.MemoryMB}, Rate: own.Rate})
	}
	return model, p
}

// jobs arrive one by one, at random, after those that are there at the start.
func (j *jobClassesBlock) jobs(classes []jobClass, h *hardware, perHour float64, begin classesBegin, random *rand.Rand) []sim.Job {
	out, end, most := begin.jobs, must(j.For), slices.Max(begin.hourly)
	for at := time.Duration(0); ; {
		at += time.Duration(random.ExpFloat64() / (perHour * most) * float64(time.Hour))
		if at >= end {
			return out
		}
		if random.Float64()*most < begin.hourly[int(at.Hours())%len(begin.hourly)] { // thinning: the rate varies
			out = append(out, j.job(classes, h, at, len(out), random))
		}
	}
}

func (j *jobClassesBlock) job(classes []jobClass, h *hardware, at time.Duration, number int, random *rand.Rand) sim.Job {
	k := j.pick(classes, at, random)
	c := &classes[k]
	hours := c.hours * random.ExpFloat64()
	if c.sigma > 0 {
		hours = c.hours * math.Exp(c.sigma*random.NormFloat64()-c.sigma*c.sigma/2)
	}
	out := sim.Job{Number: number, At: at, Shape: sim.Batch, Count: 1}
	if j.Declared {
		out.Declared = k + 1
	}
	out.Size = j.size(c, h, random)
	if c.application != nil {
		out.App = c.application
		if _, best := out.Best(h.machines); best > 0 {
			hours /= best
		}
	}
	out.Duration = max(time.Millisecond, time.Duration(hours*float64(time.Hour)))
	return out
}

// pick a class; with drift each goes up and down in turn (Fig. 7 of the paper).
func (j *jobClassesBlock) pick(classes []jobClass, at time.Duration, random *rand.Rand) int {
	share := func(k int) float64 {
		phase := 2 * math.Pi * (at.Hours()/24 + float64(k)/float64(len(classes)))
		return classes[k].share * (1 + j.Drift*math.Sin(phase))
	}
	sum := 0.0
	for k := range classes {
		sum += share(k)
	}
	u := random.Float64() * sum
	for k := range classes {
		if u -= share(k); u < 0 {
			return k
		}
	}
	return len(classes) - 1
}

// size around the mean of its class: Gaussian, drawn until it is within the largest machine
// (truncated, Tran 2016, §5.4.1), for each resource or, with one draw, for all at once.
func (j *jobClassesBlock) size(c *jobClass, h *hardware, random *rand.Rand) cluster.Resources {
	v := c.need
	if j.OneDraw {
		j.vary(random, v[:])
	} else {
		j.vary(random, v[:1])
		j.vary(random, v[1:])
	}
	return cluster.Resources{CPUMHz: max(1, int(math.Round(v[0]*h.mhz))), MemoryMB: max(1, int(math.Round(v[1]*h.memoryMB)))}
}

// vary needs by one factor that leaves all of them within the largest machine.
func (j *jobClassesBlock) vary(random *rand.Rand, needs []float64) {
	for {
		factor := 1 + j.Variation*random.NormFloat64()
		if factor >= 0 && factor*slices.Max(needs) <= 1 {
			for l := range needs {
				needs[l] *= factor
			}
			return
		}
	}
}

// stated is what policies know of such jobs: everything but their co-runners.
type stated struct{}

// Know implements sim.Estimator.
func (stated) Know(j *sim.Job, _, _ int) (sim.Estimate, error) {
	e := sim.Estimate{Expected: j.Duration}
	if j.App != nil {
		e.Speed = j.App.Isolated
	}
	return e, nil
}

// noInterference is a world in which speeds are those in isolation.
type noInterference struct{}

// Speeds implements truth.World, as do the following methods.
func (noInterference) Speeds(configuration int, on []truth.Placed, out []truth.Speed) []truth.Speed {
	out = out[:0]
	for i := range on {
		v := on[i].Application.Isolated[configuration]
		out = append(out, truth.Speed{Value: v, Isolated: v})
	}
	return out
}

func (noInterference) Group(*truth.Application, int) float64 { return 1 }

func (noInterference) Measure(_ *truth.Application, value, _ float64, _ *rand.Rand) float64 {
	return value
}

// classed wires a run of job classes.
func (r *runs) classed(c *sim.Config, t task) error {
	shared, err := r.submitted(t)
	if err != nil {
		return err
	}
	c.Truth, c.Estimator = nil, stated{}
	if r.scenario.file.JobClasses.Omega > 0 {
		c.Truth = noInterference{}
	}
	c.Jobs, c.Expect = &sim.List{Jobs: shared.jobs}, len(shared.jobs)
	return nil
}

// inform LoTES of the classes that jobs declare.
func (r *runs) inform(t task, b *board.Board) error {
	j := r.scenario.file.JobClasses
	if j == nil || !j.Declared || t.policy.Selector != "lotes" && t.policy.Admission != "lotes" {
		return nil
	}
	shared, err := r.submitted(t)
	if err != nil {
		return err
	}
	lotes.On(b).SetModel(shared.classes)
	return nil
}

// jobClasses checks the block.
func (c *checker) jobClasses() {
	j, at := c.file.JobClasses, blockAt{"job_classes", 0}
	if len(c.file.Cluster.Kinds) == 0 {
		c.fail(c.at("", at), "job classes need a cluster of kind blocks, whose units their needs are in")
	}
	if c.span(j.For, 0, "for", at) == 0 {
		c.fail(c.at("for", at), "for: a time above 0 is needed")
	}
	c.span(j.Time, 0, "time", at)
	c.between(j.Drawn, 0, 64, "drawn", at)
	if (j.Drawn > 0) == (len(j.Classes) > 0) {
		c.fail(c.at("drawn", at), "either drawn, the number of classes, or class blocks are needed")
	}
	for _, v := range []struct {
		name      string
		value     float64
		low, high float64
	}{
		{"phi", j.Phi, 0, 1}, {"omega", j.Omega, 0, 0.95}, {"least", j.Least, 0, 1}, {"variation", j.Variation, 0, 5}, {"drift", j.Drift, 0, 1}, {"need", j.Need, 0, 1},
	} {
		if !(v.value >= v.low && v.value <= v.high) {
			c.fail(c.at(v.name, at), "%s = %v is not from %v to %v", v.name, v.value, v.low, v.high)
		}
	}
	if j.Drawn > 0 && j.Need <= j.Phi {
		c.fail(c.at("need", at), "need = %v must exceed phi = %v: a class must need something", j.Need, j.Phi)
	}
	for i, class := range j.Classes {
		here := blockAt{"class", i}
		if c.span(class.Time, 0, "time", at, here) == 0 || !(class.CPU > 0 && class.CPU <= 1) || !(class.Memory > 0 && class.Memory <= 1) || !(class.Share > 0) || !(class.Sigma >= 0) {
			c.fail(c.at("", at, here), "a class has a time and a share above 0, and cpu and memory above 0 and up to 1")
		}
	}
	if t := j.Trace; t != nil && !(t.Share > 0 && t.Share <= 1) {
		c.fail(c.at("share", at, blockAt{"trace", 0}), "share = %v is not above 0 and up to 1", t.Share)
	}
	for i, k := range c.file.Cluster.Kinds {
		if k.Machines < 1 || !(k.CPU > 0 && k.CPU <= 1) || !(k.Memory > 0 && k.Memory <= 1) {
			c.fail(c.at("", blockAt{"cluster", 0}, blockAt{"kind", i}), "a kind has at least one machine, and cpu and memory above 0 and up to 1")
		}
	}
}

// one counts what is so.
func one(is ...bool) int {
	n := 0
	for _, v := range is {
		if v {
			n++
		}
	}
	return n
}
