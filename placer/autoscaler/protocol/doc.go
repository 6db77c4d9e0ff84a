// Package protocol is the gRPC protocol between hashicorp/nomad-autoscaler and its plugins,
// as far as an APM plugin and a target plugin need it.
//
// Names and numbers are the autoscaler's, for they are what goes over the wire, and everything
// else is our own; decision 0054 has the reasons. A test in the module that pins the autoscaler
// (e2e/autoscaler/protocol) compares every message with its own. `make protocol` writes the
// *.pb.go files anew.
package protocol
