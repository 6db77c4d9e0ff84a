package hcl

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// Bounds of the performance block. They are chosen by us: wide enough for any
// workload, narrow enough that a slip of a unit is seen.
const (
	maxRatePerSecond  = 1e12
	maxLatencySeconds = 3600
	maxJobSeconds     = 365 * 24 * 3600
	maxWork           = 1e15

	minProbeTimeoutSeconds = 0.01
	maxProbeTimeoutSeconds = 60

	maxDiskMBPerSecond = 1e6

	maxCount    = 10000
	maxCores    = 1024
	minMemoryMB = 10 // Nomad's own minimum
	maxMemoryMB = 16 << 20

	// maxSlowdownPercent: beyond half the performance no score means anything.
	maxSlowdownPercent = 50

	minHoldSeconds = 10
	maxHoldSeconds = 24 * 3600

	minProfileSeconds = 5
	maxProfileSeconds = 600
)

// performanceSchema is the grammar of the performance block.
func performanceSchema(o Options) block {
	return block{
		name:    "performance",
		summary: "what the group must achieve, how that is measured, and what the placer may change",
		attributes: []attribute{
			{
				name: "slowdown_max", kind: kindPercent, bounds: bounds{0, maxSlowdownPercent, true},
				byDefault: `"5%"`, example: `"5%"`,
				summary: "the QoS bound: the loss of performance that co-located workloads may cause; scores are measured at it",
				misuse:  `write the percentage in quotes: slowdown_max = "5%"`,
			},
			{
				name: "policy", kind: kindChoice, choices: o.Policies,
				byDefault: "the agent's", example: `"paragon"`,
				summary: "the policy that chooses the nodes",
			},
			{
				name: "hold", kind: kindSpan, bounds: bounds{minHoldSeconds, maxHoldSeconds, false},
				byDefault: "the agent's", example: `"2m"`,
				summary: "a job that is not placed after this time runs under stock Nomad's rules",
			},
			{
				name: "move", kind: kindTruth, byDefault: "false", example: "true",
				summary: "a running allocation may be replaced by one on a better node",
			},
			{
				name: "near", kind: kindTexts, byDefault: "none, or by captured traffic where the agent's traffic block says so", example: `["cache", "store/db"]`,
				summary: "jobs, or groups as job/group, of the same namespace that the group exchanges much with: of nodes that are as good for its target it gets those in the rack where they run; what it is spread over comes first",
				misuse:  `write a list: near = ["cache"]`,
			},
		},
		blocks: []block{targetSchema(), probeSchema(), scaleSchema(), diskSchema(), profileSchema()},
	}
}

func diskSchema() block {
	return block{
		name:    "disk",
		summary: "what each allocation is promised of its node's disk, on nodes that say what their disk does; no other node's disk is counted",
		attributes: []attribute{
			{
				name: "bandwidth", kind: kindNumber, bounds: bounds{0, maxDiskMBPerSecond, true}, unit: "MB/s", required: true,
				example: "40", summary: "the bytes that one allocation reads and writes per second at its busiest, in millions",
				misuse: "write the bare number of MB/s: bandwidth = 40",
			},
			{
				name: "use_max", kind: kindPercent, bounds: bounds{0, 100, true},
				byDefault: `"100%"`, example: `"70%"`,
				summary: "up to which use of the disk, by all of its allocations together, this one keeps its bound on latencies",
				misuse:  `write the percentage in quotes: use_max = "70%"`,
			},
			{
				name: "limit", kind: kindTruth, byDefault: "false", example: "true",
				summary: "the promise is also a limit: each task may read `bandwidth` per second, and write as much, on nodes whose agent enforces that",
			},
		},
	}
}

func targetSchema() block {
	return block{
		name:    "target",
		summary: "what the group must achieve; required, with exactly one of qps, finish_within, rate and best_effort",
		attributes: []attribute{
			{
				name: "qps", kind: kindNumber, bounds: bounds{0, maxRatePerSecond, true}, unit: "requests/s",
				example: "20000", summary: "requests answered per second by the whole group",
			},
			{
				name: "finish_within", kind: kindSpan, bounds: bounds{1, maxJobSeconds, false},
				example: `"10m"`, summary: "the job is done this long after its start",
			},
			{
				name: "rate", kind: kindNumber, bounds: bounds{0, maxRatePerSecond, true}, unit: "units/s",
				example: "120", summary: "units of work done per second by the whole group",
			},
			{
				name: "unit", kind: kindText, byDefault: `"units"`,
				example: `"frames"`, summary: "the unit of rate, for display",
			},
			{
				name: "best_effort", kind: kindTruth,
				example: "true", summary: "no target: the job runs on what the others leave, and is moved or pre-empted first",
				misuse: "write best_effort = true, or name a target instead",
			},
		},
		blocks: []block{{
			name:    "latency",
			summary: "a bound on the response time, with qps: requests beyond it do not count",
			attributes: []attribute{
				{
					name: "percentile", kind: kindNumber, bounds: bounds{0, 99.999, true}, required: true,
					example: "99", summary: "the share of requests, in percent, that must be within max",
					misuse: "write the bare number: percentile = 99",
				},
				{
					name: "max", kind: kindSpan, bounds: bounds{0, maxLatencySeconds, true}, required: true,
					example: `"5ms"`, summary: "the longest response time at that percentile",
				},
			},
		}},
	}
}

