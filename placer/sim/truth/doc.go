// Package truth says what really happens to a simulated workload: how fast an
// allocation runs on a node of some configuration, at a size, next to co-runners.
// No policy, classifier or admission controller may import it; what they know of
// a workload comes from profiling runs that this package answers with noise.
//
// # Theory
//
// The speed of an allocation is a product of three measured shapes, times one
// loss that is not additive:
//
//	speed = alone[configuration] · scale-up(cores) · memory(MB) · exp(−loss)
//	loss  = sqrt(Σ over sources k of ln² f_k(X_k)) + pair residual
//
// f_k is the response curve of the application (Delimitrou 2015, §5.4: the
// share kept under a kernel at 0 to 100 %), measured or drawn as
// systems of the same class behave. X_k is the pressure of the co-runners, and is
// where the models of the policies end:
//
//   - pressures saturate: 1 − Π(1 − q/100) instead of a sum;
//   - beyond what the node has (its own and the co-runners' demand above 100 %)
//     pressure grows faster than the demand: a knee;
//   - a source leaks into others: lost cache becomes memory traffic;
//   - weak configurations multiply pressure;
//   - what is private to a core is experienced only by what shares a core: allocations
//     have cores of their own, unless these are hardware threads;
//   - losses of several sources overlap (a stall hides another), so they add in
//     quadrature, between the product and the minimum of the shares;
//   - every pair of applications has a residual of its own.
//
// # Which fact sets what
//
// Nothing here was set by what a policy that is modelled on it reaches.
//
//   - Responses: the rows of mcf and memcached are the published ones (Delimitrou
//     2015, Fig. 5.3); the shares kept at full pressure are medians of public runs
//     (measured.go), and go down to severeKept for who lives off a source: a tenth, as
//     mcf and memcached there and as the slowdowns of up to 10 of one program in §4.2.
//   - Who leans on what (kinds, indifference): of 20 SPEC programs a third moves more
//     than a third of the bytes per second of the heaviest, and of 18 half lose less
//     than a tenth when nine tenths of the last-level cache are taken away
//     (spec-llc-sensitivity).
//   - How hard they press (PressurePerCore, toleranceSlope): the published losses of
//     the two baselines that do not look at co-runners, on 1,000 servers under high load
//     (§3.5.2): NI 34 %, met; least-loaded 48 %, of which co-runners and
//     platforms together take 34 %: pressing harder would leave what was measured further
//     behind. Of 125 pairs of real applications on neighbouring CPUs of one machine of
//     today each keeps 0.95 (profiler/training/pairs); rows of our own make such gentler
//     populations: FromProfiles.
//   - Cores: of pairs bound to one CPU each keeps 0.485, so that sharing in turns costs
//     the share of the time and little more.
//   - Configurations: clock, generation, cache and memory bandwidth of the parts, as
//     published by their makers, with nothing fitted (Hardware), or as instance types of
//     a cloud suit programs (Published); each says what it meets. Leaks: see leaks.
//   - Noise of a run: the replicates of lumos-cloud-perf.
//
// What was never published is drawn, and Application.Origin says from what.
//
// # Worlds
//
// What a fit may move is a value, Parameters. The default ones are those that the list above
// explains. Those of PublishedWorld are fitted to what papers publish of their workloads and
// machines, and to no result of a policy (package calibration, decision 0058); published.json says
// on which seeds, and what every cluster shape has of each published number. In them
//
//   - each configuration has a taste of its own, evenly spaced by how strong it is, where by default
//     a microarchitecture has one: no two runs tell configurations apart that are alike;
//   - pressure on what cores share falls with the number of cores, where by default a core of two
//     presses as one of thirty-two does;
//   - the sources of the memory hierarchy have a need in common.
//
// # Differences from the paper
//
// The papers ran on machines; this is a model of machines.
package truth
