// Package tracker keeps account of nodes that are rented: which there are and which are on their
// way, what each is kept for, how many of each type there should be, and what they cost. It decides
// for each job by provision.Provisioner, as the simulated world does.
//
// It is a state machine without a world: it is told what there is (Observe), asked where a job goes
// (Route), and says how many nodes are wanted (Wanted) and which are to leave (Leaving). Who orders
// and returns nodes, an autoscaler or the agent itself, is not its matter.
//
//	ordered ─▶ starting ─▶ probing ─▶ serving ⇄ idle ─▶ leaving ─▶ gone
//	              │ too late, or refused: the order is void, its jobs go to the base's queue,
//	              └ and the type is not ordered again for a while that doubles each time
//
// # What holds at every moment
//
//   - What it has ordered, what is there and what the provider says that there is costs no more per
//     hour than MaxPerHour, unless others have rented nodes of these types.
//   - No time but its caller's is used: when a node started by the clock of somebody else counts
//     for nothing.
//   - A job that waits for a node or for the base is asked for again and again by whoever placed it
//     (the queue holds nothing that is not asked for any more), and its deadline is not kept here.
//
// # Differences from the paper
//
// Delimitrou 2015, chapter 8, knows of no provider that refuses, no order that is lost and no limit
// to what is spent. What is chosen here is: a job whose node cannot be had is the base's.
package tracker
