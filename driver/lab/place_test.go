package lab

import (
	"errors"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		source          interference.Source
		domain          Domain
		target, allowed string
		want            string
		same            bool
		err             error
	}{
		{"core source on the target", interference.L1Data, DomainAuto, "0", "0-3", "0", true, nil},
		{"wide source beside it", interference.MemoryBandwidth, DomainAuto, "0", "0-3", "1-3", false, nil},
		{"never outside the driver's own CPUs", interference.MemoryBandwidth, DomainAuto, "0", "0-1", "1", false, nil},
		{"wide source, target everywhere: upper half", interference.LLCCapacity, DomainAuto, "0-3", "0-3", "2-3", true, nil},
		{"wide source, one CPU only", interference.LLCCapacity, DomainAuto, "0", "0", "0", true, nil},
		{"asked for same", interference.MemoryBandwidth, DomainSame, "0-1", "0-3", "0-1", true, nil},
		{"asked for beside", interference.Integer, DomainBeside, "0", "0-1", "1", false, nil},
		{"asked for beside, none there", interference.Integer, DomainBeside, "0-1", "0-1", "", false, ErrNoCPUBeside},
		{"target on foreign CPUs", interference.Integer, DomainAuto, "4-5", "0-1", "", false, ErrNoCPUSame},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target, err1 := cgroup.ParseCPUs(c.target)
			allowed, err2 := cgroup.ParseCPUs(c.allowed)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			got, err := Place(c.source, c.domain, target, allowed)
			if !errors.Is(err, c.err) || got.CPUs.String() != c.want || got.Same != c.same {
				t.Errorf("got %s same=%v, %v; want %s same=%v, %v", got.CPUs, got.Same, err, c.want, c.same, c.err)
			}
		})
	}
	if _, err := Place("nonsense", DomainAuto, nil, nil); err == nil {
		t.Error("an unknown source was placed")
	}
}

// Only a source private to a core takes the target's CPU time by force.
func TestWeight(t *testing.T) {
	t.Parallel()
	same, beside := Placement{Same: true}, Placement{}
	if w := same.Weight(interference.ScopeCore); w != cgroup.MaxWeight {
		t.Errorf("core source on the target's CPU: weight %d", w)
	}
	if w := same.Weight(interference.ScopeNode); w != cgroup.DefaultWeight {
		t.Errorf("wide source on the target's CPU: weight %d", w)
	}
	if w := beside.Weight(interference.ScopeCore); w != cgroup.DefaultWeight {
		t.Errorf("beside: weight %d", w)
	}
}
