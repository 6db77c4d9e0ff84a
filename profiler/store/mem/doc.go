// Package mem is a store in memory, for tests and dry runs. Everything is lost
// when the process ends; otherwise it behaves as the other stores do.
//
// # Differences from the paper
//
// No paper describes it: the papers keep scores with the scheduler and leave
// persistence open (Delimitrou 2015, §3.5).
package mem
