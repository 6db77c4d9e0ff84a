// Package estimator plays the profiler of a simulated world: it makes the short
// noisy measurements that a new submission would get, and lets the classifiers
// of placer/classify fill in the rest.
//
// # Theory
//
// Per submission (Delimitrou 2015, §3.2.2 and §4.3.1): two runs on node
// configurations, of which one is always the best one (it is the reference of
// the row); two sources, each raised until the workload loses 5 %, which give a
// tolerated and a caused score each; with a size to choose, a second number of
// cores and a second number of nodes, and a look at the memory in use. Each matrix is completed by itself from the rows of
// some tens of applications that were measured in every cell, with the same
// noise.
//
// # Differences from the paper
//
// Scale-up is classified by cores alone: the memory a program uses is read in its
// run and rounded up to a block, where the text classifies cores by memory.
//
// The rows of earlier submissions do not join the matrices: the models are
// fitted once per run, so that what is known of a submission does not depend on
// the policy under test.
package estimator
