// Package executor is the child process behind one ibench task: it finds the target
// on this node, starts interference kernels on the right CPUs, and either
// holds them at the wanted intensity (kernel mode) or runs the profiling
// protocol (profile mode). In transfer mode it starts none: it adds what its task
// holds to what another task may take, until it ends (decision 0016).
//
// The driver plugin starts one child per task and speaks to it over a unix
// socket (see Request), so that a task survives a restart of the plugin. The
// kernels are children of the child and die with it. The child ends by itself
// when its time is up, when the allocation's directory is gone, or when the
// operator's kill switch appears: no kernel survives its allocation.
//
// Measuring runs where the workload runs (Delimitrou 2015, §3.2.3: a sandboxed
// copy next to tunable kernels), so no reading crosses the network.
//
// # Differences from the paper
//
// The paper places kernels by hand on sibling hardware threads of a bare
// machine. Here the target may be under any Nomad task driver: its processes
// are recognised by the environment, control group or directory Nomad gives
// every task; a source private to a core runs on the target's own CPUs with a
// high CPU weight, a wider one on the node's other CPUs, or, where there are
// none, on the target's as well.
package executor
