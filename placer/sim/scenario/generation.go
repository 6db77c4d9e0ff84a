package scenario

// generation is what a shape does not say of a processor. Instructions per cycle
// are relative to the first Core i7 generations (Nehalem, Westmere), from the
// published ratios of single-thread SPEC results at equal clock, rounded; clock
// and cache are those of the part most of an instance type ran on.
type generation struct {
	name  string
	ipc   float64
	ghz   float64
	llcMB float64
}

var generations = []generation{
	{"Xeon L5609", 1.00, 1.87, 12},
	{"Xeon X5650", 1.00, 2.67, 12},
	{"Xeon X5670", 1.00, 2.93, 12},
	{"Xeon L5640", 1.00, 2.27, 12},
	{"Xeon MP", 0.45, 3.16, 1}, // NetBurst
	{"Xeon E5345", 0.80, 2.33, 8},
	{"Xeon E5335", 0.80, 2.00, 8},
	{"Opteron 240", 0.55, 1.80, 2},
	{"Atom 330", 0.35, 1.60, 1},
	{"Atom D510", 0.35, 1.66, 1},
	{"c1.medium", 0.80, 2.33, 8}, // Harpertown
	{"c1.xlarge", 0.80, 2.33, 8},
	{"m1.large", 0.80, 2.00, 8},
	{"m1.xlarge", 0.85, 2.00, 8},
	{"m2.xlarge", 1.00, 2.67, 8}, // Nehalem
	{"m2.2xlarge", 1.00, 2.67, 8},
	{"m2.4xlarge", 1.00, 2.67, 8},
	{"m3.xlarge", 1.15, 2.60, 20}, // Sandy Bridge
	{"m3.2xlarge", 1.15, 2.60, 20},
	{"cg1.4xlarge", 1.00, 2.93, 8},
	{"hi1.4xlarge", 1.00, 2.40, 12},
	{"hs1.8xlarge", 1.15, 2.00, 20},
	{"cc2.8xlarge", 1.15, 2.60, 20},
	{"cr1.8xlarge", 1.15, 2.60, 20},
	{"c3.xlarge", 1.20, 2.80, 25}, // Ivy Bridge
	{"c3.2xlarge", 1.20, 2.80, 25},
	{"c3.4xlarge", 1.20, 2.80, 25},
	{"c3.8xlarge", 1.20, 2.80, 25},
	{"r3.xlarge", 1.20, 2.50, 25},
	{"r3.2xlarge", 1.20, 2.50, 25},
	{"r3.4xlarge", 1.20, 2.50, 25},
	{"r3.8xlarge", 1.20, 2.50, 25},
}

// What is taken where nothing is known: one generation, so that nodes of a
// trace differ by their size only.
const (
	unknownGHz   = 2.5
	unknownLLCMB = 20
)

func generationOf(configuration string) generation {
	for _, g := range generations {
		if g.name == configuration {
			return g
		}
	}
	return generation{configuration, 1, unknownGHz, unknownLLCMB}
}
