package truth

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Class is a kind of program with the ranges its applications are drawn from.
type Class struct {
	Name string
	Unit string
	// Cores are the sizes asked for, drawn with equal weight.
	Cores []float64
	// Features are the means of the six hidden properties by which sources and
	// configurations go together, 0 to 1.
	Features [features]float64
	Origin   string

	distributed bool
	service     bool
}

// The hidden properties of a program. Scores and platform factors are non-linear
// functions of them with a residual, so that no matrix is exactly of low rank.
const (
	featureCPU    = iota // bound by the clock
	featureMemory        // streams memory
	featureCache         // lives in the last-level cache
	featureCode          // large instruction footprint
	featureStorage
	featureNetwork
	features
)

// classes are the papers' workload types: Delimitrou 2015, §3.4.1 (29 ST, 22 MT,
// 350 MP, 25 I/O) and §4.4 (Hadoop, memcached, web server, single node). The
// means of the features are ours, ordered as the programs named there are known:
// SPEC integer and floating point for ST, PARSEC for MT, mixes of SPEC for MP,
// Hadoop and Matlab mining for IO.
var classes = []Class{
	{Name: "ST", Unit: "instructions/s", Cores: []float64{1}, Features: [features]float64{.70, .40, .45, .35, .05, .05}, Origin: "drawn as single-threaded SPEC CPU2006"},
	{Name: "MT", Unit: "instructions/s", Cores: []float64{2, 4}, Features: [features]float64{.55, .50, .50, .35, .10, .10}, Origin: "drawn as PARSEC, SPLASH-2 and MineBench"},
	{Name: "MP", Unit: "instructions/s", Cores: []float64{1, 2}, Features: [features]float64{.60, .50, .55, .45, .10, .05}, Origin: "drawn as mixes of four SPEC programs"},
	{Name: "IO", Unit: "records/s", Cores: []float64{1}, Features: [features]float64{.40, .35, .30, .30, .75, .35}, Origin: "drawn as single-node Hadoop and Matlab mining"},
	{Name: "hadoop", Unit: "records/s", Cores: []float64{4}, Features: [features]float64{.45, .45, .35, .35, .70, .55}, distributed: true, Origin: "drawn as Hadoop, Storm and Spark jobs; ranges of Delimitrou 2015, §4.2"},
	{Name: "memcached", Unit: "requests/s", Cores: []float64{4}, Features: [features]float64{.35, .45, .55, .60, .05, .85}, distributed: true, service: true, Origin: "drawn as memcached; ranges of Delimitrou 2015, §4.2"},
	{Name: "web", Unit: "requests/s", Cores: []float64{4}, Features: [features]float64{.50, .40, .50, .70, .25, .65}, distributed: true, service: true, Origin: "drawn as web servers with a database in memory"},
	{Name: "single-node", Unit: "instructions/s", Cores: []float64{1, 2, 4}, Features: [features]float64{.60, .45, .50, .40, .15, .10}, Origin: "drawn as SPEC, PARSEC, BioParallel and SpecJbb"},
}

// ClassNames lists the classes.
func ClassNames() []string {
	var out []string
	for _, c := range classes {
		out = append(out, c.Name)
	}
	return out
}

// Distributed reports whether applications of a class run on several nodes, and
// Service whether they serve instead of ending.
func Distributed(class string) bool { return classOf(class).distributed }

// Service reports whether applications of the class serve requests.
func Service(class string) bool { return classOf(class).service }

func classOf(name string) Class {
	for _, c := range classes {
		if c.Name == name {
			return c
		}
	}
	return Class{}
}

