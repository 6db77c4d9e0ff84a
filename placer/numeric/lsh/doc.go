// Package lsh finds the points within a distance of a query without looking at
// all of them: an index of locality-sensitive hashes, which fall together more
// often the nearer two points are.
//
// Theory in eight lines (Datar, Immorlica, Indyk and Mirrokni 2004; Andoni and
// Indyk 2005 for the reuse of functions), distances in units of the radius R:
//
//	h(v) = ⌊(a·v + b)/w⌋, a drawn from a p-stable distribution, b uniformly from [0, w)
//	p-stable: normal for the Euclidean distance, Cauchy for the Manhattan one
//	p(u) = probability that h agrees on two points u apart: Collision
//	g = (h_1 … h_k) is one table; a neighbour is in the query's bucket with p(1)^k
//	L tables find it with 1 − (1 − p(1)^k)^L
//	reuse: m halves of k/2 functions, L = m(m−1)/2 pairs; found where two halves agree,
//	       1 − (1−q)^m − m·q·(1−q)^(m−1) with q = p(1)^(k/2)
//	answer: of the points in the L buckets, each once, those that truly lie within R
//
// Every answer is a subset of the exact one, and holds each true neighbour with
// probability 1 − Failure at least, over the draw of the functions. Scan and
// Nearest look at all points: they are the exact answers.
//
// Points are inserted and deleted one at a time. Everything here is floats;
// coordinates have no meaning to this package.
//
// # Differences from the papers
//
// Choose weighs operations, counted with points of the index as queries, by what
// each costs, instead of timing queries: equal input chooses equally on every
// machine. The costs are the caller's; those of DefaultCosts were measured by
// BenchmarkCosts.
package lsh
