// Package consolidate is BLOC: which data are on which storage node, so that few nodes are
// on and no application loses more than it tolerates. It decides; what a device can do, and
// what applications lose next to one another, are measured elsewhere
// (profiler/blockio, nomad-placer twin play).
//
//	order := scene.Order(demand)                     // the objects, by interference of pairs
//	next, unplaced := scene.Pack(demand, order, …)   // Algorithm 1
//	plan := scene.Update(placement, predicted, …)    // Algorithm 2, every 30 minutes
//
// # Theory
//
// Application i keeps its limit on response times up to MB_i of a node's rated bandwidth and
// MC_i of its capacity. A node with several has the least of each (eq. B.1): the bin shrinks
// with its content. An object goes to a node where bandwidth, capacity and the losses that
// applications cause one another stay in bounds (Rules). Demands are predicted for the next
// 30 minutes from the last seven days and from now (Forecast); objects move before demand
// rises, inside a part of the bandwidth that is kept for that (Δ_B).
//
// Source: Delimitrou 2015, appendix B.
//
// # Differences from the text
//
// Pairs are sorted by their mean loss and admitted by the worst one: the 10 % are what the
// worst application of a mix tolerates, and the text names the mean for both (§B.3). Chunks
// of one instance do not interfere with one another: together they are that instance.
// Loss by chunks of others scales with the part of the instance's demand that they have.
// Algorithm 2 as printed joins its conditions with "or", ignores interference in its loop
// and never empties a node when demand falls; here it is "and", the loop looks at
// interference, and a last step empties nodes within the bandwidth kept for moves. What the
// text has no formula or number for (when a move pays, hysteresis, the objects of a node
// that no other takes) is said where it is. Decision 0052 has the reasons.
package consolidate
