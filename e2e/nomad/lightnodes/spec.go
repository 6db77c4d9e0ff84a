package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/hashicorp/nomad/client/lib/idset"
	"github.com/hashicorp/nomad/client/lib/numalib"
	"github.com/hashicorp/nomad/client/lib/numalib/hw"
	"github.com/hashicorp/nomad/nomad/structs"
)

// template describes nodes that differ only in name and ID.
type template struct {
	Count      int
	Name       string // prefix; the node's number follows
	Datacenter string
	Class      string
	Pool       string
	Cores      int
	CoreMHz    int
	MemoryMB   int64
	DiskMB     int64
	Attributes map[string]string
	Meta       map[string]string
	Drivers    []string // detected and healthy
}

// spec is what the -spec file holds.
type spec struct {
	Seed      uint64 // of the IDs: the same spec makes the same nodes
	Templates []template
	// BatchRunFor is how long allocations of batch jobs run before they are
	// complete; those of services run until they are stopped.
	BatchRunForMilliseconds int
}

func readSpec(path string) (spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return spec{}, err
	}
	var s spec
	if err := json.Unmarshal(text, &s); err != nil {
		return spec{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(s.Templates) == 0 {
		return spec{}, fmt.Errorf("%s: no templates", path)
	}
	return s, nil
}

func (s spec) batchRunFor() time.Duration {
	return time.Duration(s.BatchRunForMilliseconds) * time.Millisecond
}

// nodes makes the nodes of all templates.
func (s spec) nodes() ([]*structs.Node, error) {
	random := rand.New(rand.NewPCG(s.Seed, 0))
	var out []*structs.Node
	for _, t := range s.Templates {
		for range t.Count {
			n, err := t.node(len(out), random)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	return out, nil
}

func (t template) node(number int, random *rand.Rand) (*structs.Node, error) {
	name := fmt.Sprintf("%s-%05d", t.Name, number)
	n := &structs.Node{
		ID: uuidOf(random), SecretID: uuidOf(random),
		Name: name, Datacenter: t.Datacenter, NodeClass: t.Class, NodePool: t.Pool,
		Status: structs.NodeStatusInit, SchedulingEligibility: structs.NodeSchedulingEligible,
		Attributes: map[string]string{}, Meta: map[string]string{}, Drivers: map[string]*structs.DriverInfo{},
		NodeResources: &structs.NodeResources{
			Processors: structs.NodeProcessorResources{Topology: topology(t.Cores, t.CoreMHz)},
			Memory:     structs.NodeMemoryResources{MemoryMB: t.MemoryMB},
			Disk:       structs.NodeDiskResources{DiskMB: t.DiskMB},
			// Without a host network no job at all is feasible, whatever it asks for.
			Networks: structs.Networks{{Mode: "host", Device: "eth0", CIDR: "127.0.0.1/32", IP: "127.0.0.1", MBits: 1000}},
			NodeNetworks: []*structs.NodeNetworkResource{{
				Mode: "host", Device: "eth0", Speed: 1000,
				Addresses: []structs.NodeNetworkAddress{{Alias: "default", Address: "127.0.0.1", Family: structs.NodeNetworkAF_IPv4}},
			}},
			MinDynamicPort: 20000, MaxDynamicPort: 32000,
		},
		ReservedResources: &structs.NodeReservedResources{},
		Links:             map[string]string{},
		HTTPAddr:          "127.0.0.1:0", // no process listens there
	}
	n.NodeResources.Compatibility()
	for k, v := range t.Attributes {
		n.Attributes[k] = v
	}
	n.Attributes["unique.hostname"] = name
	for k, v := range t.Meta {
		n.Meta[k] = v
	}
	for _, d := range t.Drivers {
		n.Attributes["driver."+d] = "1"
		n.Drivers[d] = &structs.DriverInfo{Detected: true, Healthy: true, HealthDescription: "Healthy", UpdateTime: time.Now()}
	}
	if err := n.ComputeClass(); err != nil {
		return nil, fmt.Errorf("node %s: %w", name, err)
	}
	return n, nil
}

func topology(cores, mhz int) *numalib.Topology {
	t := &numalib.Topology{Distances: numalib.SLIT{[]numalib.Cost{10}}}
	for i := range cores {
		t.Cores = append(t.Cores, numalib.Core{ID: hw.CoreID(i), Grade: numalib.Performance, BaseSpeed: hw.MHz(mhz)})
	}
	t.SetNodes(idset.From[hw.NodeID]([]hw.NodeID{0}))
	return t
}

// uuidOf is a random UUID in Nomad's form.
func uuidOf(random *rand.Rand) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], random.Uint64())
	binary.BigEndian.PutUint64(b[8:], random.Uint64())
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
