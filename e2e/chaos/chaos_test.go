//go:build e2e

package main

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()%1_000_000), "of the schedule and of what users do")

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// leastKills is what a run of the test has, within a minute.
const leastKills = 40

// TestChaosLive is the campaign of `make chaos-live`, as short as it can be: every promise
// is judged by the same rules. Adaptations, which need a leader that lives for a while, are
// met by the long run only.
func TestChaosLive(t *testing.T) {
	result, err := run(t.Context(), options{
		bin: "../../bin", port: 24000, clients: 2, users: 2, seed: *seed, kills: leastKills, duration: 50 * time.Second, settle: 2 * time.Minute,
		logs: "../../bin/chaos-logs", out: t.Output(),
	}, nil)
	result.print(t.Output())
	if err != nil {
		t.Errorf("%v; repeat its schedule with -seed %d", err, *seed)
	}
	if result.Kills < leastKills {
		t.Errorf("%d kills, want at least %d", result.Kills, leastKills)
	}
}
