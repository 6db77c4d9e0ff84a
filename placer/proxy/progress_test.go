package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// asCommandLine asks for an evaluation as Nomad's library does.
func (f *front) asCommandLine(t *testing.T, evaluation string) map[string]any {
	t.Helper()
	status, body, _ := f.send(t, "GET", "/v1/evaluation/"+evaluation, "")
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	return fields
}

// until asks again and again, as the command line does, until an evaluation has
// the status; it returns every status seen.
func (f *front) until(t *testing.T, evaluation string, done func(map[string]any) bool) (seen []string, last map[string]any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		last = f.asCommandLine(t, evaluation)
		if s := last["Status"].(string); len(seen) == 0 || seen[len(seen)-1] != s {
			seen = append(seen, s)
		}
		if done(last) {
			return seen, last
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain; seen %q", seen)
	return nil, nil
}

func withProgress(o *proxy.Options) { o.Progress = true }

// The registration of a held job is answered at once; its evaluation tells the
// stages, then the decision, and then names the released version's evaluation.
func TestProgressOfAHeldJob(t *testing.T) {
	t.Parallel()
	f := open(t, withProgress)
	half := 0.57
	f.placer.evaluation = &cluster.Evaluation{
		StartedAt: time.Now(), Deadline: time.Now().Add(time.Hour), Stage: cluster.StageProfile, Group: "g", Message: "presses on integer units", Fraction: &half,
	}
	status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets)
	if status != 200 || !strings.Contains(body, `"eval-11"`) || !strings.Contains(body, "held until nodes are chosen") {
		t.Fatalf("%d %s", status, body)
	}
	const profiling = "nomad-placer: profile g: presses on integer units (50 %)"
	_, during := f.until(t, "eval-11", func(e map[string]any) bool { return e["Status"] == profiling })
	for _, empty := range []string{"BlockedEval", "DeploymentID", "NextEval"} {
		if during[empty] != "" {
			t.Errorf("while it is held: %s is %v", empty, during[empty])
		}
	}
	if during["FailedTGAllocs"] != nil || during["StatusDescription"] != profiling || during["Kept"] != 1.0 {
		t.Errorf("while it is held: %v", during)
	}
	f.placer.mu.Lock()
	f.placer.evaluation = &cluster.Evaluation{StartedAt: time.Now(), Stage: cluster.StageObserve, Message: "placed on node-1"}
	f.placer.mu.Unlock()
	f.nomad.release("default")
	seen, last := f.until(t, "eval-11", func(e map[string]any) bool { return e["Status"] == "complete" })
	if last["NextEval"] != "eval-12" || seen[len(seen)-2] != "nomad-placer: placed on node-1" {
		t.Errorf("seen %q, last %v", seen, last)
	}
	// Other evaluations are Nomad's.
	if other := f.asCommandLine(t, "eval-12"); other["BlockedEval"] != "blocked" {
		t.Errorf("another evaluation: %v", other)
	}
}

// A client that may not know our words gets those that it knows.
func TestProgressForOtherClients(t *testing.T) {
	t.Parallel()
	f := open(t, withProgress)
	f.send(t, "PUT", "/v1/jobs", withTargets)
	read := func() map[string]any {
		_, data := get(t, "GET", f.url+"/v1/evaluation/eval-11", map[string]string{"User-Agent": "python-nomad"})
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		return fields
	}
	if got := read(); got["Status"] != "pending" || !strings.HasPrefix(got["StatusDescription"].(string), "nomad-placer: ") {
		t.Errorf("%v", got)
	}
	f.nomad.release("default")
	for range 2000 {
		if got := read(); got["Status"] == "complete" && got["NextEval"] == "eval-12" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("never complete")
}

// A user who has gone does not take the deadline along: the job is released all
// the same.
func TestFailsOpenWithoutAUser(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.Progress, o.TakenUpWithin = true, 50*time.Millisecond })
	f.placer.taken = false
	f.placer.release = func() { f.nomad.release("default") }
	f.send(t, "PUT", "/v1/jobs", withTargets)
	seen, _ := f.until(t, "eval-11", func(e map[string]any) bool { return e["NextEval"] == "eval-12" })
	if !strings.Contains(strings.Join(seen, "|"), "stock rules") {
		t.Errorf("seen %q", seen)
	}
}

// An agent that took the job up and let its deadline pass, or whose records hang,
// holds nothing for ever.
func TestFailsOpenBehindAnAgentThatDied(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*front){
		"deadline passed": func(f *front) {
			f.placer.evaluation = &cluster.Evaluation{StartedAt: time.Now(), Deadline: time.Now().Add(20 * time.Millisecond), Stage: cluster.StageProfile}
		},
		"records hang": func(f *front) { f.placer.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, func(o *proxy.Options) { o.TakenUpWithin, o.PlacerWithin = 50*time.Millisecond, 20*time.Millisecond })
			f.placer.release = func() { f.nomad.release("default") }
			change(f)
			status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets)
			if status != 200 || !strings.Contains(body, "stock rules") || !strings.Contains(body, "eval-12") {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// Where a job cannot be followed, its evaluation is as Nomad has it.
func TestProgressOfAJobThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	f := open(t, withProgress)
	f.nomad.deny = true
	f.send(t, "PUT", "/v1/jobs", withTargets)
	f.until(t, "eval-11", func(e map[string]any) bool { return e["BlockedEval"] == "blocked" && e["Status"] == "complete" })
}

// A check that panics costs the placement, never the job.
func TestCheckThatPanics(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	f.placer.panics = errors.New("nil map")
	for _, path := range []string{"/v1/jobs", "/v1/job/web/plan", "/v1/validate/job"} {
		if status, body, _ := f.send(t, "PUT", path, withTargets); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if got := f.nomad.writes(); got[0] != withTargets {
		t.Errorf("Nomad got %q", got)
	}
}
