// Command target is a target plugin of hashicorp/nomad-autoscaler for tests: instead of machines
// of a provider it starts real Nomad clients, which join the run of e2e/cluster whose folder is
// `dir`. It is built as bin/provision-target.
//
// It keeps nothing in memory: what there is, is what is found in the run's folder and among the
// processes. So it may be killed at any time, and the next one goes on with the nodes of the one
// before. A node outlives the plugin, and goes with the run at the latest.
//
// Settings, of the plugin or of the target in a policy:
//
//	dir              folder of the run
//	node_class       class of the nodes; those of other classes are not touched
//	http_port_base   the nodes' ports begin here, ten for each
//	max              more nodes than these are refused, as beyond a provider's quota; default 3
//	nomad_binary     default: that of the run
//	nomad_token      a management token, where the run has access control
//	spin_up          time before a node's client starts; default none
//	drain_deadline   of the jobs of a node that ends; default 10s
//	memory_mb, hcl_file, cpus    of the nodes: see config.go
//
// A scaling action whose meta has nomad_placer_nodes, Nomad IDs with commas between them, ends
// these and no others; otherwise nodes without jobs are ended, as stock targets with the node
// selector empty_ignore_system do.
package main

import (
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler"
)

// name of the plugin and of its program.
const name = "provision-target"

func main() {
	cluster.Reexec()
	log := autoscaler.Logger(name)
	p := &target{log: log}
	autoscaler.ServeTarget(log, p, p)
}
