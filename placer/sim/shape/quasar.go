package shape

import "fmt"

var quasarLocal40 = Descriptor{
	Name:    "quasar-local-40",
	Summary: "the local cluster of Quasar: 40 servers of 10 configurations, 2 to 24 cores",
	Build: func() Cluster {
		c := Cluster{
			Source: "Delimitrou 2015, table 4.1 (cores and memory of platforms A to J) and §4.5 (40 servers, 10 platforms)",
			Notes:  []string{"four servers of each platform are a choice; the table has no clock, cache or disk"},
		}
		cores := []float64{2, 4, 8, 8, 8, 8, 12, 12, 16, 24}
		memory := []float64{4, 8, 12, 16, 20, 24, 16, 24, 48, 48}
		for i := range cores {
			c.Nodes = append(c.Nodes, Node{
				Configuration: fmt.Sprintf("platform %c", 'A'+i), Count: chosen(4), Cores: stated(cores[i]), MemoryBytes: stated(memory[i] * gib),
			})
		}
		return c
	},
}

var quasarEC2x200 = Descriptor{
	Name:    "quasar-ec2-200",
	Summary: "Quasar on EC2: 200 servers of 14 configurations",
	Build: func() Cluster {
		return Cluster{
			Source: "Delimitrou 2015, §4.5 (200 dedicated servers, 14 types, small to x-large)",
			Notes:  []string{"a fifth of paragon-ec2-1000, which has as many types: a choice"},
			Nodes: instances(
				of("c1.medium", 21), of("m1.large", 21), of("m2.xlarge", 20),
				of("m1.xlarge", 30), of("m2.2xlarge", 29), of("m3.xlarge", 30),
				of("c1.xlarge", 13), of("m2.4xlarge", 13), of("m3.2xlarge", 14),
				of("cg1.4xlarge", 2), of("hi1.4xlarge", 2), of("hs1.8xlarge", 2),
				of("cc2.8xlarge", 2), of("cr1.8xlarge", 1),
			),
		}
	},
}
