// Package ibench is a library of interference kernels: programs that press on
// one shared resource of a machine each, with a strength that can be changed
// while they run. It knows nothing of Nomad.
//
// # Use
//
// A program that calls KernelMain when its first argument is "kernel" can
// start kernels of its own:
//
//	p, err := ibench.Start(ctx, ibench.Spec{
//		Source: interference.MemoryBandwidth, CPUs: []int{1}, MaxDuration: time.Minute,
//		Socket: "/run/kernel.sock", DieWithParent: true,
//	})
//	err = p.Set(ctx, 40)         // percent
//	stats, err := p.Stats(ctx)   // what it did, and what it was asked for
//	err = p.Close()
//
// # Theory
//
// Delimitrou 2015, chapter 5 (and Delimitrou and Kozyrakis, iBench, IISWC
// 2013): a kernel at intensity x takes x percent of one resource and little of
// any other. Raising x until a workload loses 5 % gives the interference it
// tolerates; raising x until the kernel itself loses 5 % gives the one it
// causes. Footprint kernels occupy x % of a capacity, rate kernels do x % of
// the sustained peak per second, duty kernels are busy x % of the time.
// Calibration finds capacities and peaks of this machine and the transfer
// curve from knob to impact, whose inverse makes the impact linear (our §2.3).
//
// # How it is built
//
//   - machine.go, topology.go read the machine; the root of its trees is an argument.
//   - One file per kernel, ending in its Descriptor; kernels.go is the list.
//   - harness.go keeps the pace of a kernel's threads in windows of 2 ms with
//     absolute deadlines, sleeping in between; child.go is the kernel's process.
//   - process.go is the parent's side, control.go the protocol between both.
//   - calibrate.go, knee.go, curve.go measure; calibration.go is the file.
//
// A kernel ends by itself at its max duration; when its lease is not renewed,
// if it has one; and with its parent, if asked to: through a pipe that closes
// with the parent and the parent-death signal. Its scratch file has no name,
// so it cannot be left behind.
//
// # Differences from the paper
//
//   - Kernels hold a level until told otherwise; the 10 ms ramp is not built,
//     as a workload's performance cannot be measured in it.
//   - Without hardware counters the impact of a rate or duty kernel is the
//     share of its own measured peak, and that of a footprint kernel the share
//     of capacity walked times the share of refreshes that were in time. For
//     l1d beside the workload this is linear by construction.
//   - The capacity of a cache is the smaller of its reported size and its
//     measured knee: virtual machines overstate sizes. The knee is taken with
//     huge pages where the machine grants them. An exclusive last-level cache
//     is not told from an inclusive one.
//   - mem_bw and llc_bw read only; there is no variant with stores.
//   - l1d on the workload's own CPUs cannot hold the cache while the workload
//     runs. It walks its footprint once a millisecond instead, which costs the
//     workload little on most machines: without hardware threads nobody can
//     press harder on its L1 without taking its CPU time. The kernel's speed is
//     per busy time even there: per wall time a fixed beat shows no loss.
//   - int and fp on the workload's own CPUs take CPU time, which is what they
//     press with there.
//   - net_bw without a peer presses on the network stack, not on a link.
//   - Nine sources of the paper have no kernel in this release; they are
//     unsupported, which is not a score of 0.
package ibench
