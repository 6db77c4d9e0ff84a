package validate

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The placements of a kernel relative to what it puts pressure on.
const (
	placementSame     = "same"    // on the same CPU: time-shared
	placementBeside   = "beside"  // on another core
	placementSibling  = "sibling" // on another hardware thread of the same core
	placementIsolated = "alone"   // nothing else runs
)

// layout says which CPUs the validation uses.
type layout struct {
	all    []int
	victim int   // the CPU of victims and observers
	beside []int // all others; empty on one CPU
	// sibling is another hardware thread of the victim's core, -1 if there is
	// none.
	sibling int
}

// newLayout takes the last CPU for the victim: the first ones get the
// machine's interrupts.
func newLayout(m ibench.Machine, allowed []int) layout {
	l := layout{all: allowed, victim: allowed[len(allowed)-1], sibling: -1}
	for _, cpu := range allowed {
		if cpu != l.victim {
			l.beside = append(l.beside, cpu)
		}
	}
	cpu, _ := m.CPU(l.victim)
	for _, s := range cpu.Siblings {
		if s != l.victim && slices.Contains(allowed, s) {
			l.sibling = s
		}
	}
	return l
}

// place is where a kernel runs.
type place struct {
	CPUs []int
	Same bool   // the CPUs are the workload's own
	Name string // one of the placements
	// Join puts the kernel's process into a cgroup before it begins; may be nil.
	Join func(pid int) error
}

// kernelPlace is where the kernel of a source runs to put pressure on a workload on the
// victim's CPU, as the driver places it: a source private to a core on that
// CPU, any other on the other CPUs.
func (l layout) kernelPlace(s interference.Source) place {
	info, _ := interference.Info(s)
	switch {
	case s == interference.Interconnect && len(l.beside) == 1:
		// Messages need two CPUs: one of them is the workload's.
		return place{CPUs: l.all, Same: true, Name: placementSame}
	case info.Scope == interference.ScopeCore || len(l.beside) == 0:
		return place{CPUs: []int{l.victim}, Same: true, Name: placementSame}
	}
	return place{CPUs: l.beside, Name: placementBeside}
}

// pair is where two kernels run of which one observes what the other costs it: the
// first exerts pressure, the second observes. Two sources private to a core are put onto hardware threads
// of one core where the machine has them.
func (l layout) pair(from, to interference.Source) (exerting, observing place) {
	observing = place{CPUs: []int{l.victim}}
	fromInfo, _ := interference.Info(from)
	toInfo, _ := interference.Info(to)
	core := fromInfo.Scope == interference.ScopeCore && toInfo.Scope == interference.ScopeCore
	switch {
	case needsTwo(from) || needsTwo(to):
		return l.widePair(from, to)
	case len(l.beside) == 0:
		exerting = place{CPUs: []int{l.victim}, Same: true, Name: placementSame}
		observing.Same = true
	case core && l.sibling >= 0:
		exerting = place{CPUs: []int{l.sibling}, Name: placementSibling}
	default:
		exerting = place{CPUs: l.coreBeside(), Name: placementBeside}
	}
	observing.Name = exerting.Name
	return exerting, observing
}

// needsTwo reports whether the kernel of a source cannot run on one CPU.
func needsTwo(s interference.Source) bool { return s == interference.Interconnect }

// widePair places a pair one of which needs two CPUs: side by side where there
// are three, else with one CPU in common.
func (l layout) widePair(from, to interference.Source) (exerting, observing place) {
	exerting = place{CPUs: l.coreBeside(), Name: placementBeside}
	observing = place{CPUs: []int{l.victim}, Name: placementBeside}
	if needsTwo(from) {
		exerting.CPUs = l.beside
	}
	if needsTwo(to) && len(l.beside) > 0 {
		observing.CPUs = []int{l.victim, l.beside[len(l.beside)-1]}
	}
	if needsTwo(from) && len(l.beside) < 2 {
		exerting = place{CPUs: l.all, Same: true, Name: placementSame}
	}
	if slices.ContainsFunc(exerting.CPUs, func(c int) bool { return slices.Contains(observing.CPUs, c) }) {
		exerting.Name, exerting.Same = placementSame, true
		observing.Name, observing.Same = placementSame, true
	}
	return exerting, observing
}

// coreBeside is one CPU on another core than the victim's, if there is one.
func (l layout) coreBeside() []int {
	for _, cpu := range l.beside {
		if cpu != l.sibling {
			return []int{cpu}
		}
	}
	return l.beside[:min(1, len(l.beside))]
}
