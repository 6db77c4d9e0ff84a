// Package policy chooses nodes: one file for each placement policy, and one line in
// selectors.go.
//
// # The default policy, step by step
//
// A Policy answers a Request (policy.go) by a cluster.Decision. Paragon is the default.
// It takes these steps, and each has its file:
//
//  1. place.go: a system job, or a group of count 0, is left to Nomad.
//  2. candidates.go: the nodes on which the group fits (cluster.Feasible), each with what
//     its residents tolerate and exert and with the performance predicted there.
//     tolerance.go says what the newcomer tolerates, by its target; co_runners.go what
//     the newcomer and the residents exert on each other.
//  3. chain.go: the filter. A candidate stays where no bound breaks, neither of a
//     resident (D1) nor of the newcomer (D2). Where none stays, bounds are relaxed.
//  4. paragon.go, preference: of those, the candidates that are predicted to reach the
//     target; without a numeric target, or where none does, those of the fastest
//     configuration. All of them are good; the others are slower, or violate a bound.
//  5. paragon.go, key and inOrder: good candidates first; among them the tightest fit.
//  6. finish.go: the allocations get nodes (assign), the nodes that the decision allows
//     Nomad are listed (shortlist), and the prediction is compared with the target.
//  7. words.go and paragon_words.go: every node gets its sentence.
//
// Best-effort work waits where it would cause a QoS violation on every candidate
// (violations.go, bestEffortWaits).
//
// The same in symbols (Delimitrou 2015, §3.4), for newcomer n and node s, for each
// source, in points:
//
//	t_s = min of the residents' tolerated, c_s = sum of their caused scores
//	D1 = t_s − c_n   the residents keep their bounds where D1 ≥ 0
//	D2 = t_n − c_s   the newcomer keeps its bounds where D2 ≥ 0
//	keep nodes with all D1, D2 ≥ 0; of those the best configuration;
//	of those the tightest fit, min Σ|D1 + D2|
//
// # The other policies
//
// Every other policy is a board.Selector: it looks at dense numbers (placer/board) and
// answers which nodes, and for some how much of each. The simulator asks it directly.
// For a live cluster live.go asks it in place of steps 3 to 5: the snapshot becomes a
// board, and the choice becomes the head of the ranking. Paragon has both forms. The
// simulator asks paragon_select.go; the live form also weighs where a running group is
// now. Both walk the same filter.
//
// In a line each; their files say more:
//
//	paragon-statistical  §3.4.2: best colocation quality of R nodes drawn by hash;
//	                     the best of R has rank ≤ x with probability x^R
//	nh, ni               §3.5: paragon without configurations, without interference
//	quasar               §4.3.3: nodes by quality, scaled up before out, until
//	                     so(n)/n · Σ performance reaches the target
//	tarcil               §7.2–7.3: Q of a few cores drawn by lot, ⌈ln p/ln(1−a)⌉ of them
//	lsh                  the tightest dominating node of the best configuration, by hash
//	pp-rtte              Sampaio: the busy node with the most work per watt, cpu W/T·(1+β̄)
//	rtte, obfit          its baselines: β̄ = 0; full speed on the fullest node
//	sparrow              two probes per allocation, late binding
//	autoscale            §4.5.4: one more above 70 % load, 1 to 8
//	nomad-binpack/-spread  what stock Nomad documents of its own scoring
//	least-loaded, random, reservation-…  baselines
//
// An oracle is not a policy: it is any of these with a request made of true numbers.
//
// # Differences from the paper
//
//   - One chain: D2 filters what D1 left, instead of two sets being intersected.
//     Without relaxation the result is the same; with it, the intersection
//     cannot turn out empty.
//   - Backtracking. The text relaxes the previous source until servers appear,
//     then the one before it. We relax in steps of 5 points, and take the
//     smallest relaxation that leaves a server: among equal ones the previous
//     source first, then the one before, the source itself last. To give up 95
//     points of one source where 5 of another would do costs the residents more.
//   - Timeouts. Policies have no clock: a timeout is a number of cores that the
//     decision-time model (decisiontime.go) allows to look at.
//   - Targets. Paragon knows only "as fast as possible". Where the group has a
//     numeric target, every configuration predicted to reach it is good enough;
//     the best configuration matters only where none does.
//   - Groups. A group's allocations go to distinct nodes while acceptable ones
//     are left; then they share, and interfere with each other with their own scores.
//   - Live (decision 0015). A bound follows from the target. Co-runners together exert
//     at most what a source can be loaded with. Where bounds must be relaxed, or for
//     Quasar no node is without a violation, only the nodes with the fewest new
//     violations are left (newViolations); of those, the smallest violation comes
//     first and then the node whose residents exert least. Best-effort work waits
//     instead (bestEffortWaits). The simulated world has the papers' rules.
//   - A running group keeps its nodes unless others are clearly better: see the
//     stickiness constants in paragon.go. Policies made from selectors do not
//     know where a group runs.
//   - Live, Quasar gives every allocation of a group one size: a Nomad group has one
//     resources block. Sizes are tried least resources first; see sizing.go.
//   - Quasar's combination of its four estimates and its exact greedy rule are
//     not in the text: see quasar.go and kept in tentative.go.
//   - Tarcil prints T − U for the quality of a violating unit, under which the
//     worst ranks best; it is U here. Good units are counted by the contention on
//     the workload's first resource instead of in 20 hash buckets, and the order
//     of resources is the workload's, so that U is about what matters to it.
//   - LSH. Scores are one set per workload, not one per configuration: what a
//     configuration costs is in the speed there, which decides the order of
//     configurations. The last query at all ones is not in the text; without it an
//     idle node may be missed. Before a request waits every node is looked at, and the
//     decision says so. The radius follows the paper's rule for profiles (0.1 per
//     coordinate) in the 2 × sources coordinates of a node: with 0.4 most nodes that
//     would do are missed.
//   - PP-RTTE takes the most efficient node, not the one whose efficiency improves most:
//     see pprtte.go. Without a finish time the size is as asked for.
//   - The mapping from a hash to a node is unspecified in §3.4.2: see rings.go.
//   - Ties: fewer free MHz, then the node's place (live: its ID).
package policy
