package truth

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// keptAtFull is the share of its performance that a program kept under six
// kernels at full intensity, in the order of keptSources: medians over groups of
// the public runs eth-ibench-parsec-memcached (parsec_under_ibench).
var keptAtFull = []struct {
	program string
	kept    [6]float64
}{
	{"barnes", [6]float64{0.64, 0.58, 0.55, 0.60, 0.48, 0.57}},
	{"blackscholes", [6]float64{0.74, 0.74, 0.64, 0.75, 0.67, 0.73}},
	{"canneal", [6]float64{0.83, 0.80, 0.77, 0.81, 0.54, 0.71}},
	{"dedup", [6]float64{0.66, 0.82, 0.51, 0.80, 0.48, 0.61}},
	{"ferret", [6]float64{0.51, 0.88, 0.42, 0.89, 0.36, 0.45}},
	{"fft", [6]float64{0.76, 0.78, 0.52, 0.78, 0.53, 0.66}},
	{"freqmine", [6]float64{0.50, 0.91, 0.50, 0.95, 0.56, 0.64}},
	{"radix", [6]float64{0.95, 0.93, 0.95, 0.94, 0.71, 0.91}},
	{"streamcluster", [6]float64{0.64, 0.60, 0.64, 0.65, 0.49, 0.62}},
	{"vips", [6]float64{0.58, 0.60, 0.55, 0.61, 0.53, 0.58}},
}

// keptSources are the columns of keptAtFull.
var keptSources = [6]interference.Source{
	interference.Integer, interference.L1Data, interference.L1Instruction,
	interference.L2Capacity, interference.LLCCapacity, interference.MemoryBandwidth,
}

// speedUps are the speed-ups by threads of the same programs (medians over groups
// of parsec_thread_scaling of the same data).
var speedUps = [][]ScalePoint{
	{{1, 1}, {2, 1.95}, {4, 3.73}, {8, 4.74}},                       // barnes
	{{1, 1}, {2, 1.71}, {4, 2.64}, {6, 3.52}, {12, 3.93}},           // blackscholes
	{{1, 1}, {2, 1.62}, {4, 2.38}, {8, 3.00}},                       // canneal
	{{1, 1}, {2, 1.78}, {4, 2.53}, {8, 2.48}},                       // dedup
	{{1, 1}, {2, 1.96}, {3, 2.83}, {4, 3.40}, {6, 3.84}, {8, 3.96}}, // ferret
	{{1, 1}, {2, 1.69}, {4, 2.51}, {8, 2.79}},                       // fft
	{{1, 1}, {2, 1.98}, {3, 2.95}, {4, 3.85}, {6, 4.33}, {8, 4.79}}, // freqmine
	{{1, 1}, {2, 1.97}, {4, 3.85}, {8, 5.91}},                       // radix
	{{1, 1}, {2, 1.80}, {4, 3.28}, {8, 5.02}},                       // streamcluster
	{{1, 1}, {2, 1.87}, {4, 3.78}, {8, 4.39}},                       // vips
}

// McfUnderLLC and MemcachedUnderNetwork are the published rows (Delimitrou 2015,
// Fig. 5.3): the share kept at 10, 20, … 100 % of the last-level cache, and the
// goodput at the same shares of the network.
var (
	McfUnderLLC           = tenths(.98, .97, .96, .91, .81, .65, .48, .40, .29, .11)
	MemcachedUnderNetwork = tenths(.98, .94, .90, .85, .78, .64, .47, .38, .25, .10)
)

func tenths(shares ...float64) Curve {
	var points []Point
	for i, s := range shares {
		points = append(points, Point{float64(10 * (i + 1)), s})
	}
	return Through(points...)
}

// ErrRows: measured rows do not make a population.
var ErrRows = errors.New("truth: the measured rows make no population")

// What is assumed of a source that a row does not know: little experienced, little exerted,
// as the fixtures (chosen by us). A measured row lacks few.
var unmeasuredCurve = Planted(80, 0.8)

// unmeasuredMemoryMB is the memory of a program whose row does not vary it.
const unmeasuredMemoryMB = 1024

// FromProfiles makes spec.Count applications of measured rows, each in turn. What
// was measured is on one machine; how the configurations of the cluster differ for
// it is drawn as spec.Platforms says, anew for every application, around the
// measured speed. The classes of the spec are not looked at. Applications of one row
// are one program to pairs.
func FromProfiles(m *Model, rows []profile.Profile, spec Spec, seed uint64) ([]*Application, error) {
	var usable []*profile.Profile
	for i := range rows {
		if v, ok := rows[i].Isolated[rows[i].Machine.Configuration]; ok && v.Value > 0 {
			usable = append(usable, &rows[i])
		}
	}
	if len(usable) == 0 {
		return nil, fmt.Errorf("%w: %d rows, none with a speed in isolation on its machine", ErrRows, len(rows))
	}
	machines := suits(m, seed)
	var out []*Application
	for i := range spec.Count {
		a := fromProfile(usable[i%len(usable)], m)
		a.Name = fmt.Sprintf("%s-%04d", a.Name, i)
		random := rand.New(rand.NewPCG(seed, uint64(i)+1))
		if m.platforms(spec) == Published {
			a.isolatedBySuit(&m.parameters, machines, random)
		} else {
			a.isolatedByClock(m, random)
		}
		out = append(out, a)
	}
	return out, nil
}

