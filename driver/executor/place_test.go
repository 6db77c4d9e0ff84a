package executor

import (
	"errors"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// flat is a machine without topology, as many virtual machines are.
var flat = ibench.Machine{}

// server has two memory nodes of two last-level caches each; below each cache
// are two cores of two hardware threads. Core k has the threads k and k+8.
var server = func() ibench.Machine {
	var m ibench.Machine
	for cpu := range 16 {
		core := cpu % 8
		m.CPUs = append(m.CPUs, ibench.CPU{ID: cpu, Core: core, Node: core / 4, Siblings: []int{core, core + 8}})
	}
	for cache := range 4 {
		a, b := 2*cache, 2*cache+1
		m.Caches = append(m.Caches, ibench.Cache{Level: 3, Type: ibench.CacheUnified, SizeBytes: 1 << 20, SharedCPUs: []int{a, b, a + 8, b + 8}})
	}
	return m
}()

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		machine         ibench.Machine
		source          interference.Source
		domain          Domain
		target, allowed string
		want            string
		placement       string
		err             error
	}{
		{"core source on the target", flat, interference.L1Data, DomainAuto, "0", "0-3", "0", "same", nil},
		{"wide source beside it", flat, interference.MemoryBandwidth, DomainAuto, "0", "0-3", "1-3", "beside", nil},
		{"never outside the driver's own CPUs", flat, interference.MemoryBandwidth, DomainAuto, "0", "0-1", "1", "beside", nil},
		{"wide source, target everywhere: upper half", flat, interference.LLCCapacity, DomainAuto, "0-3", "0-3", "2-3", "same", nil},
		{"wide source, one CPU only", flat, interference.LLCCapacity, DomainAuto, "0", "0", "0", "same", nil},
		{"asked for same", flat, interference.MemoryBandwidth, DomainSame, "0-1", "0-3", "0-1", "same", nil},
		{"asked for beside", flat, interference.Integer, DomainOther, "0", "0-1", "1", "beside", nil},
		{"asked for beside, none there", flat, interference.Integer, DomainOther, "0-1", "0-1", "", "", ErrNoOtherCPU},
		{"target on foreign CPUs", flat, interference.Integer, DomainAuto, "4-5", "0-1", "", "", ErrNoCPUSame},
		{"wide source, target on foreign CPUs", flat, interference.StorageBandwidth, DomainAuto, "4-5", "0-1", "0-1", "beside", nil},
		{"everything reserved for others", flat, interference.Integer, DomainAuto, "0", "", "", "", ErrNoCPU},
		{"asked for siblings, none there", flat, interference.Integer, DomainSibling, "0", "0-1", "", "", ErrNoSibling},

		{"core source on the sibling threads", server, interference.L1Data, DomainAuto, "0-1", "0-15", "8-9", "sibling", nil},
		{"a sibling thread belongs to another: same", server, interference.L1Data, DomainAuto, "0-1", "0-8,10-15", "0-1", "same", nil},
		{"the target has whole cores: same", server, interference.TLB, DomainAuto, "0,8", "0-15", "0,8", "same", nil},
		{"asked for same in spite of siblings", server, interference.TLB, DomainSame, "0", "0-15", "0", "same", nil},
		{"cache source under the same cache, off the core", server, interference.LLCCapacity, DomainAuto, "0", "0-15", "1,9", "beside", nil},
		{"only the sibling is left under the cache", server, interference.LLCBandwidth, DomainAuto, "0", "0,2-8,10-15", "8", "beside", nil},
		{"no CPU left under the cache: the target's", server, interference.LLCBandwidth, DomainAuto, "0-1", "0-7", "1", "same", nil},
		{"asked for the cache, none left", server, interference.LLCBandwidth, DomainLLC, "0-1,8-9", "0-15", "", "", ErrNoCPUUnder},
		{"memory source on the same node", server, interference.MemoryBandwidth, DomainAuto, "0", "0-15", "1-3,9-11", "beside", nil},
		{"asked for the node, none left", server, interference.MemoryBandwidth, DomainNode, "0-3,8-11", "0-15", "", "", ErrNoCPUOnNode},
		{"disk source anywhere", server, interference.StorageBandwidth, DomainAuto, "0", "0-15", "1-7,9-15", "beside", nil},

		{"interconnect: one end each", flat, interference.Interconnect, DomainAuto, "0", "0-1", "0-1", "across", nil},
		{"interconnect under the same cache", server, interference.Interconnect, DomainAuto, "4", "0-15", "4-5", "across", nil},
		{"interconnect, target everywhere", flat, interference.Interconnect, DomainAuto, "0-3", "0-3", "0,3", "across", nil},
		{"interconnect, one CPU", flat, interference.Interconnect, DomainAuto, "0", "0", "", "", ErrNoLink},
		{"interconnect, asked for beside", server, interference.Interconnect, DomainLLC, "0", "0-15", "1,9", "beside", nil},
		{"an unknown domain", flat, interference.Integer, "near", "0", "0", "", "", ErrUnknownPlace},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target, err1 := cgroup.ParseCPUs(c.target)
			allowed, err2 := cgroup.ParseCPUs(c.allowed)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			got, err := Place(c.machine, c.source, c.domain, target, allowed)
			if !errors.Is(err, c.err) || got.CPUs.String() != c.want {
				t.Fatalf("got %s, %v; want %s, %v", got.CPUs, err, c.want, c.err)
			}
			if err == nil && got.Name() != c.placement {
				t.Errorf("got %s, want %s", got.Name(), c.placement)
			}
			if same := len(got.CPUs.And(target)) > 0; got.Same != same {
				t.Errorf("same = %v, want %v", got.Same, same)
			}
		})
	}
	if _, err := Place(flat, "nonsense", DomainAuto, nil, nil); err == nil {
		t.Error("an unknown source was placed")
	}
}

// Every source has a place on every machine with two CPUs.
func TestPlaceEverySource(t *testing.T) {
	t.Parallel()
	for _, m := range []ibench.Machine{flat, server} {
		for _, info := range interference.Sources() {
			if _, err := Place(m, info.Source, DomainAuto, cgroup.CPUs{0}, cgroup.CPUs{0, 1}); err != nil {
				t.Errorf("%s: %v", info.Source, err)
			}
		}
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
