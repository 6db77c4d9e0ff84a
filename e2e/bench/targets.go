package main

// target is one row of the table: a benchmark's metric and the bound it keeps.
type target struct {
	name string // of the row
	// pkg and benchmark say what is run; benchmark is the full name with its
	// sub-benchmark, without the "Benchmark" prefix and the CPU count.
	pkg       string
	benchmark string
	// benchtime is how long or how often it runs, as for go test; empty is 1s.
	benchtime string
	// tags are build tags; "e2e" benchmarks start a real Nomad and need root.
	tags string
	// metric is the unit under which the benchmark reports the value, and scale
	// what it is multiplied with to become the row's unit.
	metric string
	scale  float64
	unit   string
	// most is the bound: the value must be below it.
	most float64
}

// targets are the speed and size targets of the product, in the order of the
// table. A target is one line here and one benchmark.
var targets = []target{
	{
		name: "profile complete to rewritten job accepted, median",
		pkg:  "./e2e/placement", benchmark: "Placement", benchtime: "3x", tags: "e2e",
		metric: "release-ms", scale: 1, unit: "ms", most: 250,
	},
	{
		name: "whole profile with two sources, median",
		pkg:  "./e2e/placement", benchmark: "Placement", benchtime: "3x", tags: "e2e",
		metric: "profile-s", scale: 1, unit: "s", most: 60,
	},
	{
		name: "hold without profiling over stock Nomad, median",
		pkg:  "./e2e/placement", benchmark: "Hold", benchtime: "1x", tags: "e2e",
		metric: "overhead-s", scale: 1, unit: "s", most: 1.5,
	},
	{
		name: "reads by 8 clients: rate without the proxy over that with it, median",
		pkg:  "./e2e/placement", benchmark: "ProxyRates/read/clients-8", benchtime: "1x", tags: "e2e",
		metric: "direct-over-proxy", scale: 1, unit: "times", most: 1.667,
	},
	{
		name: "reads by 1 client: what the proxy adds to the p99, median",
		pkg:  "./e2e/placement", benchmark: "ProxyRates/read/clients-1", benchtime: "1x", tags: "e2e",
		metric: "p99-added-ms", scale: 1, unit: "ms", most: 3,
	},
	{
		name: "writes by 8 clients: rate without the proxy over that with it, median",
		pkg:  "./e2e/placement", benchmark: "ProxyRates/write/clients-8", benchtime: "1x", tags: "e2e",
		metric: "direct-over-proxy", scale: 1, unit: "times", most: 1.667,
	},
	{
		name: "writes by 1 client: what the proxy adds to the p99, median",
		pkg:  "./e2e/placement", benchmark: "ProxyRates/write/clients-1", benchtime: "1x", tags: "e2e",
		metric: "p99-added-ms", scale: 1, unit: "ms", most: 5,
	},
	{
		name: "agent at 1,000 nodes and 5,000 allocations",
		pkg:  "./placer/cmd/nomad-placer", benchmark: "AgentMemory", benchtime: "1x",
		metric: "MiB-rss", scale: 1, unit: "MiB", most: 80,
	},
	{
		name: "idle driver, CPU",
		pkg:  "./e2e/placement", benchmark: "IdleDriver", benchtime: "1x", tags: "e2e",
		metric: "%cpu", scale: 1, unit: "% of a core", most: 0.5,
	},
	{
		name: "idle driver, memory",
		pkg:  "./e2e/placement", benchmark: "IdleDriver", benchtime: "1x", tags: "e2e",
		metric: "MiB-rss", scale: 1, unit: "MiB", most: 40,
	},
	{
		name: "idle driver on a busy program: loss clear of the interval",
		pkg:  "./e2e/driver", benchmark: "DriverOnVictim", benchtime: "1x", tags: "e2e",
		metric: "loss-beyond-interval-%", scale: 1, unit: "%", most: 0.01,
	},
	{
		name: "classify and select, 1,000 nodes × 15 sources × 1,000 rows, p99",
		pkg:  "./placer/policy", benchmark: "ClassifyAndSelect/paragon", benchtime: "500x",
		metric: "p99-ms", scale: 1, unit: "ms", most: 10,
	},
	{
		name: "expected, known job, 1,000 nodes: decision, p99",
		pkg:  "./placer/policy", benchmark: "PlaceKnown/expected/nodes=1000", benchtime: "2000x",
		metric: "p99-ms", scale: 1, unit: "ms", most: 5,
	},
	{
		name: "expected, known job, 10,000 nodes: decision, p99",
		pkg:  "./placer/policy", benchmark: "PlaceKnown/expected/nodes=10000", benchtime: "2000x",
		metric: "p99-ms", scale: 1, unit: "ms", most: 5,
	},
	{
		name: "expected, 64 jobs that come together, 10,000 nodes",
		pkg:  "./placer/placement", benchmark: "DecideTogether/expected/nodes=10000", benchtime: "20x",
		metric: "ns/op", scale: 1e-6, unit: "ms", most: 100,
	},
	{
		name: "paragon, whole board of 10,000 nodes: choice, p99",
		pkg:  "./placer/policy", benchmark: "Select/paragon/10000",
		metric: "p99-µs", scale: 1e-3, unit: "ms", most: 5,
	},
	{
		name: "quasar, whole board of 10,000 nodes: choice, p99",
		pkg:  "./placer/policy", benchmark: "Select/quasar/10000",
		metric: "p99-µs", scale: 1e-3, unit: "ms", most: 5,
	},
	{
		name: "paragon-statistical, 100,000 nodes: choice, p99",
		pkg:  "./placer/policy", benchmark: "Select/paragon-statistical/100000",
		metric: "p99-µs", scale: 1, unit: "µs", most: 100,
	},
	{
		name: "tarcil, 100,000 nodes: choice, p99",
		pkg:  "./placer/policy", benchmark: "Select/tarcil/100000",
		metric: "p99-µs", scale: 1, unit: "µs", most: 100,
	},
	{
		name: "simulator, 1,000 nodes: an event",
		pkg:  "./placer/sim/scenario", benchmark: "Events/1000",
		metric: "ns/event", scale: 1e-3, unit: "µs", most: 1,
	},
	{
		name: "kernel takes a new intensity",
		pkg:  "./driver/ibench", benchmark: "Set", benchtime: "100x",
		metric: "ns/op", scale: 1e-6, unit: "ms", most: 5,
	},
	{
		name: "kernel at intensity 0",
		pkg:  "./driver/ibench", benchmark: "Idle", benchtime: "20x",
		metric: "%cpu", scale: 1, unit: "% of a core", most: 1,
	},
	{
		name: "traffic model, ten windows of 48 × 100 servers: fit",
		pkg:  "./profiler/workload/network", benchmark: "FitCluster", benchtime: "1x",
		metric: "ns/op", scale: 1e-9, unit: "s", most: 60,
	},
	{
		name: "traffic model, ten windows of 48 × 100 servers: file",
		pkg:  "./profiler/workload/network", benchmark: "FitCluster", benchtime: "1x",
		metric: "MB-file", scale: 1, unit: "MB", most: 50,
	},
	{
		name: "capture of traffic at 1,000 connections a second",
		pkg:  "./profiler/workload/network/capture", benchmark: "Poll", benchtime: "5x",
		metric: "%core", scale: 1, unit: "% of a core", most: 1,
	},
}
