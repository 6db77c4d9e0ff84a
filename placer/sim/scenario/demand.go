package scenario

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// demandBlock is jobs that arrive at a steady pace, each of a size such that the cores needed by
// those that are there follow a curve (Delimitrou 2015, §8.2.1, table 8.2).
type demandBlock struct {
	For          string             `hcl:"for"`           // jobs arrive
	Ends         string             `hcl:"ends"`          // a job that would end later, ideally, is as much shorter
	Every        string             `hcl:"every"`         // one arrives
	BatchJobs    float64            `hcl:"batch_jobs"`    // per service
	BatchCores   float64            `hcl:"batch_cores"`   // per core of services
	Batch        []string           `hcl:"batch_classes"` // of applications
	Services     []string           `hcl:"service_classes"`
	Applications int                `hcl:"applications"`       // to draw from
	Sensitive    *float64           `hcl:"sensitive,optional"` // share of the jobs; as they are drawn
	Points       []demandPointBlock `hcl:"point,block"`
	Duration     durationBlock      `hcl:"duration,block"`
}

// demandPointBlock is a point of the curve, which is linear between points.
type demandPointBlock struct {
	At       string   `hcl:"at"`
	Cores    float64  `hcl:"cores"`
	Services *float64 `hcl:"services,optional"` // their share of the cores; as batch_cores says
}

// demanded is what a provision block submits.
type demanded struct {
	jobs     []sim.Job
	asked    []cluster.Resources // by job: what its user asks for
	training []*truth.Application
	others   []*truth.Application // of other customers, with a core each
}

// byUsers are the jobs of the sizes that their users ask for.
func (d demanded) byUsers() []sim.Job {
	out := slices.Clone(d.jobs)
	for i := range out {
		out[i].Size = d.asked[i]
	}
	return out
}

// sizesCores are the sizes that jobs have (chosen by us: up to a whole machine; with a job per
// second for as many minutes as published, the least published load is half a core per job).
var sizesCores = []float64{0.25, 0.5, 1, 2, 4, 8, 16}

const (
	// sizesAhead is how far ahead sizes bring the needed cores onto the curve (chosen by us: twice
	// as long, and surges are late; half as long, and sizes jump).
	sizesAhead = time.Minute
	// sizesSigma is the deviation of the logarithm of sizes around what the curve wants (chosen by
	// us: two thirds are within a factor of two).
	sizesSigma = 0.7
	// leastDuration is what jobs are shortened to at most, where they would end too late.
	leastDuration = 5 * time.Minute
	// sensitiveAbove is the demand for a resource from which a job counts as sensitive: the
	// threshold of P2 (Delimitrou 2015, §8.4.2: jobs that need 80 % quality).
	sensitiveAbove = 80
	// demandStream separates the draws of a provision block from others of a seed.
	demandStream = 0x64656d616e64
)

// draw the jobs of a seed where loads stand for a value of a sweep.
func (p *provisionBlock) draw(m *truth.Model, profiling profilingBlock, seed uint64, load float64) (demanded, error) {
	v, d := p.at(load), &p.Demand
	out := demanded{}
	pool, err := d.applications(m, cmp.Or(profiling.Training, defaultTraining), seed, v.pressure, &out)
	if err != nil {
		return demanded{}, err
	}
	durations, err := d.Duration.distribution()
	if err != nil {
		return demanded{}, err
	}
	random := rand.New(rand.NewPCG(seed, demandStream))
	every := time.Duration(float64(must(d.Every)) / p.scale())
	sides := d.sides(p.scale(), every)
	sized := map[sizedKey]*truth.Application{}
	for at := every; at < must(d.For); at += every {
		side := &sides[0]
		if random.Float64()*(1+d.BatchJobs) < 1 {
			side = &sides[1]
		}
		took := time.Duration(durations.Draw(random) * float64(time.Second))
		took = min(took, max(leastDuration, must(d.Ends)-at))
		a := pick(pool[side.service], v.sensitive, random)
		key := sizedKey{a, side.size(at, took, random)}
		if sized[key] == nil {
			sized[key] = a.Resized(key.cores)
		}
		j := demandedJob(sized[key], len(out.jobs), at, took)
		out.jobs = append(out.jobs, j)
		out.asked = append(out.asked, p.askedFor(j.Size, random))
	}
	return out, nil
}

