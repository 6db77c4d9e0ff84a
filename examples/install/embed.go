// Package install is the system job an operator installs, so that the tests on a
// real Nomad install the same.
package install

import _ "embed"

// AgentJob is nomad-placer.nomad.hcl.
//
//go:embed nomad-placer.nomad.hcl
var AgentJob string
