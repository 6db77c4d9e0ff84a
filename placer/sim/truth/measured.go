package truth

import (
	"math"
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

// FromProfiles makes applications of measured rows for a cluster of one
// configuration per measured one; a configuration nobody measured takes the
// factor of its machine. Columns nobody measured take the curve of unmeasured.
func FromProfiles(rows []profile.Profile, m *Model, unmeasured Curve) []*Application {
	var out []*Application
	for i := range rows {
		if a := fromProfile(&rows[i], m, unmeasured); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// fromProfile is nil for a row without a speed.
func fromProfile(row *profile.Profile, m *Model, unmeasured Curve) *Application {
	alone, ok := row.Alone[row.Machine.Configuration]
	if !ok || !(alone.Value > 0) {
		return nil
	}
	a := &Application{
		Name: row.Workload, Class: "measured", Unit: alone.Unit,
		Cores: float64(max(1, len(row.Machine.CPUs))), MemoryMB: 1024, Origin: "training row " + row.Key,
	}
	for _, machine := range m.machines {
		v := alone.Value * machine.GHz * machine.IPC
		if own, ok := row.Alone[machine.Name]; ok && own.Value > 0 {
			v = own.Value
		}
		a.Alone = append(a.Alone, v)
	}
	for _, s := range row.ScaleUp {
		if s.MemoryMB == 0 && s.Cores > 0 && s.Speed.Value > 0 {
			a.ScaleUp = append(a.ScaleUp, ScalePoint{float64(s.Cores), s.Speed.Value / alone.Value})
		}
	}
	slices.SortFunc(a.ScaleUp, func(x, y ScalePoint) int { return int(x.Cores - y.Cores) })
	p := Phase{Share: 1, MemoryMB: a.MemoryMB, Intensity: 1}
	for _, c := range m.columns {
		curve, caused := measuredColumn(row, c, unmeasured)
		p.Response, p.Pressure = append(p.Response, curve), append(p.Pressure, caused)
	}
	a.Phases = []Phase{p}
	return identify(a)
}

// measuredColumn is the response and the pressure of a row at one source: the
// ramp where there is one, else the planted curve of its score.
func measuredColumn(row *profile.Profile, c interference.Source, unmeasured Curve) (Curve, float64) {
	var points []Point
	for _, r := range row.Ramp {
		if r.Source == c && r.WorkloadRatio != nil && r.IntensityPercent > 0 {
			points = append(points, Point{r.IntensityPercent, min(1, *r.WorkloadRatio)})
		}
	}
	slices.SortFunc(points, func(x, y Point) int { return int(math.Round(10 * (x.Percent - y.Percent))) })
	points = slices.CompactFunc(points, func(x, y Point) bool { return x.Percent == y.Percent })
	curve := unmeasured
	if len(points) > 0 {
		curve = Through(points...)
	} else if t, ok := row.Sensitivity.Tolerated[c].Score.Percent(); ok {
		curve = Planted(t, 0.6)
	}
	return curve, row.Sensitivity.Caused[c].Score.Or(0)
}

// FromPairs keeps what pairs of applications were measured to do to each other
// beyond what the model says of them, as residuals. It returns how many pairs
// were of known applications.
func (m *Model) FromPairs(pairs []profile.Pair, applications []*Application) int {
	byName, known := map[string]*Application{}, 0
	for _, a := range applications {
		byName[a.Name] = a
	}
	for _, p := range pairs {
		a, b := byName[p.A.Application], byName[p.B.Application]
		if a == nil || b == nil {
			continue
		}
		known++
		on := []Placed{whole(a), whole(b)}
		said := m.Speeds(0, on, nil)
		m.keep(a, b, p.A.Ratio, said[0])
		m.keep(b, a, p.B.Ratio, said[1])
	}
	return known
}

func (m *Model) keep(victim, neighbour *Application, ratio float64, said Speed) {
	if ratio > 0 && said.Value > 0 {
		m.pairs[pairKey{victim.id, neighbour.id}] = max(-0.05, math.Log(said.Value/said.Alone)-math.Log(ratio))
	}
}

func whole(a *Application) Placed {
	return Placed{Application: a, Cores: a.Cores, MemoryMB: a.MemoryMB, Load: 1}
}