// demand is which features press on a column, and with what weight.
var demand = map[interference.Source][features]float64{
	interference.MemoryCapacity:   {0, .6, .2, 0, .2, .1},
	interference.MemoryBandwidth:  {0, 1, .2, 0, .1, .1},
	interference.StorageCapacity:  {0, 0, 0, 0, .9, 0},
	interference.StorageBandwidth: {0, 0, 0, 0, 1, 0},
	interference.NetworkBandwidth: {0, 0, 0, 0, .1, 1},
	interference.LLCCapacity:      {0, .4, .9, .1, 0, 0},
	interference.LLCBandwidth:     {.1, .5, .7, 0, 0, 0},
	interference.L2Capacity:       {.2, .2, .7, .2, 0, 0},
	interference.L2Bandwidth:      {.2, .2, .7, .1, 0, 0},
	interference.L1Instruction:    {.1, 0, 0, 1, .1, .1},
	interference.L1Data:           {.6, .3, .4, 0, 0, 0},
	interference.TLB:              {0, .5, .4, .3, .1, 0},
	interference.Integer:          {.9, 0, 0, .2, 0, .1},
	interference.FloatingPoint:    {.8, .2, 0, 0, 0, 0},
	interference.Prefetcher:       {.1, .4, .1, .6, 0, 0},
	interference.Interconnect:     {0, .5, .4, 0, .1, .3},
	interference.Vector:           {.7, .3, 0, 0, 0, 0},
}

// Spec says what to draw.
type Spec struct {
	Classes []string // one application of each in turn
	Count   int
	// Phases is how many phases an application has; 0 is 1. With three, the middle
	// one presses harder (Delimitrou 2015, §3.4.1: medium, high, medium memory load).
	Phases int
	// CausedScale multiplies what applications press; 0 is 1.
	CausedScale float64
	// Platforms is where the differences between configurations come from.
	Platforms Platforms
	// PeakShare is the share of applications whose memory peak is above their ask;
	// 0 is defaultPeakShare, negative is none.
	PeakShare float64
}

// Platforms is a model of how configurations differ.
type Platforms string

const (
	// Hardware: by clock, generation, cache and memory; some configurations are
	// better for everything. The default.
	Hardware Platforms = "hardware"
	// Published: by how they suit a program only. In Delimitrou 2015, table 3.1,
	// two configurations drawn at random are the best one as often as chance says,
	// so each is as often the best as another; the best one gains 24 to 40 % on
	// average over a random one, which interactions of the measured size give.
	Published Platforms = "published"
)

// The interactions of Published: the logarithms of run times of 29 SPEC programs
// on six machines (spec-cpu-machine-matrix) deviate by 0.20 from a row and a
// column effect. Three factors of these sizes leave 0.047.
const platformFactors = 3

var platformStrength = [platformFactors]float64{0.147, 0.105, 0.067}

// suits is how a machine is, apart from fast: the same for every program of a
// seed.
func suits(m *Model, seed uint64) [][platformFactors]float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	out := make([][platformFactors]float64, len(m.machines))
	for i := range out {
		for f := range out[i] {
			out[i][f] = random.NormFloat64()
		}
	}
	return out
}

// defaultPeakShare: 20 % of the workloads of a production cluster reserve less
// than they need (Delimitrou 2015, §4.1).
const defaultPeakShare = 0.2

// Population draws applications for a model's columns and configurations. The
// same spec and seed give the same applications; an application depends on its
// own number only, so that a longer population begins with a shorter one.
func Population(m *Model, spec Spec, seed uint64) ([]*Application, error) {
	if len(spec.Classes) == 0 || spec.Count < 0 {
		return nil, fmt.Errorf("truth: a population needs classes and a count, not %v and %d", spec.Classes, spec.Count)
	}
	var out []*Application
	machines := suits(m, seed)
	for i := range spec.Count {
		c := classOf(spec.Classes[i%len(spec.Classes)])
		if c.Name == "" {
			return nil, fmt.Errorf("truth: no class %q; known: %v", spec.Classes[i%len(spec.Classes)], ClassNames())
		}
		out = append(out, draw(m, machines, c, spec, i, rand.New(rand.NewPCG(seed, uint64(i)+1))))
	}
	return out, nil
}

