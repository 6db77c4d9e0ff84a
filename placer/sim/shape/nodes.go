package shape

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// ClusterOptions fill in what a shape does not know when it becomes nodes.
type ClusterOptions struct {
	SpeedGHz   float64 // 0: 2.0, a choice
	DiskBytes  float64 // 0: 100 GB, a choice
	Datacenter string  // empty: dc1
	Pool       string  // empty: default
}

const (
	defaultSpeedGHz  = 2.0
	defaultDiskBytes = 100 * gb
)

// ClusterNodes are the nodes of a shape in the words of Nomad, ready and with
// kernels, named <configuration number>-<number>. Memory of unknown size is an
// error: every placement would be wrong.
func (c Cluster) ClusterNodes(o ClusterOptions) ([]*cluster.Node, error) {
	if o.SpeedGHz == 0 {
		o.SpeedGHz = defaultSpeedGHz
	}
	if o.DiskBytes == 0 {
		o.DiskBytes = defaultDiskBytes
	}
	if o.Datacenter == "" {
		o.Datacenter = "dc1"
	}
	if o.Pool == "" {
		o.Pool = "default"
	}
	var out []*cluster.Node
	for g, n := range c.Nodes {
		if !n.Cores.Known() || !n.MemoryBytes.Known() {
			return nil, fmt.Errorf("%w: %s: %s has unknown cores or memory", ErrShape, c.Name, n.Configuration)
		}
		mhz := int(math.Round(n.SpeedGHz.Or(o.SpeedGHz) * 1000))
		cores := max(1, int(n.Cores.Value)) // a share of a core counts as one
		for i := range int(n.Count.Value) {
			name := fmt.Sprintf("%03d-%05d", g+1, i+1)
			out = append(out, &cluster.Node{
				ID: cluster.NodeID(name), Name: name, Datacenter: o.Datacenter, Pool: o.Pool,
				Class: n.Configuration, Configuration: n.Configuration, CoreMHz: mhz, Ready: true, Kernels: true,
				Total: cluster.Resources{
					CPUMHz: cores * mhz, Cores: cores, MemoryMB: int(n.MemoryBytes.Value / mib), DiskMB: int(n.DiskBytes.Or(o.DiskBytes) / mib),
				},
			})
		}
	}
	return out, nil
}
