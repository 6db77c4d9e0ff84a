// Package policy chooses nodes: one file per placement policy, one line in
// selectors.go and one in policies.go.
//
// A policy is a board.Selector: it looks at dense numbers (placer/board) and
// answers which nodes, and for some how much of each. The simulator asks it
// directly. A live cluster asks the same selector through live.go: the snapshot
// becomes a board, the choice the head of a ranking, and one common ending
// assigns the group's allocations, cuts the shortlist, predicts the group's
// performance and writes the Decision. Paragon's live policy ranks by itself, for
// it also weighs where a running group is now; both walk the same filter
// (chain.go).
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
// The others, in a line each; their files say more:
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
// An oracle is not a policy: it is any of these with an ask made of true numbers.
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
//   - Timeouts. Policies have no clock: a timeout is a number of cores that the
//     decision-time model (decisiontime.go) allows to look at.
//   - Targets. Paragon knows only "as fast as possible". Where the group has a
//     numeric target, every configuration predicted to reach it is good enough;
//     the best configuration matters only where none does.
//   - Groups. A group's allocations go to distinct nodes while acceptable ones
//     are left; then they share, and interfere with each other with their own scores.
//   - Live (decision 0015): a bound follows from the target; neighbours together press
//     no harder than a source can be pressed; and where bounds must be relaxed, or for
//     Quasar no node is harmless, only the nodes where the fewest are hurt anew are
//     left (newViolations), of which the least harm comes first and then the place that is
//     crowded least. Best effort waits instead (bestEffortWaits). The simulated world has the
//     papers' rules.
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
//     idle node may be missed. Before an ask waits every node is looked at, and the
//     decision says so. The radius follows the paper's rule for profiles (0.1 per
//     coordinate) in the 2 × sources coordinates of a node: with 0.4 most nodes that
//     would do are missed.
//   - PP-RTTE takes the most efficient node, not the one whose efficiency improves most:
//     see pprtte.go. Without a finish time the size is as asked for.
//   - The mapping from a hash to a node is unspecified in §3.4.2: see rings.go.
//   - Ties: fewer free MHz, then the node's place (live: its ID).
package policy
