package shape

// lshCluster has the ten configurations of the LSH paper's data centres, worst
// first. It states three of them; the others are parts of their time between the
// two ends.
func lshCluster(summary string, counts [10]float64) Cluster {
	nodes := []Node{
		lshServer("Pentium 4", 2.80, 1, 1, 1, counts[0], stated),
		lshServer("Xeon 5110", 1.60, 2, 4, 4, counts[1], chosen),
		lshServer("Xeon 5130", 2.00, 2, 4, 4, counts[2], chosen),
		lshServer("Xeon E5335", 2.00, 4, 8, 16, counts[3], chosen),
		lshServer("Xeon E5345", 2.33, 4, 8, 32, counts[4], chosen),
		lshServer("Core i5", 2.30, 8, 8, 8, counts[5], stated),
		lshServer("Xeon L5609", 1.87, 8, 12, 24, counts[6], chosen),
		lshServer("Xeon L5420", 2.50, 8, 12, 16, counts[7], chosen),
		lshServer("Xeon L5640", 2.27, 12, 12, 48, counts[8], chosen),
		lshServer("Xeon E5", 2.00, 12, 15, 32, counts[9], stated),
	}
	return Cluster{
		Summary: summary,
		Source:  "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing, §IV (50 servers of 10 configurations; best, default and worst stated)",
		Notes: []string{
			"seven of the ten configurations, and how many of each there are, are choices: five of each in the default data centre, fourteen of the best or the worst and four of the others else",
		},
		Nodes: nodes,
	}
}

// lshServer is one of them; origin is of all its numbers but how many there are.
func lshServer(name string, ghz, cores, llcMB, memoryGB, count float64, origin func(float64) Number) Node {
	return Node{
		Configuration: name, Count: chosen(count), Cores: origin(cores), SpeedGHz: origin(ghz), MemoryBytes: origin(memoryGB * gib), LLCBytes: origin(llcMB * mib),
	}
}

var lshDefault = Descriptor{
	Name:    "lsh-default-50",
	Summary: "the default data centre of the LSH paper: 50 servers, five of each of 10 configurations",
	Build: func() Cluster {
		return lshCluster("an even mix", [10]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5})
	},
}

var lshHigh = Descriptor{
	Name:    "lsh-high-end-50",
	Summary: "the high-end data centre of the LSH paper: 50 servers of 10 configurations, more of the best",
	Build: func() Cluster {
		return lshCluster("more of the best server", [10]float64{4, 4, 4, 4, 4, 4, 4, 4, 4, 14})
	},
}

var lshLow = Descriptor{
	Name:    "lsh-low-end-50",
	Summary: "the low-end data centre of the LSH paper: 50 servers of 10 configurations, more of the worst",
	Build: func() Cluster {
		return lshCluster("more of the worst server", [10]float64{14, 4, 4, 4, 4, 4, 4, 4, 4, 4})
	},
}
