// Package catalogue lists the applications of the training set: real programs
// of Debian packages on generated inputs, each as an endless workload whose work
// is counted finely ("workload loop").
//
// One file *.hcl is one combination of application and input. A unit of work is
// short (some milliseconds, or a number of bytes), so that windows of a fifth of
// a second are precise, while the working set is the real one.
//
// The attribute run is a shell script. It sees INPUT (the folder of generated
// inputs, never written to), CORES (CPUs it may use), MEMORY_MB (the size that
// is varied, where memory_sizes_mb lists some, and else memory_mb), KEYS_4K (how
// many values of 4 KiB fit into that) and APP_PORT (a free port), and
// starts in an empty folder of its own. The attribute loop holds the arguments
// of the loop, in which the same words are replaced.
//
// The folder colocated has eight more, like those of table 3 of Chiang and Huang 2011: programs
// that read and write more data than they have memory, which are measured next to each other on
// one disk. What they work on is made by a second script, data, in the folder they run in; the
// first sees no INPUT then.
package catalogue
