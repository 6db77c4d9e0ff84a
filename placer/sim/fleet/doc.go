// Package fleet is the provider from whom the nodes of a simulated cluster are rented
// (Delimitrou 2015, §8.2.1, §8.3.2).
//
// # Theory
//
// A node that is asked for is ready after its spin-up, which is short in nineteen of twenty cases
// and two minutes in one. A type with as many cores as a machine has is a whole machine; a
// smaller one shares it with the provider's other customers, who run batch work and services as
// we do, and keep a share of their cores busy that wanders around a mean. A node is billed from
// when it is ready until it is given back.
//
// Everything follows from the seed and from what was asked for at which time.
//
// # Differences from the text
//
//   - The text has 12 to 19 s of spin-up and a 95th percentile of two minutes, which no lognormal
//     distribution has: it is a mixture of one around the typical values and of slow starts.
//   - How the load of others changes with time is not said: it has a correlation time of minutes.
//   - On which resources others press is not said: as drawn programs of one core each do, as many
//     of them on a machine as are busy on average.
package fleet
