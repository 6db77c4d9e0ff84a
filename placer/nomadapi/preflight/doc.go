// Package preflight looks whether a Nomad cluster is ready for nomad-placer, and
// says what to do where it is not. Each check is a file and a line in checks.go.
//
// It only reads: its way to Nomad refuses every request that is not a GET (see
// readonly.go), so that no check can write by mistake. What cannot be read is
// unknown, with the reason, and never ok.
package preflight
