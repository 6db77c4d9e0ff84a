// Package storage is the vocabulary of the storage workload model: one I/O, and the
// streams that I/Os come in. Its rooms are
//
//	trace     readers of block traces, a file per format
//	model     the state diagram of a trace, fitted in one stream, and its file (FORMAT.md)
//	generate  I/Os drawn from a model, its baselines, and files for fio
//	compare   how alike two streams of I/Os are
//
// # Theory
//
// The address range is divided into 4 equal ranges, each of those into 4 again, and so on:
// 4^l states at level l. Two successive I/Os of a thread are a transition between two
// states, with the size, the direction and the sequentiality of the second and the time
// between them. Transitions are kept finely among four siblings, and coarsely, between
// the ancestors where the two paths part, across them: 20·4^(l-1)-4 pairs of states
// instead of 16^l. Only the rate changes over a day, so one table of transitions has a
// rate for every 30 minutes. Threads are modelled by type. The walk over the diagram is a
// synthetic trace with the locality, the mix and the intensity of the original.
//
// Source: Delimitrou 2015, appendix A (the idea of one level is of Sankar and others).
//
// # Differences from the text
//
// How the walk leaves and enters a group of states is not in the text. Here a state keeps
// how many of its I/Os part at each level, and a coarse state into which of its smallest
// states it is entered; with both, every state is visited as often as in the trace
// (package model). The thread's last I/O is followed by its first one, so that no state
// is a dead end. Weights are held by drawing without replacement and by correcting the
// gaps to what is left of an interval, instead of by the idle time of generator threads.
// A near-sequential I/O, at most 64 KiB ahead, is a kind of its own. What the text leaves
// open (cut-offs of thread types, families of gaps, sequential) is said where it is set.
package storage
