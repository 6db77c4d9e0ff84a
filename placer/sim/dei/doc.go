// Package dei finds the desired error interval of every score: how wrong it may be
// before the scheduler that uses it loses its applications their quality of service.
//
// # Theory
//
// LSH paper, §II.B. f(0) is the share of applications that keep 95 % when the
// scheduler (Paragon) sees exact scores; f(e) the share when one score of every
// application is wrong by e, clamped to its scale, everything else equal.
//
//	DEI = (−Y, X): the largest interval around 0 in which f(0) − f(e) < 5 points
//	width of a source = the lesser X + Y of its two scores
//	S, the sources worth measuring exactly: those of least width
//
// A prediction is correct if it lies inside its interval; how many are is what is
// to be maximised, not how near they come.
//
// # Differences from the paper
//
//   - Errors are points of the scale: a share of the true score means nothing near 0.
//   - The grid is walked from 0 outwards, ±20 points always, in steps of 10 points
//     that are then halved twice around the bound, instead of 2.5 points throughout:
//     a quarter of the runs. A loss that comes and goes again between two steps is
//     not seen.
//   - f is a mean over seeds, each with other applications; the same is done within
//     every seed for the interval of a width.
package dei
