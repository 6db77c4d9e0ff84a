// Package driver is the Nomad task driver "ibench": interference kernels with
// an intensity that can be changed while they run, and profiling runs.
//
//	about.go        identity, configuration schemas, capabilities
//	config.go       decoding and checking of both configurations
//	driver.go       the task's life: start, wait, stop, destroy, recover
//	handle.go       one running task
//	transfer.go     a task that transfers what it holds to another one
//	state.go        what is kept to find a task again
//	fingerprint.go  what the node can do, as node attributes
//	stats.go        CPU and memory use
//	events.go       driver events in the task's event list
//	command.go      signals and virtual commands (nomad alloc exec)
//	serve.go        the plugin server
//
// The work itself is done by one child process per task, package executor, so that
// tasks survive a restart of the agent and of this plugin.
//
// The theory is that of iBench (Delimitrou 2015, chapter 5): a source of
// interference is one shared resource, a kernel puts pressure on it by 0 to 100
// percent, and a workload's sensitivity is the pressure it tolerates.
//
// # Differences from the paper
//
// The paper's kernels ramp by themselves in 10 ms. Here the intensity is a
// live setting: by signal, by virtual command, by a ramp in the job, or by the
// profiling protocol. It never goes through a changed job: Nomad restarts a
// task whose configuration changes.
//
// Nomad's own helper for drivers links packages under a licence this project
// does not use, so the plugin speaks the gRPC protocol itself, through the
// generated protocol packages only.
package driver
