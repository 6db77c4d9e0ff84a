package hcl

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// known are the options of the command line, without its check of probes.
var known = Options{Policies: policy.Names(), Strategies: provision.StrategyNames(), Mappings: provision.MappingNames()}

func TestTheAgentsPolicyIsTheDefault(t *testing.T) {
	t.Parallel()
	if got := DefaultAgentConfig().Policy; got != policy.Default {
		t.Errorf("%q, the policies' is %q", got, policy.Default)
	}
}