// fromProfile is the application of a row, without its speeds.
func fromProfile(row *profile.Profile, m *Model) *Application {
	isolated := row.Isolated[row.Machine.Configuration]
	a := &Application{
		Name: row.Workload, Class: MeasuredClass, Unit: isolated.Unit, Cores: measuredCores(row),
		MemoryMB: unmeasuredMemoryMB, Origin: "training row " + row.Key, id: identity(row.Key),
	}
	for _, s := range row.ScaleUp {
		a.MemoryMB = max(a.MemoryMB, float64(s.MemoryMB))
	}
	a.ScaleUp = measuredScaleUp(row, a.Cores, isolated.Value)
	p := Phase{Share: 1, MemoryMB: a.MemoryMB, Intensity: 1}
	for _, c := range m.columns {
		curve, caused := measuredColumn(row, c)
		p.Response, p.Pressure = append(p.Response, curve), append(p.Pressure, caused)
	}
	a.Phases = []Phase{p}
	return a
}

// measuredCores: our own rows are of programs bound to one CPU; those of others say
// how many they had.
func measuredCores(row *profile.Profile) float64 {
	if row.Provenance == nil || row.Provenance.DataSet == nil {
		return 1
	}
	return float64(max(1, len(row.Machine.CPUs)))
}

// measuredScaleUp is the speed by cores with the most memory that was tried at
// each, relative to the size of the row.
func measuredScaleUp(row *profile.Profile, cores, isolated float64) []ScalePoint {
	best := map[int]profile.ScalePoint{}
	for _, s := range row.ScaleUp {
		if old, ok := best[s.Cores]; s.Cores > 0 && s.Speed.Value > 0 && (!ok || s.MemoryMB >= old.MemoryMB) {
			best[s.Cores] = s
		}
	}
	if at, ok := best[int(cores)]; ok {
		isolated = at.Speed.Value
	}
	var out []ScalePoint
	for _, n := range slices.Sorted(maps.Keys(best)) {
		out = append(out, ScalePoint{float64(n), best[n].Speed.Value / isolated})
	}
	return out
}

// isolatedByClock draws the speeds by clock and generation: of a measured row no other
// property is known. The unit is kept.
func (a *Application) isolatedByClock(m *Model, random *rand.Rand) {
	for _, machine := range m.machines {
		a.Isolated = append(a.Isolated, machine.GHz*machine.IPC*math.Exp(platformResidual*random.NormFloat64()))
	}
}

// measuredColumn is the response and the pressure of a row at one source: the
// ramp where there is one, else the planted curve of its score.
func measuredColumn(row *profile.Profile, c interference.Source) (Curve, float64) {
	var points []Point
	for _, r := range row.Ramp {
		if r.Source == c && r.WorkloadRatio != nil && r.IntensityPercent > 0 {
			points = append(points, Point{r.IntensityPercent, min(1, max(0.01, *r.WorkloadRatio))})
		}
	}
	slices.SortStableFunc(points, func(x, y Point) int { return cmp.Compare(x.Percent, y.Percent) })
	points = slices.CompactFunc(points, func(x, y Point) bool { return x.Percent == y.Percent })
	curve := unmeasuredCurve
	if len(points) > 0 {
		curve = Through(points...)
	} else if t, ok := row.Sensitivity.Tolerated[c].Score.Percent(); ok {
		curve = Planted(t, plantedAtFull)
	}
	return curve, row.Sensitivity.Caused[c].Score.Or(otherPressurePercent)
}

// otherPressurePercent is what is exerted on columns of which nothing is known,
// chosen by us to be small.
const otherPressurePercent = 8

// plantedAtFull is the share kept at full pressure by a row with a score and no
// ramp: the median of keptAtFull.
const plantedAtFull = 0.64

// FromPairs keeps what pairs of applications on neighbouring CPUs were measured to
// do to each other beyond what the model says of them, as residuals: the mean of a
// pair's measurements. It returns how many were of known applications. Pairs that
// shared a CPU are left out: allocations have CPUs of their own.
func (m *Model) FromPairs(pairs []profile.Pair, applications []*Application) int {
	known := map[uint64]*Application{}
	for _, a := range applications {
		known[a.id] = a
	}
	sums, counts, taken := map[pairKey]float64{}, map[pairKey]float64{}, 0
	for i := range pairs {
		p := &pairs[i]
		a, b := known[identity(p.A.Key)], known[identity(p.B.Key)]
		if a == nil || b == nil || p.Placement != "beside" {
			continue
		}
		taken++
		on := []Placed{whole(a), whole(b)}
		for side, ratio := range []float64{p.A.Ratio, p.B.Ratio} {
			if ratio > 0 {
				key := pairKey{on[side].Application.id, on[1-side].Application.id}
				sums[key] += -math.Log(ratio) - m.exerted(m.strongest(), on, side)
				counts[key]++
			}
		}
	}
	for key, sum := range sums {
		m.pairs[key] = max(-maxGain, sum/counts[key])
	}
	return taken
}

// exerted is what the sources by themselves cost an allocation: a logarithm.
func (m *Model) exerted(configuration int, on []Placed, i int) float64 {
	var s scratch
	all, cores := m.press(configuration, on, -1, &s)
	return math.Sqrt(m.squares(configuration, &on[i], &s.exerted[i], &all, cores))
}

// strongest is the configuration that pressure weighs least on.
func (m *Model) strongest() int {
	at, least := 0, math.Inf(1)
	for i, row := range m.multiply {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		if sum < least {
			at, least = i, sum
		}
	}
	return at
}

func whole(a *Application) Placed {
	return Placed{Application: a, Cores: a.Cores, MemoryMB: a.MemoryMB, Load: 1}
}