// sizedKey is a program at a size: jobs of both share what was profiled.
type sizedKey struct {
	of    *truth.Application
	cores float64
}

// applications to draw from, by whether they are services; then those that teach, and as many as
// there are to draw from for other customers.
func (d *demandBlock) applications(m *truth.Model, training int, seed uint64, pressure float64, out *demanded) (map[bool][]*truth.Application, error) {
	ours := d.Applications + training
	spec := truth.Spec{Classes: slices.Concat(d.Batch, d.Services), Count: ours + d.Applications, PeakShare: -1}
	others, err := truth.Population(m, spec, seed)
	if err != nil {
		return nil, err
	}
	spec.Count, spec.CausedScale = ours, pressure
	all, err := truth.Population(m, spec, seed)
	if err != nil {
		return nil, err
	}
	pool := map[bool][]*truth.Application{}
	for _, a := range all[:d.Applications] {
		pool[truth.Service(a.Class)] = append(pool[truth.Service(a.Class)], a)
	}
	out.training = all[d.Applications:]
	for _, a := range others[ours:] {
		one := a.Resized(1)
		one.Phases[0].MemoryMB = 0 // it takes that of its own slice
		out.others = append(out.others, one)
	}
	return pool, nil
}

// pick an application; where a share of sensitive jobs is given, of those that are or are not.
// Where none is, any.
func pick(pool []*truth.Application, sensitive *float64, random *rand.Rand) *truth.Application {
	at := random.Float64()
	if sensitive != nil {
		wanted := random.Float64() < *sensitive
		var of []*truth.Application
		for _, a := range pool {
			if isSensitive(a) == wanted {
				of = append(of, a)
			}
		}
		if len(of) > 0 {
			pool = of
		}
	}
	return pool[int(at*float64(len(pool)))]
}

// isSensitive reports whether a program tolerates less of some resource than a job may that is
// sent anywhere.
func isSensitive(a *truth.Application) bool {
	tolerated, _ := truth.TrueScores(a, 0, 1-sim.QoS)
	return slices.ContainsFunc(tolerated, func(t float64) bool { return 100-t > sensitiveAbove })
}

// demandedJob is one submission. Its target is what the program does alone: what it is measured
// by, whichever size its user asks for.
func demandedJob(a *truth.Application, number int, at, took time.Duration) sim.Job {
	j := sim.Job{
		Number: number, At: at, App: a, Class: slices.Index(truth.ClassNames(), a.Class), Duration: took, Count: 1, Target: a.Isolated[0],
		Size: cluster.Resources{CPUMHz: int(a.Cores * mhzPerCore), MemoryMB: int(math.Ceil(a.MemoryMB))},
	}
	if truth.Service(a.Class) {
		j.Shape = sim.Service
	}
	return j
}

// askedFor is what the user of a job asks for: the published error, rounded to quarters of a core,
// within a machine. Memory goes with it, but not below the need: a job that is killed has no
// performance to compare (chosen by us).
func (p *provisionBlock) askedFor(need cluster.Resources, random *rand.Rand) cluster.Resources {
	const quarter = mhzPerCore / 4
	factor := userError(random)
	mhz := quarter * int(math.Round(factor*float64(need.CPUMHz)/quarter))
	return cluster.Resources{
		CPUMHz:   min(p.MachineCores*mhzPerCore, max(quarter, mhz)),
		MemoryMB: min(p.MachineMemoryMB, max(need.MemoryMB, int(factor*float64(need.MemoryMB)))),
	}
}

// demandSide is the batch jobs, or the services, of a demand: its part of the curve, and the jobs
// that are there.
type demandSide struct {
	service bool
	curve   []curvePoint
	every   time.Duration // one of them arrives
	there   []demandedEnd
}

type curvePoint struct {
	at    time.Duration
	cores float64
}

type demandedEnd struct {
	at    time.Duration
	cores float64
}

func (d *demandBlock) sides(scale float64, every time.Duration) [2]demandSide {
	batch := d.BatchJobs / (1 + d.BatchJobs)
	out := [2]demandSide{
		{every: time.Duration(float64(every) / batch)},
		{service: true, every: time.Duration(float64(every) / (1 - batch))},
	}
	for _, p := range d.Points {
		services := 1 / (1 + d.BatchCores)
		if p.Services != nil {
			services = *p.Services
		}
		out[0].curve = append(out[0].curve, curvePoint{must(p.At), scale * p.Cores * (1 - services)})
		out[1].curve = append(out[1].curve, curvePoint{must(p.At), scale * p.Cores * services})
	}
	return out
}

