// Package backgrounds holds real applications measured next to background
// workloads of three knobs, and next to each other: what TRACON's models learn
// from and are tested on (Chiang and Huang, SC 2011, §3.1).
//
// # Theory
//
// The slots of a machine share its CPU and its disk. An application is described
// by four characteristics, measured while it runs: read and write requests per
// second that reach the disk, its own CPU time (user) and the CPU time the host
// spends for it (kernel). A background workload is a CPU kernel, a reader and a
// writer of package ibench at five levels each, 0 to 100 %: 125 of them.
//
// # Files
//
// One folder per environment (disk: the machine's disk as it is; throttled: each
// slot behind a limit of requests). In it <application>.csv has one row per
// background, idle.csv the backgrounds without an application, pairs.csv
// applications next to each other. Lines that begin with # say how it was measured.
//
//	make backgrounds    # measures what is missing; root, quiet machine, resumable
//
// # Differences from the paper
//
//   - A slot is a control group bound to one CPU that both slots share, not a
//     virtual machine: their table 1 (a CPU-bound program takes 1.96 times as long
//     next to another) says that both virtual machines took turns.
//   - An application is a loop; its runtime is the seconds one unit of work takes,
//     and a point lasts half a second, not a whole run.
//   - The CPU time of the host is the kernel time of the slot's own processes,
//     where theirs is that of the driver domain.
package backgrounds
