// Package trace reads submissions from published cluster traces, from logs of
// one's own, and from generators, in one vocabulary: Job (what was submitted,
// when, how large, how long it ran) and NodeEvent (machines that come and go).
//
// A Reader gives jobs strictly in order of submission. Files are read once, row
// by row, gzip transparently; what has to be held to put jobs in order is stated
// by each Descriptor. Options choose a stretch of time, a sample (by a hash of the
// job's name, so the same jobs whatever else is chosen), a pace and a limit.
//
// What a trace does not say is unknown (NaN, or Unknown), never 0; Fill draws it
// from stated distributions and marks what it drew. A row that cannot be read is
// an error with file, line and column; a row that can be read and makes no sense
// (it ends before it starts, its name was seen before) is left out and counted by
// reason in Skips.
//
//	r, err := trace.Open("clusterdata-2011-2", "", trace.Options{To: 24 * time.Hour, Sample: 0.1})
//	for {
//		job, err := r.Next() // io.EOF after the last
//	}
//
// Sources: Reiss, Wilkes and Hellerstein 2011 (Google cluster-usage traces,
// format and schema); Alibaba clusterdata (v2017, v2018, GPU v2023); Cortez and
// others 2017 (Azure); Jeon and others 2019 (Philly); Chen and others 2011 (SWIM);
// Chapin and others 1999 (the Standard Workload Format).
//
// # Differences from the traces
//
// Sizes that are published relative to the largest machine are turned into cores
// and bytes by Options.LargestCores and LargestMemoryBytes: the true sizes were
// never published, and the defaults are choices of ours, stated where they are
// set. A task that Google's scheduler evicted and submitted again is one job.
package trace
