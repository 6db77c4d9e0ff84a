// Package training is the training set that comes with the program: profiles of
// real applications, measured by the program's own kernels, from which the
// classifiers learn how sources and node configurations go together.
//
// A row is one file *.json in the folder rows, as store/FORMAT.md describes a
// profile. A row is taken only with its provenance: which machine, which
// application, when, complete, and every score measured. An empty set is a
// valid one; then only the cluster's own profiles teach.
//
// # Differences from the paper
//
// Delimitrou 2015, §3.3.1 trains on 30 densely profiled applications chosen by
// hand. Ours are those that were measured, with their gaps: an unknown score
// stays a missing cell.
package training
