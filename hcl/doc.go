// Package hcl reads and writes the text a user gives this project: the
// `performance` block of a job's group, and the agent's configuration file.
//
// The block can be written natively inside a group of a jobspec, in a file given to
// `nomad-placer job run`. Extract cuts it out, so that Nomad's own parser reads
// the rest, and Attach puts its text into the group's meta. It can also be
// written as that meta by hand, for the stock `nomad job run`. Either way a job
// carries the text under MetaKey, FromMeta finds it there, and Decode turns it
// into a performance.Spec.
//
// # Theory
//
// The words follow Delimitrou 2015, §4.2 (Quasar): a user states what a job must
// achieve, and never what it must reserve. The bound of slowdown_max is that of
// §3.3.2 (5 % of the performance in isolation).
//
// # Errors
//
// Every problem of a text is reported at once, as Diagnostics: file, line and
// column, the offending line, what is allowed, and a hint. Reading is strict:
// a block is plain values only (no variables, functions or templates), because
// it travels as text and is read again where no variable is known. The text is
// bounded in size (MaxTextBytes) and depth before it is parsed, since it comes
// from every user of a cluster.
//
// The whole grammar is one table per file, schema_performance.go and
// schema_agent.go; the reference, placer/docs/performance-block.md,
// is generated from them.
//
// # Differences from the paper
//
// The paper takes a service's latency bound as a mean or a tail; we take a
// percentile and its bound. It reads instructions per second for single-node
// jobs; we read the job's own units of work (`rate`), named by a probe.
package hcl
