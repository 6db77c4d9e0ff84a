// Package board is the state of a cluster as dense numbers: what a policy
// decides on when there are many decisions to make.
//
// A Board is changed by events (an allocation starts, ends, is resized; a node
// comes or goes), each in O(columns · residents of one node), and tells its
// listeners which node changed, so that an index (a heap of loads, the pools of
// ARQ, the buckets of Tarcil) is kept up to date instead of rebuilt. A
// cluster.Snapshot is turned into a board by FromSnapshot: the simulator and the
// live engine ask the same selectors.
//
// Per node and column k (Delimitrou 2015, §3.3.4):
//
//	tolerated[k] = min over residents of t   (empty: 100)
//	caused[k]    = sum over residents of c   (empty: 0)
//	headroom[k]  = max(0, min over residents r of (t_r − sum over q ≠ r of c_q))
//
// The paper's tolerated score leaves out that a resident's tolerance is in part used up by
// its co-runners; headroom does not (ibid., §6.2 in words).
package board
