// Package fleet runs measuring campaigns on the nodes of a user's own cluster: calibrations, profiles
// and pairs of workloads. Each measurement is a batch job that has its node to itself, because it
// asks for all that the node has left; a node with allocations of others is left alone (decision
// 0070). Nomad places, starts and ends; package dispatch hands out, collects, and hands out again
// what was lost.
//
// What a unit says is its key. A result is kept under it in the folder of the campaign, with the
// receipt of the driver that measured it: the same campaign goes on where it stopped.
package fleet
