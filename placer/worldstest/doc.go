// Package worldstest holds the tests that run one scenario in both worlds, the
// engine on an in-memory Nomad API and the simulator: a policy that is compared
// with others in simulation must do the same on a cluster.
//
// The scenario is seen alike: the same nodes, profiles, submissions, ends and
// losses in the same order, and the same random numbers for each decision. What
// must agree is the plan: how many allocations of each group go to which node.
//
// The live world has no admission: a held job is placed with what room there is
// (policy.Whole). So in the simulator every attempt is a last chance, too.
package worldstest
