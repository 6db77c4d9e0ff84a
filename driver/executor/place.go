package executor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Domain says where kernels run relative to the target's CPUs.
type Domain string

// The domains. DomainAuto follows the source's scope.
const (
	DomainAuto    Domain = "auto"
	DomainSame    Domain = "same"    // on the target's CPUs
	DomainSibling Domain = "sibling" // on the other hardware threads of the target's cores
	DomainLLC     Domain = "llc"     // on other cores under the target's last-level cache
	DomainNode    Domain = "node"    // on other cores of the target's memory node
	DomainOther   Domain = "beside"  // on the machine's other CPUs
)

// placementAcross is the word of the profile record for a kernel that has one
// CPU of the target's and another one.
const placementAcross = "across"

// Domains lists the domains.
func Domains() []Domain {
	return []Domain{DomainAuto, DomainOther, DomainLLC, DomainNode, DomainSame, DomainSibling}
}

// Errors of a placement.
var (
	ErrNoCPU        = errors.New("every CPU that this driver may use is reserved for other allocations")
	ErrNoOtherCPU   = errors.New("this node has no other CPU that a kernel may use")
	ErrNoCPUSame    = errors.New("the target runs on no CPU that this driver may use")
	ErrNoSibling    = errors.New("not every core of the target has another hardware thread that a kernel may use")
	ErrNoCPUUnder   = errors.New("no other CPU that a kernel may use shares the target's last-level cache")
	ErrNoCPUOnNode  = errors.New("no other CPU that a kernel may use is on the target's memory node")
	ErrNoLink       = errors.New("the interconnect needs one CPU of the target and another one")
	ErrUnknownPlace = errors.New("unknown domain")
)

// Placement is where one kernel runs.
type Placement struct {
	CPUs cgroup.CPUs
	// Same says that the kernel shares CPUs of the target.
	Same bool
	name string // of the profile record where it is neither "same" nor "beside"
}

// Name is the word of the profile record: "same", "sibling", "across" or
// "beside".
func (p Placement) Name() string {
	switch {
	case p.name != "":
		return p.name
	case p.Same:
		return string(DomainSame)
	}
	return string(DomainOther)
}

// Weight is the CPU weight of a kernel there. With equal weights a kernel that
// time-shares a CPU gets at most half of it, so the scale of a source private
// to a core would end at 50 %. Wider sources keep the default: they are after
// the cache, the memory or a device, not after the target's CPU time.
func (p Placement) Weight(scope interference.Scope) int {
	if p.Same && scope == interference.ScopeCore {
		return cgroup.MaxWeight
	}
	return cgroup.DefaultWeight
}

// Place chooses the CPUs of a kernel on a machine: target are those of the
// target, allowed those this driver may use at all, without those reserved for
// others.
//
// A source private to a core is put under pressure from the other hardware threads of the
// target's cores where every one has a free one (Delimitrou 2015, §5.4), else on
// the target's own CPUs; a wider one from the other CPUs of its reach: under
// the same last-level cache, on the same memory node, anywhere. Where the target
// may run everywhere there are no others; then a wide source takes the upper
// half of its CPUs, so that the scheduler has somewhere to move the target to.
// The interconnect has two ends: one CPU of the target's and another one.
func Place(m ibench.Machine, source interference.Source, domain Domain, target, allowed cgroup.CPUs) (Placement, error) {
	info, ok := interference.Info(source)
	if !ok {
		return Placement{}, fmt.Errorf("unknown source %q", source)
	}
	if len(allowed) == 0 {
		return Placement{}, ErrNoCPU
	}
	s := surroundings{machine: m, target: target, same: target.And(allowed), others: allowed.Without(target)}
	if domain == DomainAuto || domain == "" {
		return s.auto(info)
	}
	return s.in(domain)
}

// surroundings are the CPUs a kernel may use around a target.
type surroundings struct {
	machine ibench.Machine
	target  cgroup.CPUs
	same    cgroup.CPUs // the target's
	others  cgroup.CPUs // all but the target's
}

// auto follows the scope of the source.
func (s surroundings) auto(info interference.SourceInfo) (Placement, error) {
	switch {
	case info.Source == interference.Interconnect:
		return s.across()
	case info.Scope == interference.ScopeCore:
		if p, err := s.in(DomainSibling); err == nil {
			return p, nil
		}
		return s.in(DomainSame)
	}
	if p, err := s.in(reach(info.Scope)); err == nil {
		return p, nil
	}
	p, err := s.in(DomainSame)
	p.CPUs = p.CPUs[len(p.CPUs)/2:] // of none: none
	return p, err
}

