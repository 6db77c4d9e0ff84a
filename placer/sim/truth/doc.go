// Package truth says what really happens to a simulated workload: how fast an
// allocation runs on a node of some configuration, at a size, among neighbours.
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
// systems of the same class behave. X_k is the pressure of the neighbours, and is
// where the models of the policies end:
//
//   - pressures saturate: 1 − Π(1 − q/100) instead of a sum;
//   - beyond what the node has (its own and the neighbours' demand above 100 %)
//     pressure grows faster than the demand: a knee;
//   - a source leaks into others: lost cache becomes memory traffic;
//   - weak configurations multiply pressure; core-private sources press less on a
//     node whose cores are mostly free;
//   - losses of several sources overlap (a stall hides another), so they add in
//     quadrature, between the product and the minimum of the shares;
//   - every pair of applications has a residual of its own.
//
// # Sources of numbers
//
// mcf and memcached are the published rows of Delimitrou 2015, Fig. 5.3. Measured
// shares kept at full pressure and speed-ups by threads are medians over groups of
// public measurements (see measured.go). Profiles and pairs of the shipped
// training set become applications by FromProfiles and residuals by FromPairs.
// What was never published is drawn, and Application.Origin says from what.
//
// # Differences from the paper
//
// The papers ran on machines; this is a model of machines. It is calibrated on
// hardware facts and public measurements only, never on a policy's result.
package truth
