package truth

import (
	"math/rand/v2"
)

// Placed is one allocation on a node, as the truth sees it.
type Placed struct {
	Application *Application
	Cores       float64
	MemoryMB    float64
	Phase       int     // which of the application's phases it is in
	Load        float64 // of a service: offered load relative to its nominal one; 1 for batch work
	Elastic     bool    // its size was chosen for it: its own limit, not the node's, bounds its memory
	Number      int32   // of the allocation, among those of its application
}

// Speed is what an allocation gets.
type Speed struct {
	Value    float64 // in the unit of its application; 0 is a workload that was killed (memory exhausted)
	Isolated float64 // the same in isolation
	IOPS     float64 // requests per second that reach the disk; 0 where the truth does not know them
}

// World says what really happens. No policy, classifier or admission may import
// this package. It is safe for concurrent use.
type World interface {
	// Speeds returns the performance of every allocation on one node of the
	// configuration, given all its co-runners, in out, which is grown as needed.
	Speeds(configuration int, on []Placed, out []Speed) []Speed
	// Group is the performance of n allocations together relative to the sum of
	// their own: what scale-out costs.
	Group(a *Application, n int) float64
	// Measure is what a profiling run of some seconds sees of a true number:
	// noisy, and NaN where the run could not tell.
	Measure(a *Application, value float64, seconds float64, random *rand.Rand) float64
}

// Machine is what a node configuration is made of.
type Machine struct {
	Name  string
	Cores float64
	GHz   float64
	IPC   float64 // instructions per cycle relative to the best generation
	LLCMB float64
	// StreamGBs is the memory bandwidth that one core reaches; 0 is unknown.
	StreamGBs float64
	MemoryMB  float64
	// Siblings is how many of its cores share what is private to a core: 2 where
	// they are hardware threads, else 1; 0 is 1.
	Siblings float64
	// Family is the microarchitecture: machines of one suit the same programs. Empty
	// is one of its own.
	Family string
	// Share of the cluster's cores that are of this configuration, in any unit; 0
	// everywhere is as many of each.
	Share float64
	// Capability is how well it serves each column, percent of the best.
	Capability []float64
}

// Strength is by which the strongest configuration is told: it has the most choices of
// size, and presses least by itself (Delimitrou 2015, §3.3.2).
func (m *Machine) Strength() float64 { return m.Cores * m.GHz * m.IPC }

// Holds reports whether an allocation of that size can run on an empty machine.
func (m *Machine) Holds(cores, memoryMB float64) bool {
	return cores <= m.Cores && memoryMB <= m.MemoryMB
}
