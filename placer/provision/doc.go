// Package provision decides for each job whether it goes to nodes that are there anyhow or to
// nodes that are rented by the hour, and how long those are kept (HCloud; Delimitrou 2015,
// chapter 8).
//
// Theory in five lines (§8.3.3, §8.4.1, §8.4.2):
//
//	a job demands c_i of each resource, 0..99, and tolerates 99 − c_i; sorted and written as one
//	number that is its target quality Q_T; what presses on a node, likewise, is 1 − U
//	a node suffices where U > Q_T; a type of node does where 90 % of those seen did
//	the base takes jobs up to a soft limit of its use, above it those whom no type suffices,
//	and above a hard limit these wait; a rented node is kept for ten times its spin-up
//
// Everything here is pure: time and chance are arguments, and simulator and agent call the
// same functions.
//
// # Differences from the text
//
//   - Qualities are compared digit by digit: 10^20 is more than a float64 tells apart.
//   - "The 90th percentile of quality" would be reached by one node in ten. It is read as what 90 %
//     of the nodes reach (Reading); the literal one can be chosen.
//   - The quality of a node is not defined in the chapter; it is that of Tarcil (eq. 7.3, 7.4).
//   - A scalar forgets which resource is worst. Vector compares each.
//   - Which idle node a job reuses is not said: one of its type, else the smallest that is there.
//   - The thresholds of P3 and P4, the hard limit and the gains of the soft limit are lost with the
//     figures; ours are Defaults.
package provision
