package truth

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The constants of the model. Where no source is named they are chosen by us;
// doc.go says what they were set by, tests hold their effect against it.
const (
	// kneeSlope is the extra pressure per point of demand above what the node has.
	kneeSlope = 0.6
	// weakExponent: pressure on a configuration of capability e is multiplied by
	// (100/e)^weakExponent. A slow machine has less to give and its programs ask for
	// less; which of the two wins is not known, and a mild effect is assumed.
	weakExponent = 0.25
	// pressureExponent: pressure grows with the size to this power.
	pressureExponent = 0.7
	// maxPressurePercent is the most that one co-runner exerts.
	maxPressurePercent = 95
	// lostRunShare of the runs cannot tell (the workload was unsteady).
	lostRunShare = 0.01
	// pairSigma is the residual of a pair that was not measured.
	pairSigma = 0.02
)

// leak is pressure that a source passes on to another.
type leak struct {
	from, to interference.Source
	share    float64
}

// leaks: the pairs that are not independent. Two kernels on different sources
// leave each other 89 to 93 % (Delimitrou 2015, §5.4): a tenth leaks, and more
// where the text names an exception, between memory bandwidth and the last-level
// cache.
var leaks = []leak{
	{interference.LLCCapacity, interference.MemoryBandwidth, 0.15},
	{interference.MemoryBandwidth, interference.LLCCapacity, 0.15},
	{interference.LLCBandwidth, interference.LLCCapacity, 0.15},
	{interference.L2Capacity, interference.LLCBandwidth, 0.10},
	{interference.L1Instruction, interference.Prefetcher, 0.10},
	{interference.StorageBandwidth, interference.MemoryCapacity, 0.10},
	{interference.Integer, interference.FloatingPoint, 0.10},
	{interference.FloatingPoint, interference.Vector, 0.10},
}

// Model is the world that doc.go describes.
type Model struct {
	columns    []interference.Source
	machines   []Machine
	parameters Parameters
	multiply   [][]float64 // by configuration and column: of pressure
	// atReference is, by column, the pressure on the Reference of one on a machine of
	// Parameters.ReferenceCores.
	atReference []float64
	private     []bool // by column
	family      []int  // by configuration: the first one of the same family
	leaks       []columnLeak
	pairs       map[pairKey]float64 // measured residuals, ln
}

type columnLeak struct {
	from, to int
	share    float64
}

type pairKey struct{ victim, coRunner uint64 }

var _ World = (*Model)(nil)

// NewModel prepares the model of a cluster with the default parameters.
func NewModel(columns []interference.Source, machines []Machine) *Model {
	return NewModelWith(columns, machines, DefaultParameters())
}

// NewModelWith prepares the model of a cluster.
func NewModelWith(columns []interference.Source, machines []Machine, p Parameters) *Model {
	m := &Model{columns: columns, machines: machines, parameters: p, pairs: map[pairKey]float64{}}
	at := map[interference.Source]int{}
	for k, c := range columns {
		at[c] = k
		info, _ := interference.Info(c)
		m.private = append(m.private, info.Scope == interference.ScopeCore)
	}
	for _, l := range leaks {
		from, ok1 := at[l.from]
		to, ok2 := at[l.to]
		if ok1 && ok2 {
			m.leaks = append(m.leaks, columnLeak{from, to, l.share})
		}
	}
	reference := p.ReferenceCores
	if len(machines) > 0 {
		reference = machines[m.Reference()].Cores
	}
	for k := range columns {
		m.atReference = append(m.atReference, m.bySize(k, p.ReferenceCores, reference))
	}
	families := map[string]int{}
	for i, machine := range machines {
		first, ok := families[machine.Family]
		if !ok || machine.Family == "" {
			first, families[machine.Family] = i, i
		}
		m.family = append(m.family, first)
		row := make([]float64, len(columns))
		for k := range row {
			row[k] = 1
			if machine.Capability != nil {
				row[k] = math.Pow(100/max(1, machine.Capability[k]), weakExponent)
			}
			row[k] *= m.bySize(k, reference, machine.Cores)
		}
		m.multiply = append(m.multiply, row)
	}
	return m
}

// bySize is the pressure on a machine of some cores of one on a machine of others. What is
// private to a core is the same in all.
func (m *Model) bySize(column int, from, to float64) float64 {
	if m.private[column] {
		return 1
	}
	return math.Pow(from/to, m.parameters.SizeExponent)
}

// Parameters are those of the world.
func (m *Model) Parameters() Parameters { return m.parameters }

// Reference is the index of the strongest configuration, on which applications are profiled:
// what they press is stated there.
func (m *Model) Reference() int {
	at, top := 0, 0.0
	for i := range m.machines {
		if v := m.machines[i].Strength(); v > top {
			at, top = i, v
		}
	}
	return at
}

