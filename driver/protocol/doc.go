// Package protocol is the gRPC protocol between Nomad's client agent and a task driver.
//
// The messages are those of Nomad's plugin interface, as far as this driver uses them:
// names and numbers are Nomad's, for they are what goes over the wire, and everything
// else is our own. Nomad ships the same protocol as Go packages under the MPL, but inside
// a module whose licence is the Business Source License; decision 0022 has the reasons.
//
// A test in the module of Nomad itself (e2e/nomad/protocol) compares every message with Nomad's.
// `make protocol` writes the *.pb.go files anew.
package protocol
