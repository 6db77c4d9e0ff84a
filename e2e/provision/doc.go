// Package provision tests rented nodes end to end, on a real Nomad and without a provider: the
// target plugin in target starts and ends real Nomad clients, and the autoscaler that
// e2e/autoscaler pins, or the agent, drives it.
package provision
