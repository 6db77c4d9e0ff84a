// Package load holds what developers, demos and measurements need in addition to the
// product: an open-loop load generator for redis and HTTP servers, and a loop
// that makes a measurable workload of any program.
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
// # Loops
//
// Loop runs a real program again and again and counts its work finely: runs,
// bytes taken or given, lines, system calls, or answers of a server that it asks
// itself in a closed loop. Each sample carries the time it is of, interpolated
// inside the newest step, so that the rate between two samples owes nothing to
// the length of a step or to how late a starved process answers a scrape.
//
// The loop's own work is part of the workload, as a shell's or a client's would
// be: one write of each chunk that is fed, one start of each run, one request
// and answer. Scraped four times a second on one CPU with its command, a loop took
// 1 to 4 % of that CPU; feeding hundreds of megabytes a second, 13 %, which is the
// copy into the pipe that a "cat" would make too. It is the same share alone and
// under pressure.
//
// # Time
//
// All of it measures real time: it is a world, not a pure layer, and reads the
// wall clock. Its random choices (keys, reads or writes, Poisson batches)
// follow from the seed.
package load
