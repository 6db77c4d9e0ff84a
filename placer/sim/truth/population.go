package truth

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Class is a type of workload with what its applications are drawn from.
type Class struct {
	Name string
	Unit string
	// Cores are the sizes asked for, drawn with equal weight.
	Cores []float64
	// Kinds are the behaviours of its programs, drawn with equal weight.
	Kinds  []kind
	Origin string

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

// kind is a behaviour that several programs share, by its features from 0 to 1.
// Programs come in kinds: 6 of 12 integer and 8 of 17 floating-point programs tolerate
// for all of SPEC CPU2006 (Phansalkar, Joshi and John 2007). What the kinds are is
// ours, after the programs named next to them; how many of each, such that as many
// lean on memory and on the last-level cache as SPEC programs were measured to
// (doc.go).
type kind [features]float64

var (
	compute  = kind{1.00, 0.15, 0.20, 0.20, 0.00, 0.00} // povray, blackscholes
	compact  = kind{0.80, 0.25, 0.35, 0.40, 0.00, 0.00} // perlbench, swaptions
	stream   = kind{0.40, 1.00, 0.15, 0.10, 0.00, 0.00} // lbm, libquantum, streamcluster
	cached   = kind{0.45, 0.20, 1.00, 0.20, 0.00, 0.00} // bzip2, cactusADM, ferret
	chasing  = kind{0.20, 0.80, 0.90, 0.10, 0.00, 0.00} // mcf, omnetpp, canneal
	wordy    = kind{0.55, 0.20, 0.30, 1.00, 0.00, 0.00} // gcc, xalancbmk
	scanning = kind{0.35, 0.40, 0.15, 0.20, 1.00, 0.10} // single-node mining over files
	shuffle  = kind{0.35, 0.45, 0.20, 0.30, 0.85, 0.90} // sorting and joining jobs
	serving  = kind{0.30, 0.30, 0.60, 0.65, 0.00, 1.00} // memcached
	storing  = kind{0.30, 0.50, 0.40, 0.40, 0.95, 0.60} // Cassandra
	pages    = kind{0.55, 0.30, 0.40, 1.00, 0.10, 0.85} // web servers
)

// single are the kinds of programs on one node: a third computes, a third leans on
// memory, two fifths on the last-level cache.
var single = []kind{compute, compute, compact, stream, stream, cached, cached, chasing, chasing, wordy}

// classes are the papers' workload types: Delimitrou 2015, §3.4.1 (29 ST, 22 MT,
// 350 MP, 25 I/O) and §4.4 (Hadoop, memcached, web server, single node).
var classes = []Class{
	{Name: "ST", Unit: "instructions/s", Cores: []float64{1}, Kinds: single, Origin: "drawn as single-threaded SPEC CPU2006"},
	{Name: "MT", Unit: "instructions/s", Cores: []float64{2, 4}, Kinds: single, Origin: "drawn as PARSEC, SPLASH-2 and MineBench"},
	{Name: "MP", Unit: "instructions/s", Cores: []float64{1, 2}, Kinds: single, Origin: "drawn as mixes of four SPEC programs"},
	{Name: "IO", Unit: "records/s", Cores: []float64{1}, Kinds: []kind{scanning, scanning, shuffle, stream}, Origin: "drawn as single-node Hadoop and Matlab mining"},
	{Name: "hadoop", Unit: "records/s", Cores: []float64{4}, Kinds: []kind{scanning, shuffle, shuffle, stream}, distributed: true, Origin: "drawn as Hadoop, Storm and Spark jobs; ranges of Delimitrou 2015, §4.2"},
	{Name: "memcached", Unit: "requests/s", Cores: []float64{4}, Kinds: []kind{serving, serving, storing}, distributed: true, service: true, Origin: "drawn as memcached; ranges of Delimitrou 2015, §4.2"},
	{Name: "web", Unit: "requests/s", Cores: []float64{4}, Kinds: []kind{pages, pages, cached}, distributed: true, service: true, Origin: "drawn as web servers with a database in memory"},
	{Name: "single-node", Unit: "instructions/s", Cores: []float64{1, 2, 4}, Kinds: single, Origin: "drawn as SPEC, PARSEC, BioParallel and SpecJbb"},
}

// MeasuredClass is the class of applications made of measured rows.
const MeasuredClass = "measured"

// ClassNames lists the classes: those that can be drawn, then MeasuredClass.
func ClassNames() []string {
	var out []string
	for _, c := range classes {
		out = append(out, c.Name)
	}
	return append(out, MeasuredClass)
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
	// Platforms is where the differences between configurations come from; empty is what the
	// model's parameters say.
	Platforms Platforms
	// MostCores bounds what an allocation asks for; 0 does not.
	MostCores float64
	// PeakShare is the share of applications whose memory peak is above their ask;
	// 0 is defaultPeakShare, negative is none.
	PeakShare float64
}

// Platforms is a model of how configurations differ.
type Platforms string

const (
	// Hardware is a difference by clock, generation, cache and memory; some configurations are
	// better for everything. The default. Nothing in it is fitted: the least-loaded
	// baseline loses 41 % on the paper's local cluster at low load, where there are
	// hardly any co-runners, published 46 % (Delimitrou 2015, §3.5.1). But a fifth of
	// that cluster is best for nearly every workload, and so no policy can place well on it.
	Hardware Platforms = "hardware"
	// Published is a difference by how they suit a program, and no configuration suits more
	// programs than it can hold, as if users had bought what their programs need. In
	// such a cluster everybody can have his best configuration at any load, which
	// Delimitrou 2015, §3.5.1 reports of a scheduler that knows of nothing else (NI: 85 %
	// of the jobs within a tenth of their best). It cannot have the 46 % as well.
	Published Platforms = "published"
)

// platformFactors is how many interactions Published has. Two published facts set the
// default ones (PlatformStrength and PlatformResidual). A random configuration
// keeps 0.8 of the best one's speed (Delimitrou 2015, §3.5.2: the baseline that does not
// choose one, NH, loses 22 %, some of it to co-runners): that is the first factor.
// And two cells of a row tell a configuration within 5 % of the best for 90 % of the
// workloads (table 3.1): so what two cells cannot tell, the other factors and the
// residual, is small. At these sizes the best linear predictor finds it for 88 % with
// the noise of a run (TestTwoCellsTellAsPublished). They are a seventh of those
// of instance types, where four campaigns of some 60 workloads on 15 or 18 types of
// one cloud (lumos-cloud-perf) have factors of 0.111, 0.035 and 0.027 and a residual
// of 0.045: on such data no classifier comes near table 3.1 (placer/docs/classification.md).
const platformFactors = 3

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

// platforms is where the differences between configurations of a spec come from.
func (m *Model) platforms(spec Spec) Platforms { return cmp.Or(spec.Platforms, m.parameters.Platforms) }

func draw(m *Model, machines []suit, c Class, spec Spec, number int, random *rand.Rand) *Application {
	a := &Application{Name: fmt.Sprintf("%s-%04d", c.Name, number), Class: c.Name, Unit: c.Unit, Origin: c.Origin}
	var u [features]float64
	is := &c.Kinds[random.IntN(len(c.Kinds))]
	for f := range u {
		u[f] = min(1, max(0, is[f]+m.parameters.KindSpread*random.NormFloat64()))
	}
	a.Cores, a.MemoryMB = c.size(spec.MostCores, random)
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
	if m.platforms(spec) == Published {
		a.isolatedBySuit(&m.parameters, machines, random)
	} else {
		a.isolated(m, u, random)
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

// size draws what one allocation asks for: 0.5 to 2.4 GB for one core, chosen by
// us. A bound of 0 is none.
func (c *Class) size(mostCores float64, random *rand.Rand) (cores, memoryMB float64) {
	cores = c.Cores[random.IntN(len(c.Cores))]
	if mostCores > 0 {
		cores = min(cores, mostCores)
	}
	return cores, math.Round(512 * math.Exp2(2.2*random.Float64()) * math.Sqrt(cores))
}

// Residuals of the platform factors: the logarithm of 29 SPEC programs on six
// machines (spec-cpu-machine-matrix) has interactions of 0.20 beyond row and
// column, 0.047 after three factors; 172 workloads on virtual machine types
// (lumos-cloud-perf) leave 0.045.
const platformResidual = 0.045

// ownResidual is what two configurations of one family differ by, beyond clock and
// cache (chosen by us: the same processor).
const ownResidual = 0.01

// isolated draws the performance on every configuration.
func (a *Application) isolated(m *Model, u [features]float64, random *rand.Rand) {
	base := math.Exp(3 + 1.5*random.NormFloat64()) // units differ by orders of magnitude
	working := 0.5 * math.Exp2(5*u[featureCache])  // MB of cache it would use
	fastest := 0.0
	for _, machine := range m.machines {
		fastest = max(fastest, machine.StreamGBs)
	}
	residual := make([]float64, len(m.machines))
	for i, machine := range m.machines {
		if residual[i] = residual[m.family[i]]; m.family[i] == i {
			residual[i] = platformResidual * random.NormFloat64()
		}
		ln := (0.4+0.6*u[featureCPU])*math.Log(machine.GHz/3) + (0.5+0.7*u[featureCode])*math.Log(machine.IPC)
		ln -= 0.5 * (u[featureCache] + u[featureMemory]) * math.Max(0, math.Log(working/max(0.25, machine.LLCMB))) / 2
		if machine.StreamGBs > 0 {
			ln += 0.5 * u[featureMemory] * math.Log(machine.StreamGBs/fastest)
		}
		ln *= 1 - 0.6*max(u[featureStorage], u[featureNetwork])
		a.Isolated = append(a.Isolated, base*math.Exp(ln+residual[i]+ownResidual*random.NormFloat64()))
	}
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
	own := &m.parameters
	for k, column := range m.columns {
		weights, pull := demand[column], 0.0
		for f, w := range weights {
			pull += w * u[f]
		}
		if inHierarchy[column] {
			pull += own.MemoryShare * (max(u[featureMemory], u[featureCache]) - pull)
		}
		pull = pull*0.75 + own.ScoreResidual*random.NormFloat64()
		// Most programs lean on a few sources only: what they hardly use, they
		// neither press on nor feel.
		lean := math.Max(0, (pull-indifference)/(1-indifference))
		p.Pressure = append(p.Pressure, min(90, scale*own.PressurePerCore*lean*math.Pow(a.Cores, pressureExponent)*m.atReference[k]))
		curve := Planted(100, 1)
		for i := range curve {
			curve[i] = 1 - 0.01*float64(i)/(curvePoints-1)
		}
		if lean > 0 {
			middle := severeKept
			for at, s := range keptSources {
				if s == column {
					middle = program.kept[at]
				}
			}
			// Tolerance falls with what a program needs of the source, with a spread of
			// its own: Table 3.2 of the paper has scores in all of its three bands.
			tolerated := min(100, max(10, 95-toleranceSlope*lean+100*own.ScoreResidual*random.NormFloat64()))
			curve = bent(Planted(tolerated, max(severeKept, atFull(lean, middle)+0.05*random.NormFloat64())), random)
		}
		p.Response = append(p.Response, curve)
	}
	return p
}

// atFull is the share kept at full pressure: everything by who does not lean on the
// source, middle by who does so by half, severeKept by who lives off it.
func atFull(lean, middle float64) float64 {
	if lean <= 0.5 {
		return 1 - (1-middle)*2*lean
	}
	return middle + (severeKept-middle)*min(1, 2*lean-1)
}

// The strength of interference. What each was set by is in doc.go; none was set by
// what a policy reaches that is modelled on it.
const (
	indifference   = 0.5
	toleranceSlope = 140 // points that a tolerated score falls from no leaning to all of it
	severeKept     = 0.1
)

// inHierarchy are the sources of the memory hierarchy: what Parameters.MemoryShare is of.
var inHierarchy = map[interference.Source]bool{
	interference.MemoryCapacity: true, interference.MemoryBandwidth: true,
	interference.LLCCapacity: true, interference.LLCBandwidth: true,
	interference.L2Capacity: true, interference.L2Bandwidth: true,
	interference.L1Instruction: true, interference.L1Data: true, interference.TLB: true,
}

// InHierarchy reports whether a source is of the memory hierarchy.
func InHierarchy(s interference.Source) bool { return inHierarchy[s] }

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

// next is a later phase: every second one exerts half as much again and tolerates
// less, on other sources than before.
func next(first Phase, number int, random *rand.Rand) Phase {
	p := first
	p.Pressure, p.Response = nil, nil
	for k := range first.Pressure {
		drawn := random.Float64()
		grow := 0.85 + 0.3*drawn
		if number%2 == 1 {
			grow = 0.7 + 1.3*drawn
		}
		t := first.Response[k].Tolerated(0.05) / math.Sqrt(grow)
		p.Pressure = append(p.Pressure, min(90, first.Pressure[k]*grow))
		p.Response = append(p.Response, Planted(min(100, max(10, t)), first.Response[k][curvePoints-1]))
	}
	return p
}
