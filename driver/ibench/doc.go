// Package ibench is a library of interference kernels: programs that put pressure on
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
//		Socket: "/run/kernel.sock",
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
//     absolute deadlines, sleeping in between; kernel_main.go is the kernel's process.
//   - footprint.go keeps a share of a capacity occupied, on other CPUs
//     than the workload's and on its own. native_*.s is what must be assembly; machine_code.go
//     writes instructions for the two kernels that are code.
//   - process.go is the parent's side, control.go the protocol between both.
//   - guard.go ends a kernel when memory runs short, or when its CPUs are taken
//     away. sink.go is the other end of net_bw.
//   - calibrate.go is the protocol of a calibration; knee.go, gauge.go,
//     sweep.go and curve.go measure; calibration.go is the file.
//   - tempo.go watches the clock of the cores, awake.go keeps CPUs from idling.
//
// A kernel ends by itself at its max duration, and with its parent: through a pipe
// that closes with the parent and the parent-death signal. Its scratch file has no
// name, so it cannot be left behind.
//
// # What calibration measures
//
// Without hardware counters the impact of a kernel is, by its kind:
//
//   - Rate and duty: the share of the peak reached, in operations per second. The
//     peak is measured on one CPU, two, four, … and all, as a kernel may run on
//     some of them; and again wherever a sweep meets another top. A duty kernel
//     counts in units of its own top speed in the same sweep, and of the clock of
//     the cores meanwhile, as that drifts.
//   - Caches and TLB: the share of probe sets of the same capacity that the
//     kernel displaces. A set is fetched, the kernel walks, and the set is
//     recalled in the opposite order; the time of the recall lies between that
//     after no pressure (0 %) and that after the kernel at its top (100 %). How
//     much of the whole capacity that top displaces is the calibration's reach.
//     Several sets at other addresses take turns. For the last-level cache the
//     caches below are filled with other lines before each recall: they would
//     serve a part of the set themselves, and lose it to any walk.
//     Where such a set does not notice the kernel at all, as on a machine whose
//     last-level cache others keep full, the share walked counts and a note
//     says so.
//   - Other footprints: the share of the capacity that is occupied as the
//     operating system tells it, else the share walked.
//
// Every level is measured in several passes, up and down, and again while it is
// doubtful and time is left; the median counts. A measurement during
// which the kernel waited for its CPU is made again. The impact at 0, 10, …,
// 100 % after calibration gives the largest gap and R² of the line impact =
// intensity.
//
// # On the workload's own CPUs
//
// Without hardware threads no process can put pressure on a core's private resources while
// the workload runs there; a kernel can only take turns with it.
//
//   - l1d, l1i, l2_cap and tlb exert pressure by replacing what the workload had there:
//     x % of the capacity, once per beat of 1 to 5 ms, in a burst that takes
//     the same 0.1 to 2 % of the CPU at every intensity. What the workload loses
//     is the time to fetch its lines again.
//   - Their own speed is that of the burst, timed without the waking up around
//     it. It falls in proportion to the share of the whole capacity that the
//     workload replaced of the kernel's lines since the last burst, compared
//     with what an idle CPU replaces. A workload that replaces everything many
//     times per beat costs the kernel 5 % of its speed at 5 to 20 % intensity
//     (caused 80 to 95; tried on one machine), one that leaves most of it none.
//   - int, fp, vector and prefetch take CPU time, which is their pressure
//     there.
//
// # Differences from the paper
//
//   - Kernels hold a level until another is set: a workload's performance cannot
//     be measured in a ramp of 10 ms. Process.Ramp runs the published ramp and
//     tells what the kernel did at each level.
//   - l1i rotates eight orders, as one alone would be served by the processor's
//     cache of decoded instructions and not by the L1.
//   - vector has no AVX-512: the paper's vectors have 256 bits.
//   - prefetch puts pressure on instruction prefetching; data is a variant of ours.
//   - The capacity of a cache is the smaller of its reported size and its
//     measured knee: virtual machines overstate sizes. The knee is taken with
//     huge pages where the machine grants them. Of a cache that others use at
//     the same time (the last level; the L2 of a core whose other thread may
//     belong to another virtual machine) it is the footprint half of which is
//     still served. Where the processor says that its last-level cache is not
//     inclusive, llc_cap fills the cache below too.
//   - mem_bw and llc_bw read. Variants of mem_bw write: through the caches, or
//     past them, which leaves the last-level cache alone. A variant other than
//     the first is not calibrated.
//   - mem_cap fills what is available without a reserve, not all memory, and no
//     faster than the machine hands out pages: gigabytes take seconds, and a
//     level counts once the report's held_bytes are its goal_bytes. It gives back
//     when memory gets short. Its goroutine takes and gives back, so that its
//     speed is that of touching pages alone.
//   - storage_cap spreads its reads over a file of its own, of 1 GiB unless it is given
//     another size, and keeps what it once wrote until it ends: filling the disk
//     anew at every level would put pressure on its bandwidth.
//   - l2_cap and l2_bw are unsupported where the L2 is the last level.
//   - interconnect needs two CPUs. Where the workload has one of only two, one
//     thread of the pair runs on it and takes CPU time as well: no line can
//     travel to a core that executes nothing. A message is a line that moves to
//     the receiver and back; its boxes are answered in batches, so that the
//     moves overlap. How fast two CPUs of a virtual machine pass lines changes
//     threefold with where its host runs them (tried on one machine): a peak
//     calibrated before such a move is a wrong one after.
//   - net_bw takes the round-trip time over a second connection next to the bulk,
//     as an echo in the stream itself would time the socket's own buffer.
//   - net_bw without a peer puts pressure on the network stack, not on a link.
package ibench
