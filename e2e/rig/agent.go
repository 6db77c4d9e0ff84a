package rig

import _ "embed"

// agentJobHCL is the system job an operator installs, with the folder of the
// binary and the agent's configuration as variables.
//
//go:embed nomad-placer.nomad.hcl
var agentJobHCL string
