// Package sweep has the test of runs of the simulator that the nodes of a real Nomad make.
package sweep
