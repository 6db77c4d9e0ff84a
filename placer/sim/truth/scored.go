package truth

import "math"

// FromScores is a program of which only scores are known, by column in percent; NaN is not known. Its
// curves are planted, as those of a measured row without a ramp are. It does as much on a core on every
// configuration, and more cores than it has are of no use to it.
func FromScores(m *Model, name string, cores, memoryMB float64, tolerated, caused []float64) *Application {
	p := Phase{Share: 1, MemoryMB: memoryMB, Intensity: 1}
	for k := range m.columns {
		curve, pressure := unmeasuredCurve, float64(otherPressurePercent)
		if t := tolerated[k]; !math.IsNaN(t) {
			curve = Planted(min(100, max(0, t)), plantedAtFull)
		}
		if c := caused[k]; !math.IsNaN(c) {
			pressure = min(100, max(0, c))
		}
		p.Response, p.Pressure = append(p.Response, curve), append(p.Pressure, pressure)
	}
	a := &Application{
		Name: name, Class: MeasuredClass, Unit: "cores", Cores: cores, MemoryMB: memoryMB, Phases: []Phase{p}, Origin: "scores on record",
	}
	for range m.machines {
		a.Isolated = append(a.Isolated, cores)
	}
	return identify(a)
}
