// Package fleet has the test of measuring campaigns on a real Nomad.
package fleet
