// Package compare says how alike two streams of I/Os are: a trace and what a model of it
// generates.
//
// # Theory
//
// A generator that issues at the recorded rate has the recorded throughput by itself, so
// what is compared first is what it does not have by itself: mix and sizes, sequential
// share, how I/Os are spread over 64 states, weights of transitions, and the miss ratio of
// LRU caches of six sizes. The last is taken from stack distances (Mattson and others
// 1970), by pages, with a tree of positions; of a long stream a sample of the pages tells
// it (SHARDS: Waldspurger and others 2015), so that memory is bounded.
//
// A reference disk gives throughput and latency without a device: a seek that grows with
// the root of the distance (Ruemmler and Wilkes 1994), half a turn, a transfer, one queue.
// Its IOPS when it is never idle depend on the order of addresses alone. Whatever it says
// is of that disk.
//
// A model is fitted to the first part of a trace and judged by the second. What an exact
// replay of the first part misses by then is the trace's own change, and no model's.
//
// Source: Delimitrou 2015, §A.4 (features and performance within 5 % each, thread weights
// within 0.05 %, levels by 2 % of IOPS).
//
// # Differences from the text
//
// The text fits and judges by the same trace and leads with IOPS. Differences of shares of
// a whole (sizes, states) are total variation distances. Cache sizes are parts of the
// pages that the trace touches, for the text's 1 to 32 GB belong to its disks.
package compare
