package shape

// instanceType is what a provider published of an instance type. A clock of 0
// is one that differs between instances of the type.
type instanceType struct {
	name      string
	cores     float64 // virtual CPUs
	memoryGiB float64
	diskGB    float64 // local, over all disks; negative: not published
	ghz       float64
}

// instanceTypes are the types the shapes use, as on offer in 2012 to 2014.
var instanceTypes = []instanceType{
	{"c1.medium", 2, 1.7, 350, 0},
	{"c1.xlarge", 8, 7, 4 * 420, 0},
	{"c3.xlarge", 4, 7.5, 2 * 40, 2.8},
	{"c3.2xlarge", 8, 15, 2 * 80, 2.8},
	{"c3.4xlarge", 16, 30, 2 * 160, 2.8},
	{"c3.8xlarge", 32, 60, 2 * 320, 2.8},
	{"cc2.8xlarge", 32, 60.5, 4 * 840, 2.6},
	{"cg1.4xlarge", 16, 22.5, 2 * 840, 2.93},
	{"cr1.8xlarge", 32, 244, 2 * 120, 2.6},
	{"hi1.4xlarge", 16, 60.5, 2 * 1024, 2.4},
	{"hs1.8xlarge", 16, 117, 24 * 2048, 2.0},
	{"m1.large", 2, 7.5, 2 * 420, 0},
	{"m1.xlarge", 4, 15, 4 * 420, 0},
	{"m2.xlarge", 2, 17.1, 420, 0},
	{"m2.2xlarge", 4, 34.2, 850, 0},
	{"m2.4xlarge", 8, 68.4, 2 * 840, 0},
	{"m3.medium", 1, 3.75, 4, 2.5},
	{"m3.large", 2, 7.5, 32, 2.5},
	{"m3.xlarge", 4, 15, 2 * 40, 2.5},
	{"m3.2xlarge", 8, 30, 2 * 80, 2.5},
	{"r3.xlarge", 4, 30.5, 80, 2.5},
	{"r3.2xlarge", 8, 61, 160, 2.5},
	{"r3.4xlarge", 16, 122, 320, 2.5},
	{"r3.8xlarge", 32, 244, 2 * 320, 2.5},
	{"A0", 1, 0.75, 20, 0},
	{"A1", 1, 1.75, 70, 0},
	{"A2", 2, 3.5, 135, 0},
	{"A3", 4, 7, 285, 0},
	{"A4", 8, 14, 605, 0},
	{"A5", 2, 14, 135, 0},
	{"A6", 4, 28, 285, 0},
	{"A7", 8, 56, 605, 0},
	{"n1-standard-1", 1, 3.75, -1, 0},
	{"n1-standard-2", 2, 7.5, -1, 0},
	{"n1-standard-4", 4, 15, -1, 0},
	{"n1-standard-8", 8, 30, -1, 0},
}

// of is a chosen number of instances of a type. A name that is not in the table
// has no cores, which the test of all shapes refuses.
func of(name string, count float64) Node {
	n := Node{Configuration: name, Count: chosen(count)}
	for _, t := range instanceTypes {
		if t.name != name {
			continue
		}
		n.Cores, n.MemoryBytes = catalogue(t.cores), catalogue(t.memoryGiB*gib)
		if t.diskGB >= 0 {
			n.DiskBytes = catalogue(t.diskGB * gb)
		}
		if t.ghz > 0 {
			n.SpeedGHz = catalogue(t.ghz)
		}
	}
	return n
}

func instances(nodes ...Node) []Node { return nodes }
