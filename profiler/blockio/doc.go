// Package blockio is where storage models meet disks: it plays load on a scratch
// file (Scratch.Play, Twin), and captures what a device is asked for (Capture). Models, generators and
// traces are in profiler/workload/storage, which knows neither processes nor clocks.
//
// Nothing is left behind. A scratch file is made in a folder and removed; a device or a
// file that is there is never written to. Captures have a trace instance of their own in
// the kernel, on a mount that no other process sees.
//
// Source: Delimitrou 2015, §A.3.4 (replay), §A.4.1 (capture at the block layer), §B.4.1
// (the sweep of intensities).
//
// # Differences from the text
//
// The text replays by a generator of its own, an extension of DiskSpd, with a thread for every
// transition. Here the walk's I/Os are played one by one at their times by asynchronous I/O of one
// thread, so that every weight is that of the walk and order is kept. fio plays a log of the same
// I/Os, too (package generate writes it), but its clock of a log drifts (0067).
package blockio
