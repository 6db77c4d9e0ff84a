package shape

var tarcil100 = Descriptor{
	Name:    "tarcil-100",
	Summary: "the workers of Tarcil's first cluster: 100 r3.2xlarge, 800 cores",
	Build: func() Cluster {
		nodes := instances(of("r3.2xlarge", 100))
		nodes[0].Count, nodes[0].Cores, nodes[0].MemoryBytes = stated(100), stated(8), stated(61*gib)
		return Cluster{
			Source: "Delimitrou 2015, §7.6 (110 r3.2xlarge of 61 GB, 10 of them for scheduling agents; 8 virtual CPUs)",
			Notes:  []string{"the ten servers of the scheduling agents are left out: no job runs there"},
			Nodes:  nodes,
		}
	},
}

var tarcil100Mixed = Descriptor{
	Name:    "tarcil-100-heterogeneous",
	Summary: "Tarcil's first cluster with 75 workers replaced by weaker and stronger ones",
	Build: func() Cluster {
		nodes := instances(of("r3.2xlarge", 25), of("m3.medium", 15), of("m3.large", 20), of("c3.4xlarge", 20), of("r3.4xlarge", 20))
		nodes[0].Count, nodes[0].Cores, nodes[0].MemoryBytes = stated(25), stated(8), stated(61*gib)
		return Cluster{
			Source: "Delimitrou 2015, §7.6 (75 % of the workers replaced, from general-purpose medium and large to quadruple compute- and memory-optimised)",
			Notes:  []string{"the four types are what the text names; how many of each is a choice"},
			Nodes:  nodes,
		}
	},
}

var tarcil400 = Descriptor{
	Name:    "tarcil-400",
	Summary: "Tarcil's second cluster: 400 servers of 10 configurations, 4,178 cores",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, §7.6 (400 servers, 10 types of 4 to 32 cores, 4,178 cores)",
			Notes: []string{
				"which 10 types, and how many of each, are choices such that there are 400 servers and 4,178 cores",
				"4,178 is no multiple of four, as all sizes on offer but one are: two hs1.8xlarge count with the 17 virtual CPUs of later lists, not 16",
			},
			Nodes: append(instances(
				of("c3.xlarge", 52), of("m3.xlarge", 52), of("r3.xlarge", 52),
				of("c3.2xlarge", 41), of("m3.2xlarge", 41), of("r3.2xlarge", 42),
				of("c3.4xlarge", 78), of("c3.8xlarge", 20), of("r3.8xlarge", 20),
			), withCores(of("hs1.8xlarge", 2), 17)),
		}
	},
}

func withCores(n Node, cores float64) Node {
	n.Cores = catalogue(cores)
	return n
}