func draw(m *Model, machines [][platformFactors]float64, c Class, spec Spec, number int, random *rand.Rand) *Application {
	a := &Application{Name: fmt.Sprintf("%s-%04d", c.Name, number), Class: c.Name, Unit: c.Unit, Origin: c.Origin}
	var u [features]float64
	for f := range u {
		u[f] = min(1, max(0, c.Features[f]+0.22*random.NormFloat64()))
	}
	a.Cores = c.Cores[random.IntN(len(c.Cores))]
	a.MemoryMB = math.Round(512 * math.Exp2(2.2*random.Float64()) * math.Sqrt(a.Cores)) // 0.5 to 2.4 GB for one core; chosen by us
	need := a.MemoryMB * (0.5 + 0.45*random.Float64())
	share := spec.PeakShare
	if share == 0 {
		share = defaultPeakShare
	}
	if random.Float64() < share {
		need = a.MemoryMB * (1 + 1.5*random.Float64()) // up to 2.5 times: within the published 5 times
	}
	if c.distributed {
		need = a.MemoryMB * 0.8
	}
	if spec.Platforms == Published {
		a.aloneBySuit(machines, random)
	} else {
		a.alone(m, u, random)
	}
	a.scale(c, random)
	first := a.phase(m, u, spec, need, random)
	a.Phases = []Phase{first}
	for i := 1; i < spec.Phases; i++ {
		a.Phases = append(a.Phases, next(first, i, random))
	}
	for i := range a.Phases {
		a.Phases[i].Share = 1 / float64(len(a.Phases))
	}
	return identify(a)
}

// Residuals of the platform factors: the logarithm of 29 SPEC programs on six
// machines (spec-cpu-machine-matrix) has interactions of 0.20 beyond row and
// column, 0.047 after three factors; 172 workloads on virtual machine types
// (lumos-cloud-perf) leave 0.045.
const platformResidual = 0.045

// alone draws the performance on every configuration.
func (a *Application) alone(m *Model, u [features]float64, random *rand.Rand) {
	base := math.Exp(3 + 1.5*random.NormFloat64()) // units differ by orders of magnitude
	working := 0.5 * math.Exp2(5*u[featureCache])  // MB of cache it would use
	for _, machine := range m.machines {
		ln := (0.4+0.6*u[featureCPU])*math.Log(machine.GHz/3) + (0.5+0.7*u[featureCode])*math.Log(machine.IPC)
		ln -= 0.5 * (u[featureCache] + u[featureMemory]) * math.Max(0, math.Log(working/max(0.25, machine.LLCMB))) / 2
		ln += 0.5 * u[featureMemory] * math.Log(bandwidth(m.columns, machine)/100)
		ln *= 1 - 0.6*max(u[featureStorage], u[featureNetwork])
		a.Alone = append(a.Alone, base*math.Exp(ln+platformResidual*random.NormFloat64()))
	}
}

// aloneBySuit draws it where no configuration is better for everything.
func (a *Application) aloneBySuit(machines [][platformFactors]float64, random *rand.Rand) {
	base := math.Exp(3 + 1.5*random.NormFloat64())
	var taste [platformFactors]float64
	for f := range taste {
		taste[f] = random.NormFloat64()
	}
	for _, machine := range machines {
		ln := 0.0
		for f := range taste {
			ln += taste[f] * machine[f] * platformStrength[f]
		}
		a.Alone = append(a.Alone, base*math.Exp(ln+platformResidual*random.NormFloat64()))
	}
}

func bandwidth(columns []interference.Source, machine Machine) float64 {
	for k, c := range columns {
		if c == interference.MemoryBandwidth && machine.Capability != nil {
			return max(1, machine.Capability[k])
		}
	}
	return 100
}

