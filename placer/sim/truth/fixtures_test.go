package truth

import "github.com/nomad-placer/nomad-placer/profiler/interference"

// Fixtures are the two applications whose response to one source was published
// (Delimitrou 2015, Fig. 5.3); their other columns feel little and press little.
func Fixtures(m *Model) []*Application {
	return []*Application{
		fixture(m, "mcf", "ST", "instructions/s", 1, 1700, interference.LLCCapacity, McfUnderLLC, 45),
		fixture(m, "memcached-40kqps", "memcached", "requests/s", 4, 2048, interference.NetworkBandwidth, MemcachedUnderNetwork, 60),
	}
}

func fixture(m *Model, name, class, unit string, cores, memoryMB float64, at interference.Source, curve Curve, caused float64) *Application {
	a := &Application{Name: name, Class: class, Unit: unit, Cores: cores, MemoryMB: memoryMB, Origin: "Delimitrou 2015, Fig. 5.3"}
	for _, machine := range m.machines {
		a.Isolated = append(a.Isolated, 1000*machine.GHz*machine.IPC)
	}
	p := Phase{Share: 1, MemoryMB: memoryMB, Intensity: 0.9}
	for _, c := range m.columns {
		response, pressure := Planted(80, 0.8), float64(otherPressurePercent)
		if c == at {
			response, pressure = curve, caused
		}
		p.Response, p.Pressure = append(p.Response, response), append(p.Pressure, pressure)
	}
	a.Phases = []Phase{p}
	return identify(a)
}
