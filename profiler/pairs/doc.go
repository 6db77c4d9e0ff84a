// Package pairs measures what two workloads do to each other when they run
// together: the truth that a prediction from sensitivities is judged by.
//
// All workloads of a set are there at once and stand still, but for those being
// measured. A round has three windows: A alone, B alone, and both; the ratio of
// a side is its speed in the window together over that alone, within one round,
// so that a drift of the machine cancels. The six orders of three windows take
// turns, in an order drawn from the seed: over six rounds every window has every
// position equally often. A pair's ratio is the pseudomedian of its rounds with
// its distribution-free interval (Hodges and Lehmann 1963; profiler/stat).
//
// # Differences from the paper
//
// Delimitrou 2013, §4 and Mars 2011, §5 compare whole runs of co-located
// programs with whole runs alone, minutes apart. Windows of a fifth of a second,
// side by side, need workloads that count finely, and make 150 pairs a matter of
// half an hour.
package pairs
