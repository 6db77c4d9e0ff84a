// Package training is the training set that comes with the program: profiles of
// real applications, measured by the program's own kernels, from which the
// classifiers learn how sources and node configurations go together.
//
// A row is one file *.json in the folder rows, as store/FORMAT.md describes a
// profile. A row is taken only with its provenance: which machine, which
// application with which command, input and versions, when, complete, every
// score measured, and the speed at several sizes. An empty set is a valid one;
// then only the cluster's own profiles teach. Rows of programs that rest now and then,
// as services with little load do, are in the folder paced.
//
// Pairs are the measured slowdowns of two applications that run together: the
// truth a prediction is judged by. Repeats are second, independent measurements
// of some rows; Repeatability compares the two. FORMAT.md describes all three.
//
// # Differences from the paper
//
// Delimitrou 2015, §3.3.1 trains on 30 densely profiled applications chosen by
// hand. Ours are those that were measured, with their gaps: an unknown score
// stays a missing cell.
package training
