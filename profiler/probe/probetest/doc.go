// Package probetest is the conformance suite every listed probe runs.
//
// A probe joins by a Fixture: how its workload would look to a Reach that gives
// a certain amount of work. The suite then takes the workload through silence,
// garbage, a flood and a restart.
//
// # Differences from the paper
//
// No paper describes it; it holds the probes to what package probe promises.
package probetest