// wanted is the curve at a moment; after its last point that.
func (s *demandSide) wanted(at time.Duration) float64 {
	before := curvePoint{}
	for _, p := range s.curve {
		if p.at > at {
			share := float64(at-before.at) / float64(p.at-before.at)
			return before.cores + share*(p.cores-before.cores)
		}
		before = p
	}
	return before.cores
}

// size of a job that arrives, such that those that arrive until sizesAhead make up for what is
// missing then.
func (s *demandSide) size(at, took time.Duration, random *rand.Rand) float64 {
	then := at + sizesAhead
	s.there = slices.DeleteFunc(s.there, func(e demandedEnd) bool { return e.at <= at })
	missing := s.wanted(then)
	for _, e := range s.there {
		if e.at > then {
			missing -= e.cores
		}
	}
	arrive := max(1, float64(sizesAhead)/float64(s.every))
	spread := math.Exp(sizesSigma*random.NormFloat64() - sizesSigma*sizesSigma/2) // of mean 1
	cores := nearSize(spread*missing/arrive, random)
	s.there = append(s.there, demandedEnd{at + took, cores})
	return cores
}

// nearSize is one of the two sizes around a number of cores, such that the mean is that.
func nearSize(cores float64, random *rand.Rand) float64 {
	at, draw := sizesCores[0], random.Float64()
	for _, next := range sizesCores[1:] {
		if cores <= at {
			return at
		}
		if cores < next && draw >= (cores-at)/(next-at) {
			return at
		}
		at = next
	}
	return at
}

// demand checks the block.
func (c *checker) demand() {
	d, at, here := &c.file.Provision.Demand, blockAt{"provision", 0}, blockAt{"demand", 0}
	length, ends, every := c.span(d.For, 0, "for", at, here), c.span(d.Ends, 0, "ends", at, here), c.span(d.Every, 0, "every", at, here)
	if length <= 0 || every <= 0 || ends < length {
		c.fail(c.at("for", at, here), "for and every are above 0, and ends is not before for")
	} else if n := float64(length) / float64(every) * c.file.Provision.scale(); n > maxJobs {
		c.fail(c.at("every", at, here), "about %.0f jobs, at most %d", n, maxJobs)
	}
	if !(d.BatchJobs > 0) || !(d.BatchCores > 0) {
		c.fail(c.at("batch_jobs", at, here), "batch_jobs, per service, and batch_cores, per core of services, are above 0")
	}
	c.between(d.Applications, 2, maxTasks, "applications", at, here)
	c.sorts(d.Batch, false, "batch_classes", at, here)
	c.sorts(d.Services, true, "service_classes", at, here)
	if s := d.Sensitive; s != nil && !(*s >= 0 && *s <= 1) {
		c.fail(c.at("sensitive", at, here), "sensitive = %v is no share from 0 to 1", *s)
	}
	if _, err := d.Duration.distribution(); err != nil {
		c.fail(c.at("", at, here, blockAt{"duration", 0}), "%s", err)
	}
	if len(d.Points) == 0 {
		c.fail(c.at("", at, here), "point blocks are needed: how many cores are needed at which time")
	}
	last := time.Duration(-1)
	for i, p := range d.Points {
		point := blockAt{"point", i}
		when := c.span(p.At, 0, "at", at, here, point)
		if when <= last {
			c.fail(c.at("at", at, here, point), "at = %q is not after the point in front of it", p.At)
		}
		last = when
		if !(p.Cores >= 0) || p.Services != nil && !(*p.Services >= 0 && *p.Services <= 1) {
			c.fail(c.at("cores", at, here, point), "cores are at least 0, and services a share from 0 to 1")
		}
	}
}

// sorts checks classes of applications, and that each serves or ends.
func (c *checker) sorts(classes []string, service bool, attribute string, path ...blockAt) {
	var known []string
	for _, name := range truth.ClassNames() {
		if name != truth.MeasuredClass && truth.Service(name) == service {
			known = append(known, name)
		}
	}
	if len(classes) == 0 {
		c.fail(c.at(attribute, path...), "%s is empty. Known: %v", attribute, known)
	}
	for _, name := range classes {
		c.oneOf(name, known, attribute, path...)
	}
}
