// Package admission decides when a workload that has been profiled may be
// placed, and among which nodes: at once (none), first come first served (fifo),
// by class of quality (arq), or after an estimate of the wait (tarcil). One file
// per controller, one line in controllers.go. No controller ever rejects.
//
// ARQ (Delimitrou 2015, §6) in five lines, quality in percent:
//
//	an item needs Q = mean of its caused scores; a node offers Q = mean of what it
//	still tolerates; ten equal ranges of Q are ten queues (of items) and pools (of nodes)
//	the head of a queue takes a node of its pool on which it breaks no bound, and that
//	does not break its bound; else one of the next pool above whose queue is empty; an item
//	moves one queue down when max (S−s)·Q·Pr[free by s] is higher there (window 5 %)
//
// Tarcil (ibid., §7.3.4): an item of m units waits while fewer than 1.1·m suitable
// ones are free (counted per bucket of a hash of contention) and they are sure to
// come free (est) before UB = μ + 2σ of the time until then; at UB it takes what
// there is, or is bound to two busy units.
//
// HCloud (ibid., §8.4) asks package provision for each item whether it goes to owned nodes, to a
// rented one, or waits for the owned ones, and rents and returns nodes through Options.Rental.
//
//	d, err := admission.Lookup("arq")
//	c, err := d.New(board, admission.Options{}, random)
//	c.Arrive(now, item)
//	for a, ok := c.Next(now); ok; a, ok = c.Next(now) { … c.Placed or c.Refused }
//
// Every decision costs O(columns + classes), or buckets, whatever the number of
// nodes: pools, ages of busy nodes and buckets are kept up to date by the board's
// events. Only lists of items that wait for any room at all are walked.
//
// # Differences from the papers
//
//   - A node's quality is its headroom by default: the minimum of the residents'
//     tolerated scores forgets that co-runners use part of it up.
//   - A node whose configuration is so slow for an item that it would break its bound
//     by itself does not suit it. The text takes the best configuration of the
//     pool, whatever it is; that is configurations = "any".
//   - Bypassing upwards is transitive. With idle, equal nodes every node is in the
//     top pool, and easy items would starve if they could climb one pool only.
//   - The step from the distribution of busy periods to the chance of a free node
//     is not in the paper: given the ages a of the busy nodes, each ends within t
//     with 1 − S(a+t)/S(a), and position r of the queue needs r of them. A node is
//     busy for a class from leaving that level of quality until it is back, since
//     nodes are shared; a higher level serves too.
//   - The printed switching rule is solved at one of its ends. Asked anew as time
//     goes by (every 1/32 of the window), with chances given what has not come
//     free yet, it has a switching time and agrees with the print at time 0.
//   - The last chance, two scheduler periods before the end of the window, goes
//     over all pools: the nearest above first, then the nearest below, then any
//     room. What finds none is served first, by deadline.
//   - The window starts when an item is submitted; time in profiling and in the
//     queue of the laboratory is part of it. It is never below one period.
//   - Units suit a Tarcil item if the mean contention of their bucket does, and
//     their configuration is fast enough. "Probability that approximates 1" is
//     0.95: above 0.977 no item would ever wait for normal frees. Without nine frees
//     in the history nothing is said of the wait, and the item is placed at once.
//   - Items of HCloud share a whole rented machine by room, as owned ones, and take one first where
//     all tolerate each other; they share a slice only there (decision 0060). What the provider has no node for waits until one
//     is free.
//   - Hyperplanes go through the mean contention, which is learnt: buckets are
//     laid out anew when the number of changes has grown fourfold.
package admission
