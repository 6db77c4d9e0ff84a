//go:build e2e

package placement

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// profilesRunning counts the profiling jobs that are registered.
func profilesRunning(t *testing.T) int {
	t.Helper()
	jobs, _, err := shared.API().Jobs().PrefixList("placer-profile-")
	if err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

// noProfilesLeft waits for the placer to take its profiling jobs away: it stops
// them, waits for their end, and purges them.
func noProfilesLeft(ctx context.Context, t *testing.T, within time.Duration) {
	t.Helper()
	eventually(ctx, t, "no profiling job is left", within, func() bool { return profilesRunning(t) == 0 })
}

// The time for that: usually, and where the node is gone and only a later sweep
// finds the allocation ended (Nomad's heartbeat grace and two sweeps).
const (
	soon       = 30 * time.Second
	afterSweep = 3 * time.Minute
)

// TestBadInputRunsUnderStockRules submits what cannot be placed well. Each must
// run, and say why on the job page, in the record and in the scaling events.
func TestBadInputRunsUnderStockRules(t *testing.T) {
	cases := map[string]struct {
		block, script string
		want          string // part of the reason
		within        time.Duration
		cannotRun     bool // whoever places it
	}{
		"percentile": {
			block:  "target {\n qps = 100\n latency {\n percentile = 200\n max = \"5ms\"\n }\n}\nprobe \"prometheus\" {\n port = \"m\"\n rate = \"r\"\n latency = \"l\"\n}\n",
			script: counting, want: "percentile", within: 20 * time.Second,
		},
		"no-such-probe": {
			block: "target {\n rate = 5\n}\nprobe \"prometeus\" {\n port = \"m\"\n}\n", script: counting, want: "prometheus", within: 20 * time.Second,
		},
		"two-targets": {
			block: "target {\n rate = 5\n qps = 3\n}\nprobe \"log\" {\n pattern = \"(x)\"\n}\n", script: counting, want: "target", within: 20 * time.Second,
		},
		"huge": {
			block: "target {\n rate = 5\n}\n# " + strings.Repeat("x", 1<<20), script: counting, want: "65536 bytes", within: 30 * time.Second,
			// Nomad hands meta to tasks in their environment, and the kernel starts
			// no program with a megabyte there: stock rules fail it too.
			cannotRun: true,
		},
		"crash": {
			block: countingBlock, script: `echo "units 1"; [ -z "$PLACER_PROFILE" ] || { echo "cannot open shop" >&2; exit 3; }; ` + counting,
			want: "exit", within: time.Minute,
		},
		"silent": {
			block: strings.Replace(countingBlock, "seconds = 8", "seconds = 6", 1), script: "sleep 1000", want: "reading", within: 90 * time.Second,
		},
		"no-work": {
			block: countingBlock, script: `echo "units 1"; sleep 1000`, want: "work", within: 90 * time.Second,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := "bad-" + name
			submit(t.Context(), t, held(id, c.block, c.script))
			job := released(t.Context(), t, id, c.within)
			checkStock(t, job, c.want)
			if err := shared.WaitRunning(t.Context(), id); (err != nil) != c.cannotRun {
				t.Error(err)
			}
			noProfilesLeft(t.Context(), t, soon)
		})
	}
}

// placerMark is in every list that the placer adds to a job (decision 0002).
const placerMark = "placer:v1"

// checkStock wants the reason everywhere a user may look, and nothing of ours
// in the job but the page.
func checkStock(t *testing.T, job *api.Job, want string) {
	t.Helper()
	if job.UI == nil || !contains(job.UI.Description, "stock Nomad") {
		t.Fatalf("the job page does not say that stock Nomad placed it: %+v", job.UI)
	}
	if !contains(job.UI.Description, want) {
		t.Errorf("the job page lacks %q:\n%s", want, job.UI.Description)
	}
	for _, g := range job.TaskGroups {
		// Nomad adds constraints of its own, on signals for example.
		for _, c := range g.Constraints {
			if contains(c.RTarget, placerMark) {
				t.Errorf("group %s carries our constraint %s", *g.Name, c)
			}
		}
		if len(g.Affinities) != 0 {
			t.Errorf("group %s carries affinities: %v", *g.Name, g.Affinities)
		}
	}
	decisions, err := book(t).Decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decisions {
		if d.Workload.Job == *job.ID {
			if d.Outcome != placer.Stock || !contains(d.Reason, want) {
				t.Errorf("recorded %s %q, want stock with %q", d.Outcome, d.Reason, want)
			}
			return
		}
	}
	t.Error("no decision was recorded")
}

// TestThePlacerMayDieWhileItProfiles kills the leading agent with SIGKILL; an
// other instance takes over, adopts the run, and places the job.
func TestThePlacerMayDieWhileItProfiles(t *testing.T) {
	ctx := t.Context()
	submit(ctx, t, held("survivor", countingBlock, counting+" # survivor"))
	waitStage(ctx, t, "survivor", placer.StageProfile)
	killLeader(ctx, t)
	released(ctx, t, "survivor", 2*time.Minute)
	checkOrder(t, "survivor")
	d, err := book(t).Decision(ctx, workload("survivor"))
	if err != nil || d.Outcome != placer.Placed {
		t.Errorf("outcome %s (%s), %v", d.Outcome, d.Reason, err)
	}
	noProfilesLeft(ctx, t, soon)
}

// killLeader kills the process of the agent that holds the leader's lock.
func killLeader(ctx context.Context, t *testing.T) {
	t.Helper()
	leader, err := shared.World.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := shared.AgentPID(leader.Address)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Kill(pid); err != nil {
		t.Fatal(err)
	}
}

// TestANodeMayVanishWhileItProfiles cuts the power of the node under the run.
func TestANodeMayVanishWhileItProfiles(t *testing.T) {
	ctx := t.Context()
	block := strings.Replace(countingBlock, "seconds = 8", "seconds = 20", 1) + "hold = \"90s\"\n"
	submit(ctx, t, held("orphan", block, counting+" # orphan"))
	waitStage(ctx, t, "orphan", placer.StageProfile)
	lost := profilingNode(ctx, t)
	if err := shared.LoseClient(ctx, lost); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shared.RestartClient(context.Background(), lost); err != nil {
			t.Error(err)
		}
	}()
	released(ctx, t, "orphan", 100*time.Second)
	noProfilesLeft(ctx, t, afterSweep)
}

// profilingNode finds the client that runs the profiling allocation.
func profilingNode(ctx context.Context, t *testing.T) int {
	t.Helper()
	node := -1
	eventually(ctx, t, "a profiling allocation runs", 30*time.Second, func() bool {
		allocs, _, err := shared.API().Allocations().List(nil)
		if err != nil {
			return false
		}
		for _, a := range allocs {
			if strings.HasPrefix(a.JobID, "placer-profile-") && a.ClientStatus == api.AllocClientStatusRunning {
				i, ok := shared.ClientNamed(a.NodeName)
				if ok {
					node = i
				}
				return ok
			}
		}
		return false
	})
	return node
}
