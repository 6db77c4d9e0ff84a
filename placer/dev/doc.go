// Package dev holds what developers and demos need beside the product: an
// open-loop load generator for redis and HTTP servers.
//
// # Open loop, and why
//
// A closed-loop generator waits for an answer before it sends the next request,
// so it slows down together with the server and hides the very delays that a
// latency target is about ("coordinated omission", Tene 2013). This one has a
// schedule: request k is due at a time that does not depend on any answer, and
// latency counts from that time, however late the request could be sent.
//
//   - Requests are due in batches, one batch per tick of 1 ms, so that 20,000
//     requests/s cost 1,000 wake-ups/s. All requests of a batch are due at its
//     tick; batch sizes are even or Poisson-distributed.
//   - The pacer never stores a backlog. Where its bounded queues are full it
//     waits, and the requests it then hands on keep their old due times.
//   - A request that fails has no latency. It counts as an error and is in no
//     histogram: read both numbers.
//
// The generator measures real time: it is a world, not a pure layer, and reads
// the wall clock. Its random choices (keys, reads or writes, Poisson batches)
// follow from the seed.
package dev