// Machines are the configurations by index.
func (m *Model) Machines() []Machine { return m.machines }

// Columns are the sources by index.
func (m *Model) Columns() []interference.Source { return m.columns }

// identity is how pair residuals know a program.
func identity(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// identify gives an application its identity in pair residuals.
func identify(a *Application) *Application {
	a.id = identity(a.Name)
	return a
}

// maxColumns bounds the columns, so that sums are on the stack.
const maxColumns = 24

// row is a number per column.
type row [maxColumns]float64

// sums are what all allocations of a node press together.
type sums struct {
	total row // demand, percent
	clear row // ln of the product of (1 − q/100)
}

// scratch is reused between calls: what each allocation presses.
type scratch struct{ exerted []pressed }

// pressed is what one allocation presses.
type pressed struct {
	demand row // percent
	clear  row // ln(1 − q/100)
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Speeds implements World. O(n·columns + n²) for n allocations.
func (m *Model) Speeds(configuration int, on []Placed, out []Speed) []Speed {
	out = out[:0]
	for range on {
		out = append(out, Speed{})
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	victim := m.killed(configuration, on)
	all, cores := m.press(configuration, on, victim, s)
	share := min(1, m.machines[configuration].Cores/max(cores, 1e-9)) // of the CPU asked for, where it is overcommitted
	for i := range on {
		if i == victim {
			continue
		}
		p := &on[i]
		isolated := p.Application.Isolated[configuration] * p.Application.Size(p.Phase, p.Cores, p.memory())
		squares := m.squares(configuration, p, &s.exerted[i], &all, cores)
		loss := min(maxLoss, math.Sqrt(squares)) + m.residual(on, i, victim, squares)
		out[i] = Speed{Value: isolated * share * math.Exp(-loss), Isolated: isolated}
	}
	return out
}

// memory is the limit that binds the allocation: its own where it was sized, else
// what it needs, for as long as the node has it.
func (p *Placed) memory() float64 {
	if p.Elastic {
		return p.MemoryMB
	}
	return p.Application.Phases[p.Phase].MemoryMB
}

// killed is the allocation that the kernel kills when the node runs out of
// memory: the one furthest above its ask; -1 for none.
func (m *Model) killed(configuration int, on []Placed) int {
	used, victim, most := 0.0, -1, 0.0
	for i := range on {
		need := on[i].Application.Phases[on[i].Phase].MemoryMB
		if on[i].Elastic {
			need = min(need, on[i].MemoryMB)
		}
		used += need
		if over := need - on[i].MemoryMB; victim < 0 || over > most {
			victim, most = i, over
		}
	}
	if used <= m.machines[configuration].MemoryMB {
		return -1
	}
	return victim
}

// press sums the pressure on a node, and the cores in use.
func (m *Model) press(configuration int, on []Placed, victim int, s *scratch) (all sums, cores float64) {
	s.exerted = s.exerted[:0]
	for i := range on {
		s.exerted = append(s.exerted, pressed{})
		if i == victim {
			continue
		}
		p := &on[i]
		cores += p.Cores * p.Application.Phases[p.Phase].Intensity
		own := &s.exerted[i]
		m.pressure(configuration, p, &own.demand)
		for k, q := range own.demand[:len(m.columns)] {
			if q > 0 {
				own.clear[k] = math.Log1p(-q / 100)
				all.total[k] += q
				all.clear[k] += own.clear[k]
			}
		}
	}
	return all, cores
}

// pressure is what one allocation presses, percent.
func (m *Model) pressure(configuration int, p *Placed, out *row) {
	grow := p.Load
	if p.Cores != p.Application.Cores {
		grow *= math.Pow(p.Cores/p.Application.Cores, pressureExponent)
	}
	for k, q := range p.Application.Phases[p.Phase].Pressure {
		out[k] = min(maxPressurePercent, q*grow*m.multiply[configuration][k])
	}
}

// squares is the sum over the sources of the squared logarithms of what each
// leaves of the speed.
func (m *Model) squares(configuration int, p *Placed, own *pressed, all *sums, cores float64) float64 {
	phase := &p.Application.Phases[p.Phase]
	experienced := m.experienced(m.meetings(configuration, p, cores), own, all)
	leaked := experienced
	for _, l := range m.leaks {
		leaked[l.to] += l.share * experienced[l.from]
	}
	squares := 0.0
	for k, x := range leaked[:len(m.columns)] {
		if x <= 0 {
			continue
		}
		if kept := phase.Response[k].At(min(100, x)); kept < 1 {
			ln := math.Log(max(0.01, kept))
			squares += ln * ln
		}
	}
	return squares
}

// experienced is the pressure of the co-runners of an allocation that exerts own.
func (m *Model) experienced(meet float64, own *pressed, all *sums) row {
	var out row
	for k := range m.columns {
		others := all.total[k] - own.demand[k]
		if others <= 1e-9 || m.private[k] && meet == 0 {
			continue
		}
		x := 100 * -math.Expm1(all.clear[k]-own.clear[k])
		if over := all.total[k] - 100; over > 0 {
			x += kneeSlope * min(over, others)
		}
		if m.private[k] {
			x *= meet
		}
		out[k] = min(100, x)
	}
	return out
}

// meetings is how much of the pressure on what is private to a core reaches an
// allocation. Allocations have cores of their own. Only where cores are hardware
// threads an odd one has a sibling in another allocation, busy as the rest of the
// node is: whole cores go to one allocation first. Where more cores are in use
// than there are, they are shared in turns, which costs the share of the time and
// hardly more: of the measured pairs bound to one CPU each keeps 0.485.
func (m *Model) meetings(configuration int, p *Placed, cores float64) float64 {
	machine := &m.machines[configuration]
	held := math.Ceil(p.Cores)
	if machine.Siblings < 2 || machine.Cores <= held || math.Mod(held, 2) == 0 {
		return 0
	}
	others := cores - p.Cores*p.Application.Phases[p.Phase].Intensity
	return min(1, max(0, others)/(machine.Cores-held)) / held
}

// residual is what pairs of applications do to each other beyond the sources:
// measured where they were, else drawn by their names. It fades where nothing
// exerts: two idle co-runners do not meet.
func (m *Model) residual(on []Placed, i, victim int, squares float64) float64 {
	sum, meet := 0.0, min(1, math.Sqrt(squares)/0.05)
	for j := range on {
		if j == i || j == victim {
			continue
		}
		key := pairKey{on[i].Application.id, on[j].Application.id}
		if len(m.pairs) > 0 {
			if ln, ok := m.pairs[key]; ok {
				sum += ln
				continue
			}
		}
		sum += meet * pairSigma * uniform(key)
	}
	return max(-maxGain, sum)
}

// maxLoss bounds what co-runners take, as a logarithm: slowdowns of up to ten were
// published (Delimitrou 2015, §4.2), of whatever they press on.
var maxLoss = -math.Log(severeKept)

// maxGain bounds what co-runners can speed up (a few applications gain:
// Delimitrou 2015, §3.5.1), as a logarithm.
const maxGain = 0.05

// uniform is a number from −√3 to √3, of variance 1, fixed by the key.
func uniform(k pairKey) float64 {
	x := k.victim*0x9e3779b97f4a7c15 ^ k.coRunner
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return math.Sqrt(3) * (float64(x>>11)/(1<<52) - 1)
}

// Group implements World.
func (m *Model) Group(a *Application, n int) float64 { return a.Out.Relative(n) }

// Measure implements World: lognormal noise that falls with the root of the time.
func (m *Model) Measure(_ *Application, value, seconds float64, random *rand.Rand) float64 {
	noise := random.NormFloat64()
	if random.Float64() < lostRunShare || seconds <= 0 {
		return math.NaN()
	}
	return value * math.Exp(noise*m.parameters.RunNoise*math.Sqrt(60/seconds))
}

// MeasureScores is what profiling runs of a source see of an application in a
// phase: the tolerated and the caused score by raising a kernel in steps, each
// step a noisy ratio (Delimitrou 2015, §3.3.2).
func (m *Model) MeasureScores(a *Application, phase, k int, seconds float64, random *rand.Rand) (tolerated, caused float64) {
	p := &a.Phases[phase]
	kernel := Planted(100-p.Pressure[k], max(0.1, 1-p.Pressure[k]/100))
	return m.ramp(a, &p.Response[k], seconds, random), 100 - m.ramp(a, &kernel, seconds, random)
}

func (m *Model) ramp(a *Application, c *Curve, seconds float64, random *rand.Rand) float64 {
	const levels = 7 // a bisection of 21 levels and its neighbours
	held := 100.0
	for i := 1; i < curvePoints; i++ {
		seen := m.Measure(a, c[i], 60*seconds/levels, random) // windows are paired: drift cancels
		if seen < 0.95 {
			held = float64((i - 1) * CurveStepPercent)
			break
		}
	}
	return held
}

// TrueScores are the scores without noise, by column.
func TrueScores(a *Application, phase int, loss float64) (tolerated, caused []float64) {
	p := &a.Phases[phase]
	for k := range p.Response {
		tolerated = append(tolerated, p.Response[k].Tolerated(loss))
	}
	return tolerated, p.Pressure
}