// probeAttributes are the attributes any probe may choose from.
func probeAttributes() []attribute {
	return []attribute{
		{
			name: "port", kind: kindText, example: `"metrics"`,
			summary: "the label of the port, in the group's network block, that serves the metrics",
			misuse:  "port is the label of a port of the group's network block, in quotes, and not its number",
		},
		{
			name: "rate", kind: kindText, example: `"cache_requests_total"`,
			summary: "the counter of work done, as a metric name with optional labels",
		},
		{
			name: "latency", kind: kindText, example: `"cache_request_seconds"`,
			summary: "the histogram of response times in seconds",
			misuse:  "latency of a probe is the name of a histogram, in quotes",
		},
		{
			name: "path", kind: kindText, byDefault: `"/metrics"`, example: `"/metrics"`,
			summary: "the page of the metrics",
		},
		{
			name: "pattern", kind: kindText, example: `"frame= *([0-9]+)"`,
			summary: "a regular expression (RE2) with one group, the number; the last match counts. A second group `(?P<at>…)` may hold when the line was printed (Unix seconds with decimals, or RFC 3339)",
		},
		{
			name: "command", kind: kindTexts, example: `["/bin/progress", "--rows"]`,
			summary: "the command and its arguments",
			misuse:  `write the command as a list of its arguments: command = ["/bin/sh", "-c", "…"]`,
		},
		{
			name: "task", kind: kindText, byDefault: "the group's first task", example: `"encoder"`,
			summary: "the task that is read",
		},
		{
			name: "stream", kind: kindChoice, choices: []string{"stdout", "stderr"}, byDefault: `"stdout"`,
			example: `"stderr"`, summary: "the output that is read",
		},
		{
			name: "mode", kind: kindChoice, choices: []string{string(performance.ModeTotal), string(performance.ModeRate)},
			byDefault: `"total"`, example: `"rate"`,
			summary: "whether the number is the work done so far (total) or the work per second now (rate)",
		},
		{
			name: "work", kind: kindNumber, bounds: bounds{0, maxWork, true}, unit: "units",
			example: "5000", summary: "the units of work in the whole job",
		},
		{
			name: "timeout", kind: kindSpan, bounds: bounds{minProbeTimeoutSeconds, maxProbeTimeoutSeconds, false},
			byDefault: `"` + formatSpan(performance.DefaultProbeTimeout) + `"`, example: `"500ms"`,
			summary: "how long one reading may take",
		},
	}
}

func probeSchema() block {
	b := block{
		name:     "probe",
		summary:  "how the running group is measured; required unless the target is best_effort",
		labelled: "probe",
	}
	for _, p := range probes() {
		v := block{name: p.name, summary: p.summary}
		for _, a := range probeAttributes() {
			if slices.Contains(p.attributes, a.name) {
				a.required = slices.Contains(p.required, a.name)
				v.attributes = append(v.attributes, a)
			}
		}
		b.variants = append(b.variants, v)
	}
	return b
}

func scaleSchema() block {
	return block{
		name:    "scale",
		summary: "the sizes the group may be given; without a list, the value is as in the job",
		attributes: []attribute{
			{
				name: "count", kind: kindIntegers, bounds: bounds{1, maxCount, false},
				byDefault: "the group's count", example: "[1, 2, 4]", summary: "numbers of allocations",
				misuse: "write a list: count = [2]",
			},
			{
				name: "cores", kind: kindIntegers, bounds: bounds{1, maxCores, false}, unit: "cores",
				byDefault: "the task's resources", example: "[1, 2]", summary: "whole cores per allocation",
				misuse: "write a list: cores = [2]",
			},
			{
				name: "memory", kind: kindIntegers, bounds: bounds{minMemoryMB, maxMemoryMB, false}, unit: "MB",
				byDefault: "the task's resources", example: "[256, 512]", summary: "memory per allocation",
				misuse: "write a list of whole MB: memory = [256, 512]",
			},
		},
	}
}

func profileSchema() block {
	return block{
		name:    "profile",
		summary: "limits the profiling run",
		attributes: []attribute{
			{
				name: "seconds", kind: kindInteger, bounds: bounds{minProfileSeconds, maxProfileSeconds, false}, unit: "seconds",
				byDefault: "the agent's", example: "60", summary: "the length of the whole profile",
				misuse: "write the bare number of seconds: seconds = 45",
			},
			{
				name: "sources", kind: kindChoices, choices: sourceNames(),
				byDefault: "chosen by the placer", example: `["mem_bw", "llc_cap"]`,
				summary: "the sources of interference that are measured; the others are predicted",
				misuse:  `write a list: sources = ["mem_bw"]`,
			},
			{
				name: "skip", kind: kindTruth, byDefault: "false", example: "true",
				summary: "no profiling run: all scores come from other workloads",
			},
			{
				name: "when", kind: kindChoice, choices: performance.Whens(),
				byDefault: "the agent's", example: `"quiet"`,
				summary: "before: the group is held until it is profiled; after: it is placed at once by what is known of other workloads and profiled while it runs; quiet: after where little is reserved and nothing that runs has a target, else before",
			},
			{
				name: "allow", kind: kindChoices, choices: permissionNames(),
				byDefault: "none of them", example: `["host_paths", "prestart"]`,
				summary: "what the copy that is profiled may use or do although it reaches beyond the copy; a group that would do so without leave is placed unprofiled, and tasks of poststart and poststop are left out of its copy",
				misuse:  `write a list: allow = ["host_paths"]`,
			},
		},
	}
}

func permissionNames() []string {
	var out []string
	for _, p := range performance.Permissions() {
		out = append(out, string(p))
	}
	return out
}
