// Package worker is the workloads of the validation: small loops that live on
// one resource each, and count what they do. They are written apart from the
// kernels of driver/ibench, and share no code with them: they are the
// kernels' victims and yardsticks, so a mistake must not be in both.
//
// A worker runs in a process of its own (Start, Main): a program that calls
// Main when it is started with the arguments of Spec.Arguments. Process and
// parent share one page of memory: a command word that the parent writes
// (pause, run) and one counter per thread that the worker writes. So reading a
// worker takes nothing from it.
//
// Ops of a worker are comparable with itself only, unless its Kind says a unit.
//
// Sources: the loops are those of Delimitrou 2015, §5.3, seen from the other
// side; the probes are the prime-and-probe of Osvik et al. 2006, §3.3, with the
// difference that they time whole walks, not single lines.
package worker
