package validate

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// exception is a pair of sources whose cross-talk no kernel can avoid.
type exception struct {
	from, to []interference.Source // nil is every source
	where    []string              // placements; nil is every one
	why      string
}

// coreUnits are the units a core has once.
var coreUnits = []interference.Source{
	interference.Integer, interference.FloatingPoint, interference.Vector,
}

// coreScoped lists the sources private to a core.
func coreScoped() []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources() {
		if info.Scope == interference.ScopeCore {
			out = append(out, info.Source)
		}
	}
	return out
}

// exceptions is the table of physically unavoidable cross-talk (Delimitrou
// 2015, §5.4, shows 7 and 11 % for its one pair; the rest is our reasoning).
// The first that matches explains.
func exceptions() []exception {
	type sources = []interference.Source
	return []exception{
		{
			nil, nil, []string{placementSame},
			"both share one CPU: the one that runs takes its time from the other",
		},
		{
			sources{interference.MemoryBandwidth}, sources{interference.LLCCapacity, interference.LLCBandwidth}, nil,
			"every line read from memory passes through the last-level cache and evicts another",
		},
		{
			sources{interference.MemoryBandwidth}, sources{interference.MemoryCapacity}, nil,
			"touching resident memory at random goes through the same memory controllers",
		},
		{
			sources{interference.LLCBandwidth}, sources{interference.LLCCapacity}, nil,
			"a stream through the last-level cache occupies a part of it, and its ports",
		},
		{
			sources{interference.LLCCapacity}, sources{interference.LLCBandwidth}, nil,
			"lines evicted from the last-level cache are streamed from memory",
		},
		{
			sources{interference.StorageBandwidth}, sources{interference.StorageCapacity}, nil,
			"both read the same disk, which serves one queue",
		},
		{
			sources{interference.StorageCapacity}, sources{interference.StorageBandwidth}, nil,
			"both read the same disk, which serves one queue",
		},
		{
			sources{interference.L2Bandwidth}, sources{interference.L2Capacity}, []string{placementSibling},
			"a stream through the core's L2 occupies a part of it",
		},
		{
			sources{interference.L2Capacity, interference.L2Bandwidth}, sources{interference.L1Data}, []string{placementSibling},
			"every line of the core's L2 passes through its L1",
		},
		{
			sources{interference.L1Instruction}, sources{interference.Prefetcher}, []string{placementSibling},
			"the prefetch kernel is code, and lives in the instruction cache of the core",
		},
		{
			sources{interference.Prefetcher}, sources{interference.L1Instruction}, []string{placementSibling},
			"the prefetch kernel is code, and lives in the instruction cache of the core",
		},
		{
			coreUnits, nil, []string{placementSibling},
			"the hardware threads of a core share its issue ports: a kernel at 100 leaves every other instruction stream less of them",
		},
		{
			coreScoped(), coreScoped(), []string{placementSibling},
			"the hardware threads of a core share its front end and its load ports",
		},
	}
}

// excuse returns why a pair may be over the target; empty if it may not.
func excuse(from, to interference.Source, placement string) string {
	matches := func(list []interference.Source, s interference.Source) bool {
		return list == nil || slices.Contains(list, s)
	}
	for _, e := range exceptions() {
		if matches(e.from, from) && matches(e.to, to) && (e.where == nil || slices.Contains(e.where, placement)) {
			return e.why
		}
	}
	return ""
}

// judge says what a loss means for a pair.
func judge(from, to interference.Source, placement string, loss Interval) (Verdict, string) {
	if !loss.Center.Known() {
		return VerdictMiss, "nothing was measured"
	}
	if loss.Center <= crossTalkMaxLoss {
		return VerdictOK, ""
	}
	if why := excuse(from, to, placement); why != "" {
		return VerdictExpected, why
	}
	if loss.Low <= crossTalkMaxLoss {
		return VerdictMiss, "the interval reaches below the target: the machine may have been disturbed"
	}
	return VerdictMiss, ""
}
