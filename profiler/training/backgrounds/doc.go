// Package backgrounds holds real applications measured next to background
// workloads of three knobs, and next to each other: what TRACON's models learn
// from and are tested on (Chiang and Huang, SC 2011, §3.1).
//
// # Theory
//
// The slots of a machine share its CPU and its disk. An application is described
// by four characteristics, measured while it runs: read and write requests per
// second that reach the disk, its own CPU time (user) and the CPU time the host
// spends for it (kernel). A background workload has three threads of five
// intensities each, 0 to 100 %, one that does arithmetic, one that reads and one
// that writes: 125 of them.
//
// # Files
//
// One folder per environment. In local, eight programs that read and write more than
// they have memory share a rotating disk, in remote one of them has such a disk
// behind a network; both disks are emulated (decision 0068). In a folder
// <application>.csv has one row per background, idle.csv the backgrounds without an
// application, pairs.csv applications next to each other. Lines that begin with #
// say how it was measured.
//
//	make backgrounds                                            # what is missing; root, quiet machine, resumable
//	make backgrounds ONLY=nucleotide SWEEPS=2                   # the points of figure 7,
//	make backgrounds ONLY=nucleotide SWEEPS=2 ENVIRONMENT=remote # and those after the disk has changed
//
// # Differences from the paper
//
//   - A slot is a control group bound to one CPU that both slots share, not a
//     virtual machine: their table 1 (a CPU-bound program takes 1.96 times as long
//     next to another) says that both virtual machines took turns. It has a file
//     system and page cache of its own.
//   - An application is a loop; its runtime is the seconds one unit of work takes,
//     and a point is a window of some seconds of it, not a whole run: 1,000 whole
//     runs of which some take ten times as long would take days.
//   - The CPU time of the host is the kernel time of the slot's own processes,
//     where theirs is that of the driver domain.
package backgrounds
