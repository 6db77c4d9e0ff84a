//go:build e2e

package storage

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
)

const (
	// greedyPromise is what a job promises that writes all it can.
	greedyPromise = 10.
	// moreThanPromised is what the disk must let it write without a limit, and what it must be
	// back at when there is none, so that a limit is seen.
	moreThanPromised = 3 * greedyPromise
	// limitSlack is how much above its limit a group may be seen: the kernel gives out bytes in
	// slices, and a window begins and ends in one.
	limitSlack = 1.25
	// greedyFor is how long the greedy job is watched. It says what it moved after every 2 MB, which
	// is 5 % of what its limit lets it move meanwhile, and never pauses.
	greedyFor = 4 * time.Second
	// limitWithin is how long a limit may take: the agent looks at groups every 5 s.
	limitWithin = 30 * time.Second
)

// greedy writes past the page cache whatever the disk takes, and promises less.
const greedyJob = `
job %q {
  group "main" {
    performance {
      target {
        rate = 1
        unit = "MB"
      }
      probe "log" {
        pattern = "moved (\\d+) MB"
      }
      profile {
        skip = true
      }
      policy = "bloc"
      disk {
        bandwidth = %g
        limit     = %t
      }
    }
    ephemeral_disk {
      size = 200
    }
    task "write" {
      driver      = %q
      kill_signal = "SIGKILL"
      config {
        command = "/bin/bash"
        args    = ["-c", <<EOT
moved=0
while dd if=/dev/zero of="$NOMAD_ALLOC_DIR/data/greedy" bs=1M count=2 oflag=direct conv=notrunc status=none; do
  moved=$((moved + 2097))
  echo "moved $((moved / 1000)) MB"
done
EOT
        ]
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
`

// submitGreedy places the job, or its next version.
func submitGreedy(ctx context.Context, t *testing.T, r *rig.Rig, driver string, limit bool) rig.JobFile {
	t.Helper()
	id := "greedy-" + strings.ReplaceAll(driver, "_", "-")
	path := filepath.Join(t.TempDir(), id+".nomad.hcl")
	if err := os.WriteFile(path, fmt.Appendf(nil, greedyJob, id, greedyPromise, limit, driver), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := r.ReadJobFile(path)
	if err != nil {
		t.Fatal(err)
	}
	submit(ctx, t, r, f)
	return f
}

func submit(ctx context.Context, t *testing.T, r *rig.Rig, f rig.JobFile) {
	t.Helper()
	var out bytes.Buffer
	if ok, err := r.SubmitPlacer(ctx, f, &out); err != nil || !ok {
		t.Fatalf("%s is left to stock Nomad (%t, %v):\n%s", f.ID, !ok, err, out.String())
	}
}

// limitSaid waits until the placer says that a job is limited, or is not.
func limitSaid(ctx context.Context, t *testing.T, r *rig.Rig, id string, limited bool) {
	t.Helper()
	var last []placer.DiskLimit
	for end := time.Now().Add(limitWithin); time.Now().Before(end); time.Sleep(time.Second) {
		last = command[struct {
			DiskLimits []placer.DiskLimit `json:"disk_limits"`
		}](ctx, t, r, "job", "status", id).DiskLimits
		if !limited && len(last) == 0 {
			return
		}
		if limited && len(last) == 1 && last[0].Problem == "" && last[0].Tasks == 1 {
			var out bytes.Buffer
			if err := r.Placer(ctx, &out, "job", "status", id); err != nil {
				t.Error(err)
			}
			want := fmt.Sprintf("limited to %g MB/s each on %s", greedyPromise, last[0].Node)
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
				t.Errorf("job status does not say %q:\n%s", want, out.String())
			}
			return
		}
	}
	t.Fatalf("after %s it is to be %t that %s is limited, and the placer says %+v", limitWithin, limited, id, last)
}

// greedyMoves is what the greedy job does while it is the only one.
func greedyMoves(ctx context.Context, t *testing.T, r *rig.Rig, f rig.JobFile) (mbPerSec float64) {
	t.Helper()
	return measure(ctx, t, r, greedyFor, f)[0].mbPerSec
}

