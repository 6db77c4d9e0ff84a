// Package cluster runs a real Nomad cluster, one server and several clients, on
// the loopback interface of one Linux machine, and takes it away again without a
// trace. The end-to-end tests and the demo use it.
//
// Each agent lives in its own control group (cgroup), cgroup namespace and mount
// namespace, in which /sys/fs/cgroup shows only the agent's own subtree. So a
// client fingerprints, and its tasks run on, only the CPUs the client was given:
// one machine has nodes that share CPUs and nodes that do not.
// A client may also have a CPU quota, which emulates a slower machine. The quota
// covers the tasks only, never the agent, and its short period keeps the stalls
// it causes in the order of milliseconds.
//
// # Duties of the caller
//
//  1. Call [Reexec] first thing in main or TestMain. The package starts its own
//     executable again as the helper that enters the namespaces, and as the
//     janitor.
//  2. Call [Start], use the cluster, call [Cluster.Stop].
//
// # What is left behind
//
// Nothing. Stop ends every process by cgroup membership, so detached tasks go
// too, then removes the control groups and the run's folder; mounts vanish with
// their namespace. If the caller dies instead, the agents get a death signal and
// the janitor, a process that waits for the caller's end of a pipe to close, does
// the same. If even the janitor dies, [CleanDead] finds the run by its record.
//
// # What is emulated, and what is not
//
// CPU sets and quotas are real and enforced by the kernel. Node classes are
// names. Caches, memory bandwidth, disks and the network are those of the one
// machine and are shared by all clients, whatever their CPU sets.
package cluster
