// Package kmeans groups points so that the squared distances of points to the
// mean of their group sum to as little as can be found.
//
// Theory in four lines (Lloyd 1982; Arthur and Vassilvitskii 2007):
//
//	start: the first centre uniformly, each further one with probability
//	       proportional to the squared distance to the nearest centre so far
//	repeat: every point to its nearest centre, every centre to the mean of its points
//	until nothing changes; of several seeded starts the best is kept
//
// Draw takes a sample that is spread over the groups, as training sets are chosen
// in the LSH paper (Algorithm 1).
//
// # Differences from the papers
//
//   - The LSH paper cites Hartigan and Wong's exchange; Lloyd's iteration from a
//     k-means++ start finds groups as good for what they are used for here.
//   - A group that loses its last point takes the point farthest from its centre,
//     so there are as many groups as were asked for wherever there are as many
//     distinct points, and fewer where there are not.
package kmeans