// reach is the domain of a wide scope.
func reach(scope interference.Scope) Domain {
	switch scope {
	case interference.ScopeLLC:
		return DomainLLC
	case interference.ScopeNode:
		return DomainNode
	default:
		return DomainOther
	}
}

// in places a kernel in a domain that was asked for.
func (s surroundings) in(domain Domain) (Placement, error) {
	out := Placement{}
	var err error
	switch domain {
	case DomainSame:
		out, err = Placement{CPUs: s.same, Same: true}, ErrNoCPUSame
	case DomainSibling:
		out, err = Placement{CPUs: s.siblings(), name: string(DomainSibling)}, ErrNoSibling
	case DomainLLC:
		out, err = Placement{CPUs: s.offCore(s.others.And(s.underLLC()))}, ErrNoCPUUnder
	case DomainNode:
		out, err = Placement{CPUs: s.offCore(s.others.And(s.onNode()))}, ErrNoCPUOnNode
	case DomainOther:
		out, err = Placement{CPUs: s.offCore(s.others)}, ErrNoOtherCPU
	default:
		return out, fmt.Errorf("%w %q", ErrUnknownPlace, domain)
	}
	if len(out.CPUs) == 0 {
		return Placement{}, err
	}
	return out, nil
}

// across joins one CPU of the target's with another one, near where possible.
func (s surroundings) across() (Placement, error) {
	for _, d := range []Domain{DomainLLC, DomainNode, DomainOther} {
		beside, err := s.in(d)
		if err == nil && len(s.same) > 0 {
			cpus := cgroup.CPUs{s.same[0], beside.CPUs[0]}
			slices.Sort(cpus)
			return Placement{CPUs: cpus, Same: true, name: placementAcross}, nil
		}
	}
	// A target that may run on all CPUs is on both ends.
	if len(s.same) > 1 {
		return Placement{CPUs: cgroup.CPUs{s.same[0], s.same[len(s.same)-1]}, Same: true, name: placementAcross}, nil
	}
	return Placement{}, ErrNoLink
}

// threadsOf are the hardware threads of a CPU's core, itself included.
func (s surroundings) threadsOf(cpu int) cgroup.CPUs {
	c, _ := s.machine.CPU(cpu)
	return c.Siblings
}

// siblings are the other hardware threads of the target's cores; none unless
// every core has one: pressure on some of the target's cores would look like
// weak pressure on all.
func (s surroundings) siblings() cgroup.CPUs {
	var out cgroup.CPUs
	for _, cpu := range s.target {
		free := s.others.And(s.threadsOf(cpu))
		if len(free) == 0 {
			return nil
		}
		out = append(out, free...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// offCore leaves out the hardware threads of the target's own cores, where they
// are not all there is: they would put pressure on the cores, too.
func (s surroundings) offCore(cpus cgroup.CPUs) cgroup.CPUs {
	var threads cgroup.CPUs
	for _, cpu := range s.target {
		threads = append(threads, s.threadsOf(cpu)...)
	}
	if far := cpus.Without(threads); len(far) > 0 {
		return far
	}
	return cpus
}

// underLLC are the CPUs below a last-level cache of the target's; all, where
// the machine reports none.
func (s surroundings) underLLC() cgroup.CPUs {
	llc, ok := s.machine.LLC()
	if !ok {
		return s.others
	}
	var out cgroup.CPUs
	for _, c := range s.machine.Caches {
		if c.Level == llc.Level && c.Type != ibench.CacheInstruction && len(s.target.And(c.SharedCPUs)) > 0 {
			out = append(out, c.SharedCPUs...)
		}
	}
	return out
}

// onNode are the CPUs of the target's memory nodes; all, where the machine
// reports none.
func (s surroundings) onNode() cgroup.CPUs {
	nodes := map[int]bool{}
	for _, c := range s.machine.CPUs {
		if slices.Contains(s.target, c.ID) {
			nodes[c.Node] = true
		}
	}
	var out cgroup.CPUs
	for _, c := range s.machine.CPUs {
		if nodes[c.Node] {
			out = append(out, c.ID)
		}
	}
	if len(out) == 0 {
		return s.others
	}
	return out
}
