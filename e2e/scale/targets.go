package main

// targets are what a run is held against.
type targets struct {
	sharePercent   float64 // the placer's rate of stock's, in the median of the rounds
	slowestPercent float64 // in every round
	agentCPUMillis float64 // per job of a known workload
	agentMiB       float64 // peak memory
}

// targetsOf are the targets of a cluster of a size: what the agent reads and keeps grows
// with the nodes, so the larger ones leave more for that (chosen by us).
func targetsOf(nodes int) targets {
	switch {
	case nodes <= 1000:
		return targets{sharePercent: 90, slowestPercent: 75, agentCPUMillis: 2, agentMiB: 150}
	case nodes <= largestInstalled:
		return targets{sharePercent: 85, slowestPercent: 75, agentCPUMillis: 3, agentMiB: 150}
	default:
		return targets{sharePercent: 85, slowestPercent: 75, agentCPUMillis: 3, agentMiB: 220}
	}
}

// largestInstalled is the largest cluster, in nodes, that the memory of the installed
// agents is for.
const largestInstalled = 5000
