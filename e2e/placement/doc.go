// Package placement holds the end-to-end tests of the whole product: a real
// Nomad, the real driver, the placer as a system job with its own access policy
// (build tag e2e; make e2e). All tests share one cluster and run one after the
// other, because they measure.
package placement