// limitsOf are the limits on disks in the groups of the run, by file.
func limitsOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, top := range []string{"/sys/fs/cgroup/placer-limit", "/sys/fs/cgroup/blkio/placer-limit"} {
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			switch name := filepath.Base(path); {
			case err != nil:
				return nil // groups come and go
			case e.IsDir() && strings.HasPrefix(name, "nomad-placer-disk-"):
				out[path] = "a group"
			case name == "io.max", name == "blkio.throttle.read_bps_device", name == "blkio.throttle.write_bps_device":
				if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
					out[path] = strings.TrimSpace(string(text))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestPromisesAreLimits: a job that writes all it can is held to its promise where it says that
// this is a limit, and a job next to it keeps what it promised; the limit ends with that line,
// outlives an agent that is killed no longer than until the next one starts, and ends with the agent.
func TestPromisesAreLimits(t *testing.T) {
	ctx := t.Context()
	r, err := rig.Start(ctx, rig.Options{
		Bin: binDir, BasePort: basePort + 100, RunID: "limit",
		Clients: []cluster.Client{{Name: "left", Meta: map[string]string{disk.RatedKey: "1000"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error("stopping the cluster:", err)
		}
	})
	if err := r.InstallPlacer(ctx); err != nil {
		t.Fatal(err)
	}
	neighbour := job(t, r, "neighbour", jobMBPerSec)
	isLimited := func(driver string) {
		greedy := submitGreedy(ctx, t, r, driver, true)
		limitSaid(ctx, t, r, greedy.ID, true)
		submit(ctx, t, r, neighbour)
		moved := measure(ctx, t, r, played, greedy, neighbour)
		limited, neighbourMoves := moved[0].mbPerSec, moved[1].mbPerSec
		t.Logf("%s: with a limit of %g MB/s it moves %.1f, and its neighbour %.1f of %g", driver, greedyPromise, limited, neighbourMoves, jobMBPerSec)
		if limited > limitSlack*greedyPromise {
			t.Errorf("%s: with a limit of %g MB/s it moves %.1f", driver, greedyPromise, limited)
		}
		if target, _, _ := neighbour.Spec.Target.Value(); neighbourMoves < target {
			t.Errorf("%s: its neighbour moves %.1f MB/s of %g", driver, neighbourMoves, target)
		}
		if err := r.Purge(ctx, neighbour.ID); err != nil {
			t.Fatal(err)
		}
	}
	greedy := submitGreedy(ctx, t, r, "raw_exec", false)
	free := greedyMoves(ctx, t, r, greedy)
	if free < moreThanPromised {
		t.Fatalf("this disk takes %.1f MB/s: too little to see a limit of %g", free, greedyPromise)
	}
	isLimited("raw_exec")
	submitGreedy(ctx, t, r, "raw_exec", false)
	limitSaid(ctx, t, r, greedy.ID, false)
	if left := limitsOf(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if again := greedyMoves(ctx, t, r, greedy); again < free/3 {
		t.Errorf("without its limit it moves %.1f MB/s, and did %.1f", again, free)
	}
	if err := r.Purge(ctx, greedy.ID); err != nil {
		t.Fatal(err)
	}
	isLimited("exec")
	agentEnds(ctx, t, r)
}

// agentEnds wants limits kept by the agent that follows one that was killed, and taken back by
// one that is stopped.
func agentEnds(ctx context.Context, t *testing.T, r *rig.Rig) {
	t.Helper()
	greedy := submitGreedy(ctx, t, r, "exec", true)
	limitSaid(ctx, t, r, greedy.ID, true)
	leader, err := r.World.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := r.AgentPID(leader.Address)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Kill(pid); err != nil {
		t.Fatal(err)
	}
	if len(limitsOf(t)) == 0 {
		t.Error("the kernel forgot the limit with the agent")
	}
	if err := rig.WaitLeader(ctx, r.World, leader); err != nil {
		t.Fatal(err)
	}
	limitSaid(ctx, t, r, greedy.ID, true)
	if limited := greedyMoves(ctx, t, r, greedy); limited > limitSlack*greedyPromise {
		t.Errorf("after the agent was killed it moves %.1f MB/s", limited)
	}
	if _, _, err := r.API().Jobs().Deregister(rig.AgentJob, false, nil); err != nil {
		t.Fatal(err)
	}
	var left map[string]string
	for end := time.Now().Add(limitWithin); time.Now().Before(end); time.Sleep(time.Second) {
		if left = limitsOf(t); len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("the agent is stopped, and left behind %v", left)
	}
	if after := greedyMoves(ctx, t, r, greedy); after < moreThanPromised {
		t.Errorf("the agent is stopped, and it moves %.1f MB/s", after)
	}
}
