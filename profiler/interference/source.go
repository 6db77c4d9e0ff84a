package interference

import (
	"fmt"
	"time"
)

// Source names one shared resource. It is the word used in HCL, JSON, node
// attributes, logs and the command line.
type Source string

// The fifteen sources of Delimitrou 2015, §5.3, and the two L2 variants of its
// SoI6' and SoI7'.
const (
	MemoryCapacity   Source = "mem_cap"
	MemoryBandwidth  Source = "mem_bw"
	StorageCapacity  Source = "storage_cap"
	StorageBandwidth Source = "storage_bw"
	NetworkBandwidth Source = "net_bw"
	LLCCapacity      Source = "llc_cap"
	LLCBandwidth     Source = "llc_bw"
	L2Capacity       Source = "l2_cap"
	L2Bandwidth      Source = "l2_bw"
	L1Instruction    Source = "l1i"
	L1Data           Source = "l1d"
	TLB              Source = "tlb"
	Integer          Source = "int"
	FloatingPoint    Source = "fp"
	Prefetcher       Source = "prefetch"
	Interconnect     Source = "interconnect"
	Vector           Source = "vector"
)

// Scope says how far the pressure of a source reaches, and so where a kernel
// must run to press on a workload.
type Scope string

// The reach of a source, from narrow to wide.
const (
	ScopeCore Scope = "core" // private to a core: the kernel shares the workload's CPUs
	ScopeLLC  Scope = "llc"  // cores that share the last-level cache
	ScopeNode Scope = "node" // cores of the same memory
	ScopeHost Scope = "host" // anywhere on the machine: disk, network
)

// SourceInfo describes one source.
type SourceInfo struct {
	Source Source
	Title  string // for people
	Scope  Scope
	SoI    string // number in Delimitrou 2015, §5.3
}

// sources is the list; a new source is one line here and one kernel file.
var sources = []SourceInfo{
	{MemoryCapacity, "memory capacity", ScopeNode, "1"},
	{MemoryBandwidth, "memory bandwidth", ScopeNode, "2"},
	{StorageCapacity, "storage capacity", ScopeHost, "3"},
	{StorageBandwidth, "storage bandwidth", ScopeHost, "4"},
	{NetworkBandwidth, "network bandwidth", ScopeHost, "5"},
	{LLCCapacity, "last-level cache capacity", ScopeLLC, "6"},
	{LLCBandwidth, "last-level cache bandwidth", ScopeLLC, "7"},
	{L2Capacity, "L2 cache capacity", ScopeCore, "6'"},
	{L2Bandwidth, "L2 cache bandwidth", ScopeCore, "7'"},
	{L1Instruction, "L1 instruction cache", ScopeCore, "8"},
	{L1Data, "L1 data cache", ScopeCore, "9"},
	{TLB, "translation lookaside buffer", ScopeCore, "10"},
	{Integer, "integer units", ScopeCore, "11"},
	{FloatingPoint, "floating-point units", ScopeCore, "12"},
	{Prefetcher, "prefetchers", ScopeCore, "13"},
	{Interconnect, "core interconnect", ScopeLLC, "14"},
	{Vector, "vector units", ScopeCore, "15"},
}

// Sources lists every source in the order of the paper. The slice is the
// caller's own.
func Sources() []SourceInfo { return append([]SourceInfo(nil), sources...) }

// ParseSource returns the source of that name, or an error that lists the
// known ones.
func ParseSource(name string) (Source, error) {
	if _, ok := Info(Source(name)); ok {
		return Source(name), nil
	}
	return "", fmt.Errorf("unknown source of interference %q; known: %s", name, names())
}

// KernelPeriod is the time of which a kernel runs the part of its intensity, then pauses, where it
// shares the CPUs of the workload.
const KernelPeriod = 10 * time.Millisecond

// LongestRun is what a co-runner runs at most before the scheduler lets another go first: next to
// one that never paused, and to those that ran for 3 to 10 ms at a time, the 99th percentile of a
// cache was 3 to 5 ms (decision 0049).
const LongestRun = 4 * time.Millisecond

// TimeShared reports whether CPU time is shared through a source: those private to a
// core, and the interconnect, which another on the core leaves alone meanwhile.
func TimeShared(s Source) bool {
	info, ok := Info(s)
	return ok && (info.Scope == ScopeCore || s == Interconnect)
}

// Info describes a source; ok is false for a name not in the list.
func Info(s Source) (info SourceInfo, ok bool) {
	for _, i := range sources {
		if i.Source == s {
			return i, true
		}
	}
	return SourceInfo{}, false
}

func names() string {
	out := ""
	for i, s := range sources {
		if i > 0 {
			out += ", "
		}
		out += string(s.Source)
	}
	return out
}
