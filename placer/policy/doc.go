// Package policy chooses nodes: one file per placement policy, one line in
// policies.go.
//
// Every policy works in the same stages: feasible nodes (placer/cluster), an
// order of its own over them, then one common ending that assigns the group's
// allocations to the best nodes, cuts the shortlist, predicts the group's
// performance and writes the Decision. So baselines and policies of the papers
// differ in the order only.
//
// Paragon (Delimitrou 2015, §3.4) in five lines, for newcomer n and server s,
// per source k, in percent:
//
//	t_s = min of the residents' tolerated, c_s = sum of their caused scores
//	D1 = t_s − c_n   the residents survive the newcomer where D1 ≥ 0
//	D2 = t_n − c_s   the newcomer survives the residents where D2 ≥ 0
//	keep servers with all D1, D2 ≥ 0; of those the best configuration;
//	of those the tightest fit, min Σ|D1 + D2|
//
// # Differences from the paper
//
//   - One chain: D2 filters what D1 left, instead of two sets being intersected.
//     Without relaxation the result is the same; with it, the intersection
//     cannot turn out empty.
//   - Backtracking. The text relaxes the previous source until servers appear,
//     then the one before it. We relax in steps of 5 points, and take the
//     smallest relaxation that leaves a server: among equal ones the previous
//     source first, then the one before, the source itself last. Giving up 95
//     points of one source where 5 of another would do harms more.
//   - No timeout: policies have no clock, and the search is O(servers × sources)
//     with at most one relaxation per source and direction.
//   - Targets. The paper knows only "as fast as possible". Where the group has a
//     numeric target, every configuration predicted to reach it is good enough;
//     the best configuration matters only where none does.
//   - Groups. A group's allocations go to distinct nodes while acceptable ones
//     are left; then they share, and press on each other with their own scores.
//   - A running group keeps its nodes unless others are clearly better: see the
//     stickiness constants in paragon.go.
//   - Ties: fewer free MHz, then the node's ID.
package policy
