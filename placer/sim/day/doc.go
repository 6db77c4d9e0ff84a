// Package day asks what a day of production is worth: how much better a workload is placed
// after its and others' running allocations have taught, than by profiles alone.
//
// A small cluster of equal machines runs drawn applications (package truth) whose profiles
// have two measured scores of each kind; the rest is predicted, as in the product. Jobs come
// and go, each placed by what is known at that moment. Once an hour what each allocation
// achieved, with noise, is one experiment (package predict/production).
//
// The measure is regret: of decisions on a fixed set of states (an application that arrives,
// and nodes with what runs there), how much performance in isolation is lost, newcomer's and
// residents', beyond the best node in truth. The states are drawn by the seed, are never run,
// and teach nothing. They are the same for each hour, so that hour 0 is profiles alone.
//
// Trials take a cause away: no noise in what is achieved; what all applications cause is
// known; the truth has no residual of pairs, as the model of package predict assumes.
package day
