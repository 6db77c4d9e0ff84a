package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// nodeTemplate is the template of e2e/nomad/lightnodes.
type nodeTemplate struct {
	Count      int
	Name       string
	Datacenter string
	Class      string
	Pool       string
	Cores      int
	CoreMHz    int
	MemoryMB   int64
	DiskMB     int64
	Attributes map[string]string
	Drivers    []string
}

// nodeSpec is the spec of e2e/nomad/lightnodes.
type nodeSpec struct {
	Seed      uint64
	Templates []nodeTemplate
}

// hardware is the kinds of node of the simulated cluster, in the proportions of
// a cluster that grew over years (chosen by us).
var hardware = []struct {
	class    string
	share    float64 // of all nodes; the first kind takes what rounding leaves
	cores    int
	mhz      int
	memoryMB int64
	speed    float64 // of one allocation, relative
}{
	{"gen3", 0.35, 8, 2600, 32 << 10, 1.0},
	{"gen2", 0.25, 8, 2200, 16 << 10, 0.8},
	{"gen1", 0.15, 4, 2000, 8 << 10, 0.6},
	{"wide", 0.15, 32, 2400, 128 << 10, 0.95},
	{"fast", 0.10, 16, 3400, 64 << 10, 1.3},
}

func nodesOf(count int, seed uint64) nodeSpec {
	s := nodeSpec{Seed: seed}
	left := count
	for i := len(hardware) - 1; i >= 0; i-- {
		h := hardware[i]
		n := int(float64(count) * h.share)
		if i == 0 {
			n = left
		}
		left -= n
		if n == 0 {
			continue
		}
		s.Templates = append(s.Templates, nodeTemplate{
			Count: n, Name: h.class, Datacenter: "dc1", Class: h.class, Pool: "default",
			Cores: h.cores, CoreMHz: h.mhz, MemoryMB: h.memoryMB, DiskMB: 200 << 10,
			Attributes: attributesOf(h.class, h.cores, h.mhz), Drivers: []string{"exec", "raw_exec", "ibench"},
		})
	}
	return s
}

// attributesOf are about as many attributes as a real client with the ibench
// driver has; what the placer keeps of a node is mostly these.
func attributesOf(class string, cores, mhz int) map[string]string {
	a := map[string]string{
		"cpu.arch": "amd64", "cpu.modelname": "Processor of " + class, "cpu.numcores": fmt.Sprint(cores),
		"cpu.frequency": fmt.Sprint(mhz), "cpu.totalcompute": fmt.Sprint(cores * mhz), "cpu.usablecompute": fmt.Sprint(cores * mhz),
		"kernel.name": "linux", "kernel.arch": "x86_64", "kernel.version": "6.1.0-32-amd64", "kernel.landlock": "v2",
		"os.name": "debian", "os.version": "12", "os.cgroups.version": "2", "os.build": "",
		"nomad.version": "1.11.2", "nomad.revision": "f876384fe3ab", "nomad.service_discovery": "true",
		"driver.raw_exec.version": "1", "plugins.cni.version.bridge": "v1.5.1", "plugins.cni.version.loopback": "v1.5.1",
		"driver.ibench.version": "1.0.0", "driver.ibench.virtual": "false", "driver.ibench.cpus": fmt.Sprintf("0-%d", cores-1),
		"unique.storage.volume": "/dev/nvme0n1p2", "unique.consul.name": class, "unique.network.ip-address": "127.0.0.1",
	}
	for _, s := range interference.Sources() {
		a["driver.ibench.soi."+string(s.Source)] = "linear"
		a["driver.ibench.soi."+string(s.Source)+".peak"] = "12000000000 operations/s"
	}
	return a
}

func (s nodeSpec) write(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
