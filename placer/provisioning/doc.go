// Package provisioning is the room of the engine that rents nodes: it shows the account of
// provision/tracker what the world has, asks it where each job goes before its first allocation,
// and has a Renter order and return nodes where there is one. Without one an autoscaler does, which
// reads what is wanted from the agent (Report).
//
//	snapshot ─▶ tracker ─▶ Route: nodes that a job may use, or wait
//	               │
//	               ├─▶ Report: wanted, present, spent
//	               ├─▶ Renter: so many of this type; these leave
//	               └─▶ Prober: how fast kernels are on this node ─▶ what others press there
//
// # What holds at every moment
//
//   - No job waits for the Renter: a call to it holds no lock that a decision needs.
//   - What is ordered is in the store before it is ordered, so that another leader knows of it; a
//     node that nobody ordered is accounted for as soon as Nomad knows it.
//   - A job that runs stays on its side, whoever places it again.
//   - Whatever a measurement of a node does, a job waits for it no longer than its budget.
//
// # Differences from the paper
//
// A queue of jobs by class is served in the order of their submission, each when it is asked for
// next, within engine.Config.Poll (Delimitrou 2015, §8.4.2, has no rule). A group goes to one rented node with all its
// allocations. A core is as many MHz as the mean of all cores of the cluster.
package provisioning
