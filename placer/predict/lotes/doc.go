// Package lotes plans which mix of job classes every machine should run in the
// long term, and says how far machines are from it (LoTES: Tran, Zhang, Down and
// Beck 2016). The policy and the admission controller of that name dispatch by it.
//
// Theory in six lines, for configurations j of n_j machines and classes k:
//
//	stage 1: pool every configuration into one machine, and maximise the arrivals λ
//	  that can be served: who runs where (Allocate)
//	bins: what one machine can hold of those classes, whole jobs, nothing can be added
//	stage 2: how many machines emulate each bin, again for the greatest λ (Assign)
//	round to whole machines (Round); deal the bins to machines (Mix)
//	arrival: a configuration by roulette, in it the machine that lacks most of the class
//
//	plan, err := lotes.Make(program, lotes.Near)
//	m := lotes.On(board); m.Ready(ask); node, _ := m.Choose(ask, nil, false, random)
//
// Rooms is the index: a choice among 12,583 machines costs microseconds. History
// learns classes from the jobs of a sliding day (k-means of sizes) and their rates
// from those that ended. Without a history (a live decision sees one snapshot) classes
// are read off what runs now.
//
// # Differences from the paper
//
//   - The allocation program has one variable for each pairing of class and
//     configuration; the one as printed has the same optimum, which a test says.
//   - Algorithm 1, as printed, also emits dominated bins; Bins emits the others only,
//     and from 20,000 of a configuration on they are generated as they are wanted.
//   - Bins may also hold classes that stage 1 could use at no loss (Near): where rates
//     do not depend on the machine its vertex is arbitrary, and Support, the printed
//     choice, loses up to a percent of λ.
//   - Arrivals are split by the flow through a configuration; by the stock of jobs in
//     place, as printed, where asked for. They agree where rates are alike.
//   - Of equal scores, a machine whose bin has the class goes before one whose has not.
//   - A new plan leaves as many machines of a kind on their bin as it can.
//   - Machines that differ by less than 5 % in cpu and memory count as one
//     configuration, with the resources of the smallest of them.
package lotes