// scale draws scale-up from the measured speed-ups and scale-out as published
// ranges go: from below to above proportional (Delimitrou 2015, §4.2).
func (a *Application) scale(c Class, random *rand.Rand) {
	shape := speedUps[random.IntN(len(speedUps))]
	if c.Name == "ST" || c.Name == "IO" {
		return
	}
	var at float64
	one := Application{Cores: 1, ScaleUp: shape}
	if at = one.relativeCores(a.Cores); at <= 0 {
		return
	}
	for _, p := range shape {
		a.ScaleUp = append(a.ScaleUp, ScalePoint{p.Cores, p.Relative / at})
	}
	if c.distributed {
		a.Out = ScaleOut{Serial: 0.002 + 0.04*random.Float64(), Crosstalk: 0.0015 * random.Float64() * random.Float64(), Gain: 0.25 * max(0, random.Float64()-0.5)}
	}
}

// phase draws responses and pressure.
func (a *Application) phase(m *Model, u [features]float64, spec Spec, needMB float64, random *rand.Rand) Phase {
	p := Phase{MemoryMB: needMB, Intensity: 0.6 + 0.35*random.Float64()}
	scale := spec.CausedScale
	if scale == 0 {
		scale = 1
	}
	program := &keptAtFull[random.IntN(len(keptAtFull))]
	for _, column := range m.columns {
		weights, pull := demand[column], 0.0
		for f, w := range weights {
			pull += w * u[f]
		}
		pull = pull*0.75 + scoreResidual*random.NormFloat64()
		// Most programs lean on a few sources only: what they hardly use, they
		// neither press on nor feel.
		lean := math.Max(0, pull-indifference)
		caused := scale * pressurePerCore * lean * math.Pow(a.Cores, pressureExponent)
		p.Pressure = append(p.Pressure, min(90, caused))
		// Tolerance falls with what a program needs of the source, with a spread of
		// its own: Table 3.2 of the paper has scores in all of its three bands.
		curve := Planted(100, 1)
		for i := range curve {
			curve[i] = 1 - 0.01*float64(i)/(curvePoints-1)
		}
		if lean > 0 {
			full := 0.9 - 0.7*min(1, lean)
			for k, s := range keptSources {
				if s == column {
					full = program.kept[k]
				}
			}
			tolerated := min(100, max(10, 95-100*lean+100*scoreResidual*random.NormFloat64()))
			curve = bent(Planted(tolerated, max(0.1, full+0.05*random.NormFloat64())), random)
		}
		p.Response = append(p.Response, curve)
	}
	return p
}

// The strength of interference, calibrated once on the published losses of the
// least-loaded baseline, which knows nothing of what is modelled here
// (Delimitrou 2015, §3.5: a mean loss of 48 % on 1,000 servers under high load,
// of which platforms explain about half).
const (
	indifference    = 0.25
	pressurePerCore = 80 // percent of a source, of a program that leans on it fully
	// scoreResidual is the part of scores that follows from nothing else. Completed
	// from two sources of ten they were published to be 5.3 points off on average
	// (table 3.2), so it is no larger than a deviation of 6.6 points; 5 is ours.
	scoreResidual = 0.05
)

// bent makes the tail of a curve its own: measured responses have knees where
// the planted one is straight.
func bent(c Curve, random *rand.Rand) Curve {
	power := math.Exp(0.35 * random.NormFloat64())
	last := c[curvePoints-1]
	if last >= 0.95 {
		return c
	}
	for i := range c {
		if c[i] < 0.95 {
			c[i] = 0.95 - (0.95-last)*math.Pow((0.95-c[i])/(0.95-last), power)
		}
	}
	return c
}

// next is a later phase: every second one presses half as much again and stands
// less, on other sources than before.
func next(first Phase, number int, random *rand.Rand) Phase {
	p := first
	p.Pressure, p.Response = nil, nil
	for k := range first.Pressure {
		grow := 1.0
		if number%2 == 1 {
			grow = 0.7 + 1.3*random.Float64()
		} else {
			grow = 0.85 + 0.3*random.Float64()
		}
		t := first.Response[k].Tolerated(0.05) / math.Sqrt(grow)
		p.Pressure = append(p.Pressure, min(90, first.Pressure[k]*grow))
		p.Response = append(p.Response, Planted(min(100, max(10, t)), first.Response[k][curvePoints-1]))
	}
	return p
}
