// Package cgroup makes, fills, freezes and removes control groups on a machine
// with cgroup v1 (also hybrid) or v2.
//
// A Tree is the machine's hierarchy as this process sees it: where each
// controller is mounted, read from mountinfo. Everything is created right
// below the mount points, so inside a cgroup namespace (one Nomad client per
// namespace, as a development cluster runs them) a group never leaves the
// node's own share; where the tasks of Nomad have a CPU quota, groups are
// created below Nomad's own group, inside that quota.
//
// A Group is one control group with the controllers the driver needs: cpuset,
// cpu, cpuacct, memory and freezer. On v1 that is one directory per
// controller, on v2 one directory.
//
// Every path is injected: tests run on fake trees in a temporary directory.
package cgroup
