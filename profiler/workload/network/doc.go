// Package network models the network traffic of a whole cluster, regenerates it,
// and says how far what it generates is from the original: who sends how much to
// whom, and when.
//
// # Theory
//
// The temporal model of a single server is a sum of known shapes, each with its
// amplitude and on its own interval of time (Superposition, eq. C.1):
//
//	BW(t) = Σ_i a_i · shape_i((t − μ_i)/σ_i)   on [t_i,start, t_i,stop)
//
// The model of the system is a set of hierarchical Markov chains (Model), one for
// each window of the week. A state is a group of racks, a rack or a server; a
// transition holds which share of the traffic goes from one state to another, in
// which sizes, direction and at which inter-arrival times:
//
//	p_ij = Pr[X_j | X_i] = Pr[server_j ← server_i | size, read or write, inter-arrival time]
//
// Most traffic stays within a rack. So a transition within a state is expanded at
// the next level, and one between two states stays coarse. That leaves
//
//	G² + Σ_g R_g² + Σ_r S_r²
//
// transitions of G groups with R_g racks with S_r servers (Transitions). Which
// servers a coarse transition is from and to is drawn from the shares that they have
// in their state's traffic with others. A subset of a cluster has one state more,
// the cloud, which sends and receives what crosses its border.
//
// Source: Delimitrou 2015, appendix C (ECHO).
//
//	m, err := network.Fit(ctx, traffic, network.DefaultFit())
//	again, err := m.Generate(ctx, network.Generation{Span: traffic.Span(), Seed: 1, Workers: 2})
//
// Traffic is read from files (ReadTraffic), or declared (Synthetic). Compare says how far
// two are apart, RunStudy repeats the experiments of the source. All of it is a
// function of its arguments: the same traffic, options and seed give the same bytes,
// whatever the number of workers.
//
// # Differences from the text
//
// Amplitudes, and how to fit. Eq. C.1 is a sum of densities, which could not have the
// unit of a bandwidth; every term has an amplitude here. How the source finds the
// terms is not said: FitCurve adds the shape that lowers the squared error most.
//
// Two meanings of p_ij. The text calls it a share of all traffic and a conditional
// probability. Counts are kept; Chain.ShareOf and Chain.Walk derive both.
//
// A clock for each transition. An inter-arrival time is the time since the previous
// record of the same transition, so every transition is a renewal process of its own;
// a source that advanced one clock by the gap of the transition it drew would send
// too little by the number of its peers. Gaps are counted on the window's clock,
// which stands while the window is not active, and the first one is closed over the
// window's end: so the gaps of a transition sum to the window's time, and the rate
// that is generated is the rate that was seen.
//
// Exact counts. A chain that draws each record anew has more or fewer bursts than the
// traffic it was fitted to, and so misses bounds of the source where traffic has
// bursts. Generation.ExactCounts draws without replacement: in the time of its window a
// transition has as many records of each kind as were seen. It is off unless asked for.
//
// Classes of powers of two. Sizes and gaps are kept in classes a factor of two
// wide, with the mean and the variation within the class. A heavy tail fills more
// classes; quantiles next to them say nothing that the classes do not.
//
// Messages and bytes. A server's share of a coarse transition is one of messages and
// one of bytes. Servers are drawn by messages, and the size is scaled by how the
// bytes of that server differ, so both come out as they were.
//
// Coarse traffic between two servers follows from their marginals (a gravity model).
// FitOptions.TopPairs keeps the largest pairs of servers in different racks exactly;
// the source's 12 % for two random servers can hardly be had otherwise.
//
// Deviation is never defined by the source; see Deviation for the definitions here.
// No error is bounded in advance: the source's guarantees are measured errors, and
// so are these.
package network
