//go:build e2e

package placement

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// sensitive does some 40 units a second, and 24 next to the job that leaves its process
// number in the folder.
const sensitive = `i=0; while true; do
  i=$((i+1)); echo "units $i"
  pause=0.0235; pid=; read -r pid 2>/dev/null <%[1]s/"$NODE"
  [ -n "$pid" ] && kill -0 $pid 2>/dev/null && pause=0.040
  sleep $pause
done`

// pressing is the job next to which it is slow.
const pressing = `echo $$ >%[1]s/"$NODE"; ` + counting

// TestProductionTeaches: a service whose tolerance was predicted wrong runs next to what it
// does not tolerate, is learnt there, and goes elsewhere when it is submitted again. Its
// profile says nothing of the network: how it tolerates pressure there is predicted from other
// workloads, of which most tolerate much and some do not.
func TestProductionTeaches(t *testing.T) {
	ctx := t.Context()
	folder := t.TempDir()
	// The policy takes the fullest node on which every bound is kept: what is known of the bounds decides.
	of := func(id, script string, target float64, nodes string) *api.Job {
		block := strings.Replace(countingBlock, "rate = 50", fmt.Sprintf("rate = %.1f", target), 1) + "policy = \"paragon\"\n"
		return held(id, block, fmt.Sprintf(script, folder), func(j *api.Job) {
			j.Constrain(api.NewConstraint("${node.unique.name}", "set_contains_any", nodes))
			j.TaskGroups[0].Tasks[0].Env = map[string]string{"NODE": "${node.unique.name}"}
		})
	}
	again := func(job *api.Job) string {
		t.Helper()
		if err := shared.Purge(ctx, *job.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
			t.Fatal(err)
		}
		runs(ctx, t, *job.ID)
		return onNode(t, *job.ID)
	}
	presser, learner := of("presser", pressing, 1, "alpha"), of("learner", sensitive, 1, "alpha,beta")
	// While another job waits for CPU time none is transferred to who falls short, and so the
	// size stays that of the profile.
	waits := busy("waits", nodeID(t, 0), 1_000_000)
	submit(ctx, t, waits)
	submit(ctx, t, presser)
	runs(ctx, t, "presser")
	profileSays(ctx, t, "presser", interference.Sensitivity{
		Tolerated: interference.Scores{interference.NetworkBandwidth: score(95)},
		Caused:    interference.Scores{interference.NetworkBandwidth: score(80), interference.Integer: score(3), interference.LLCCapacity: score(3)},
	})
	if err := shared.Purge(ctx, "presser"); err != nil { // the learner is profiled without it
		t.Fatal(err)
	}
	submit(ctx, t, learner)
	runs(ctx, t, "learner")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("production says %+v", experimentsOf(context.Background(), t, "learner"))
		}
	})
	profileSays(ctx, t, "learner", interference.Sensitivity{
		Tolerated: interference.Scores{interference.Integer: score(10)},
		Caused:    interference.Scores{interference.Integer: score(3), interference.LLCCapacity: score(3)},
	})
	alone := rate(ctx, t, "learner", 5*time.Second)
	target := 0.87 * alone
	learner = of("learner", sensitive, target, "alpha,beta") // its profile is known
	again(presser)
	if on := again(learner); on != "alpha" {
		t.Fatalf("it is on %s: %s", on, explained(ctx, t, "learner"))
	}
	before := explained(ctx, t, "learner")
	next := rate(ctx, t, "learner", 5*time.Second)
	if next >= target {
		t.Fatalf("it does %.1f units/s next to what presses, and %.1f alone", next, alone)
	}
	time.Sleep(45 * time.Second) // windows, none of which counts before it has run for 15 s
	if err := shared.Purge(ctx, "learner"); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "production says something of it", 2*time.Minute, func() bool {
		return slices.ContainsFunc(experimentsOf(ctx, t, "learner"), func(e profile.Experiment) bool {
			return slices.Contains(e.Neighbours, workload("presser").String())
		})
	})
	on := again(learner)
	now := rate(ctx, t, "learner", 5*time.Second)
	t.Logf("%.1f units/s alone, %.1f next to what presses, %.1f now\nbefore: %s\nnow: %s", alone, next, now, before, explained(ctx, t, "learner"))
	if on != "beta" || now < (alone+next)/2 {
		t.Errorf("submitted again it does %.1f units/s on %s", now, on)
	}
}

// explained is what the record of a job says of its nodes, and of its tolerance of network
// bandwidth.
func explained(ctx context.Context, t *testing.T, id string) string {
	t.Helper()
	d, err := book(t).Decision(ctx, workload(id))
	if err != nil || d.Outcome != placer.Placed {
		t.Fatalf("%s (%s), %v", d.Outcome, d.Reason, err)
	}
	text := d.Reason
	for _, c := range d.Candidates {
		text += "; " + c.Name + ": " + c.Why
	}
	e := d.Sensitivity.Tolerated[interference.NetworkBandwidth]
	return fmt.Sprintf("%s; tolerates %s (%s to %s) of network bandwidth, %s: %s", text, e.Score, e.Low, e.High, e.Origin, e.Note)
}

func score(points float64) interference.Estimate {
	return interference.Estimate{
		Score: interference.Percent(points), Low: interference.Percent(max(0, points-3)), High: interference.Percent(min(100, points+3)), Origin: interference.Measured,
	}
}

// profileSays replaces what the stored profile of a job says of interference.
func profileSays(ctx context.Context, t *testing.T, id string, s interference.Sensitivity) {
	t.Helper()
	profiles := store.Profiles{Store: book(t).Store}
	found := 0
	if _, err := profiles.Each(ctx, func(p profile.Profile, index uint64) error {
		if p.Workload != workload(id).String() {
			return nil
		}
		found++
		p.Sensitivity, p.Ramp = s, nil
		_, err := profiles.Put(ctx, p, index)
		return err
	}); err != nil || found != 1 {
		t.Fatalf("%d profiles of %s, %v", found, id, err)
	}
}

// experimentsOf are those that production has stored of a job.
func experimentsOf(ctx context.Context, t *testing.T, id string) (out []profile.Experiment) {
	t.Helper()
	if _, err := (store.Productions{Store: book(t).Store}).Each(ctx, func(p profile.Production, _ uint64) error {
		if p.Workload == workload(id).String() {
			out = append(out, p.Experiments...)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	return out
}
