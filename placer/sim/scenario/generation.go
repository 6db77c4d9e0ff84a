package scenario

// generation is what a shape does not say of a processor. Instructions per cycle
// are relative to the first Core i7 generations (Nehalem, Westmere), from the
// published ratios of single-thread SPEC results at equal clock, rounded; clock
// and cache are those of the part most of an instance type ran on. Of two siblings
// are the cores that are hardware threads: the virtual CPUs of the later types. The
// table of the local cluster counts whole cores. A family is a microarchitecture; the bandwidth of one
// core is about what STREAM was published to reach on it.
type generation struct {
	name     string
	family   string
	ipc      float64
	ghz      float64
	llcMB    float64
	stream   float64 // memory bandwidth of one core, GB/s
	siblings float64
}

var generations = []generation{
	{"Xeon L5609", "Westmere", 1.00, 1.87, 12, 10, 1},
	{"Xeon X5650", "Westmere", 1.00, 2.67, 12, 10, 1},
	{"Xeon X5670", "Westmere", 1.00, 2.93, 12, 10, 1},
	{"Xeon L5640", "Westmere", 1.00, 2.27, 12, 10, 1},
	{"Xeon MP", "NetBurst", 0.45, 3.16, 1, 3, 1},
	{"Xeon E5345", "Core", 0.80, 2.33, 8, 4.5, 1},
	{"Xeon E5335", "Core", 0.80, 2.00, 8, 4.5, 1},
	{"Opteron 240", "K8", 0.55, 1.80, 2, 3, 1},
	{"Atom 330", "Atom", 0.35, 1.60, 1, 2.5, 1},
	{"Atom D510", "Atom", 0.35, 1.66, 1, 2.5, 1},
	{"Pentium 4", "NetBurst", 0.45, 2.80, 1, 3, 1},
	{"Xeon 5110", "Core", 0.80, 1.60, 4, 4.5, 1},
	{"Xeon 5130", "Core", 0.80, 2.00, 4, 4.5, 1},
	{"Core i5", "Nehalem", 1.00, 2.30, 8, 10, 1},
	{"Xeon L5420", "Harpertown", 0.85, 2.50, 12, 4.5, 1},
	{"Xeon E5", "Sandy Bridge", 1.15, 2.00, 15, 13, 1},
	{"c1.medium", "Harpertown", 0.80, 2.33, 8, 4.5, 1},
	{"c1.xlarge", "Harpertown", 0.80, 2.33, 8, 4.5, 1},
	{"m1.large", "Harpertown", 0.80, 2.00, 8, 4.5, 1},
	{"m1.xlarge", "Harpertown", 0.85, 2.00, 8, 4.5, 1},
	{"m2.xlarge", "Nehalem", 1.00, 2.67, 8, 10, 1},
	{"m2.2xlarge", "Nehalem", 1.00, 2.67, 8, 10, 1},
	{"m2.4xlarge", "Nehalem", 1.00, 2.67, 8, 10, 1},
	{"m3.xlarge", "Sandy Bridge", 1.15, 2.60, 20, 13, 2},
	{"m3.2xlarge", "Sandy Bridge", 1.15, 2.60, 20, 13, 2},
	{"cg1.4xlarge", "Nehalem", 1.00, 2.93, 8, 10, 2},
	{"hi1.4xlarge", "Westmere", 1.00, 2.40, 12, 10, 2},
	{"hs1.8xlarge", "Sandy Bridge", 1.15, 2.00, 20, 13, 2},
	{"cc2.8xlarge", "Sandy Bridge", 1.15, 2.60, 20, 13, 2},
	{"cr1.8xlarge", "Sandy Bridge", 1.15, 2.60, 20, 13, 2},
	{"c3.xlarge", "Ivy Bridge", 1.20, 2.80, 25, 14, 2},
	{"c3.2xlarge", "Ivy Bridge", 1.20, 2.80, 25, 14, 2},
	{"c3.4xlarge", "Ivy Bridge", 1.20, 2.80, 25, 14, 2},
	{"c3.8xlarge", "Ivy Bridge", 1.20, 2.80, 25, 14, 2},
	{"r3.xlarge", "Ivy Bridge", 1.20, 2.50, 25, 14, 2},
	{"r3.2xlarge", "Ivy Bridge", 1.20, 2.50, 25, 14, 2},
	{"r3.4xlarge", "Ivy Bridge", 1.20, 2.50, 25, 14, 2},
	{"r3.8xlarge", "Ivy Bridge", 1.20, 2.50, 25, 14, 2},
}

// What is taken where nothing is known: one generation, whose cores are hardware
// threads, so that nodes of a trace differ by their size only.
const (
	unknownGHz      = 2.5
	unknownLLCMB    = 20
	unknownSiblings = 2
)

func generationOf(configuration string) generation {
	for _, g := range generations {
		if g.name == configuration {
			return g
		}
	}
	return generation{configuration, configuration, 1, unknownGHz, unknownLLCMB, 0, unknownSiblings}
}
