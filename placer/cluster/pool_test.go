package cluster_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func TestMayHold(t *testing.T) {
	t.Parallel()
	pools := cluster.Pools{Hold: "placer", Run: "prod"}
	for pool, want := range map[string]bool{"": true, "default": true, "placer": true, "prod": true, "gpu": false, "all": false} {
		if got := pools.MayHold(pool); got != want {
			t.Errorf("pool %q may be held: %v, want %v", pool, got, want)
		}
	}
}
