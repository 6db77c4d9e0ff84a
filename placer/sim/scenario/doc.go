// Package scenario reads scenario files (examples/sim/*.hcl) and runs them: a
// cluster, what is submitted to it, the policies to compare and the seeds. It is
// where the parts of the simulated world meet.
//
// A scenario is plain values: no variables, no functions. Every error names the
// file, the line and the column, and the nearest known name. The grammar is the
// structs of file.go.
//
// Runs are independent: one per policy, load and seed. Within one load and seed
// all policies get the same applications, submissions, profiles and lost nodes
// (common random numbers), so that differences between policies are those of
// the policies.
package scenario
