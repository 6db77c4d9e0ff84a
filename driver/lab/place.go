package lab

import (
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Domain says where kernels run relative to the target's CPUs.
type Domain string

// The domains. DomainAuto follows the source's scope.
const (
	DomainAuto   Domain = "auto"
	DomainSame   Domain = "same"   // on the target's CPUs
	DomainBeside Domain = "beside" // on the node's other CPUs
)

// Domains lists the domains.
func Domains() []Domain { return []Domain{DomainAuto, DomainBeside, DomainSame} }

// Errors of a placement.
var (
	ErrNoCPUBeside = errors.New("this node has no other CPU that a kernel may use")
	ErrNoCPUSame   = errors.New("the target runs on no CPU that this driver may use")
)

// Placement is where one kernel runs.
type Placement struct {
	CPUs cgroup.CPUs
	// Same says that the kernel shares the target's CPUs.
	Same bool
}

// Name is the word of the profile record.
func (p Placement) Name() string {
	if p.Same {
		return string(DomainSame)
	}
	return string(DomainBeside)
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

// Place chooses the CPUs of a kernel: target are those of the target, allowed
// those this driver may use at all, without those reserved for others.
//
// A source private to a core presses on the target's own CPUs, a wider one
// from the others. Where the target may run everywhere there are no others;
// then a wide source takes the upper half of its CPUs, so that the scheduler
// has somewhere to move the target to.
func Place(source interference.Source, domain Domain, target, allowed cgroup.CPUs) (Placement, error) {
	info, ok := interference.Info(source)
	if !ok {
		return Placement{}, fmt.Errorf("unknown source %q", source)
	}
	same := target.And(allowed)
	beside := allowed.Without(target)
	wide := info.Scope != interference.ScopeCore
	switch {
	case domain == DomainBeside && len(beside) == 0:
		return Placement{}, ErrNoCPUBeside
	case domain == DomainBeside, domain == DomainAuto && wide && len(beside) > 0:
		return Placement{CPUs: beside}, nil
	case len(same) == 0:
		return Placement{}, ErrNoCPUSame
	case domain == DomainAuto && wide:
		return Placement{CPUs: same[len(same)/2:], Same: true}, nil
	}
	return Placement{CPUs: same, Same: true}, nil
}
