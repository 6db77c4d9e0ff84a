package rig

import "github.com/nomad-placer/nomad-placer/examples/install"

// agentJobHCL is the system job an operator installs, with the folder of the
// binary, the agent's configuration and the port of its pages as variables.
var agentJobHCL = install.AgentJob
