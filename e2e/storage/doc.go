// Package storage holds the end-to-end test of disk bandwidth as a resource: a real job's I/O is
// recorded on a real Nomad, its model is fitted and played, and two such jobs are placed by stock
// Nomad and by the placer (build tag e2e; make e2e). It needs root and block tracepoints.
package storage
