// Package install has the jobs an operator installs, so that the tests on a real Nomad
// install the same.
package install

import _ "embed"

// AgentJob is nomad-placer.nomad.hcl.
//
//go:embed nomad-placer.nomad.hcl
var AgentJob string

// ServiceJob is service.nomad.hcl.
//
//go:embed service.nomad.hcl
var ServiceJob string

// PagesJob is pages.nomad.hcl.
//
//go:embed pages.nomad.hcl
var PagesJob string
