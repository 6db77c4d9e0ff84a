// Package performance is the vocabulary of what a workload must achieve and how
// that is measured: the target, the probe that reads it, and the options of the
// `performance` block of a job.
//
// The words follow Delimitrou 2015, §4.2 (Quasar's declarative interface): a
// service states queries per second at a tail latency, a batch job a finish
// time, a single-node job a rate. Where the paper profiles hardware counters
// (instructions per second), we read the workload's own count of work where it has
// one: virtual machines rarely expose counters, and instructions are not work.
//
// The package imports nothing but interference and the standard library.
package performance
