package hcl

import "github.com/nomad-placer/nomad-placer/placer/policy"

// known are the options of the command line, without its check of probes.
var known = Options{Policies: policy.Names()}
