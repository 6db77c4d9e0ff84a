package shape

var paragonLocal40 = Descriptor{
	Name:    "paragon-local-40",
	Summary: "the local cluster of Paragon and ARQ: 40 servers of 10 configurations, 178 cores",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, table 3.3 (and 6.1)",
			Notes:  []string{"the table has no disks; GB and MB of memory and cache are read as powers of two"},
			Nodes: []Node{
				paragonServer("Xeon L5609", 1.87, 2, 8, 32, 32, 12, 24, 1),
				paragonServer("Xeon X5650", 2.67, 2, 12, 32, 32, 12, 24, 2),
				paragonServer("Xeon X5670", 2.93, 2, 12, 32, 32, 12, 48, 2),
				paragonServer("Xeon L5640", 2.27, 2, 12, 32, 32, 12, 48, 1),
				paragonServer("Xeon MP", 3.16, 4, 4, 16, 16, 1, 8, 5),
				paragonServer("Xeon E5345", 2.33, 1, 4, 32, 32, 8, 32, 8),
				paragonServer("Xeon E5335", 2.00, 1, 4, 32, 32, 8, 16, 8),
				paragonServer("Opteron 240", 1.80, 2, 2, 64, 64, 2, 4, 7),
				paragonServer("Atom 330", 1.60, 1, 2, 32, 24, 1, 4, 5),
				paragonServer("Atom D510", 1.66, 1, 2, 32, 24, 1, 8, 1),
			},
		}
	},
}

// paragonServer is a row of table 3.3.
func paragonServer(name string, ghz, sockets, cores, l1iKB, l1dKB, llcMB, memoryGB, count float64) Node {
	return Node{
		Configuration: name, Count: stated(count), Cores: stated(cores), Sockets: stated(sockets), SpeedGHz: stated(ghz),
		MemoryBytes: stated(memoryGB * gib), LLCBytes: stated(llcMB * mib), L1IBytes: stated(l1iKB * kib), L1DBytes: stated(l1dKB * kib),
	}
}

var ec2x1000 = Descriptor{
	Name:    "paragon-ec2-1000",
	Summary: "Paragon on EC2: 1,000 servers of 14 configurations, 4,960 cores",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, §3.4 (1,000 servers, 14 configurations, from dual-core to quad-socket with 100s of GB) and figure 3.12 (4,960 cores)",
			Notes: []string{
				"which 14 instance types, and how many of each, are choices: types on offer in 2013 with at least two virtual CPUs, " +
					"few of the largest, and the rest such that there are 1,000 servers and 4,960 cores",
				"no single instance of 2013 had four sockets; cr1.8xlarge with 244 GiB is the largest",
			},
			Nodes: instances(
				of("c1.medium", 105), of("m1.large", 105), of("m2.xlarge", 100),
				of("m1.xlarge", 150), of("m2.2xlarge", 145), of("m3.xlarge", 150),
				of("c1.xlarge", 65), of("m2.4xlarge", 65), of("m3.2xlarge", 70),
				of("cg1.4xlarge", 10), of("hi1.4xlarge", 10), of("hs1.8xlarge", 10),
				of("cc2.8xlarge", 10), of("cr1.8xlarge", 5),
			),
		}
	},
}

var azure500 = Descriptor{
	Name:    "paragon-azure-500",
	Summary: "Paragon on Windows Azure: 500 servers of 8 configurations",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, §3.4 (500 servers, 8 configurations)",
			Notes: []string{
				"the eight sizes on offer in 2013 (A0 to A7) are the configurations, as many of each as possible; both are choices",
				"A0 has a share of a core, counted as one",
			},
			Nodes: instances(of("A0", 63), of("A1", 63), of("A2", 63), of("A3", 63), of("A4", 62), of("A5", 62), of("A6", 62), of("A7", 62)),
		}
	},
}

var gce100 = Descriptor{
	Name:    "paragon-gce-100",
	Summary: "Paragon on Google Compute Engine: 100 servers of 4 configurations",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, §3.4 (100 servers, 4 configurations)",
			Notes:  []string{"the four standard sizes of 2013, 25 of each, are choices"},
			Nodes:  instances(of("n1-standard-1", 25), of("n1-standard-2", 25), of("n1-standard-4", 25), of("n1-standard-8", 25)),
		}
	},
}
