package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/placer/placement"
)

const aheadJob = `{"ID":"web","Namespace":"default","Type":"service","NodePool":"placer","Unknown":1.50,"TaskGroups":[{"Name":"main","Count":1,
"Meta":{"performance":"target {\n best_effort = true\n}"},"Tasks":[{"Name":"main","Driver":"exec","Resources":{"CPU":100,"MemoryMB":64}}]}]}`

// ask sends a job through the agent's handler and the proxy's reader.
func askAdmitter(t *testing.T, job string, admit func(context.Context, cluster.Job) (cluster.Plan, error)) (map[string]any, string, error) {
	t.Helper()
	nomad := nomadtest.New(t) // without access control
	return askAs(t, nomad, "", job, admit)
}

// askAs is askAdmitter for a proxy with a token.
func askAs(t *testing.T, nomad *nomadtest.Server, token, job string, admit func(context.Context, cluster.Job) (cluster.Plan, error)) (map[string]any, string, error) {
	t.Helper()
	world, err := nomadapi.New(nomadapi.Options{Address: nomad.URL, Token: "of-the-agent", Decode: decodeBlock})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+admitPath, admitter{world, gateFor(t, world), "placer", "made-up", admit, slog.New(slog.DiscardHandler)})
	return askAt(t, mux, token, job)
}

func gateFor(t *testing.T, world *nomadapi.World) *access.Gate {
	t.Helper()
	gate, err := access.New(access.Options{Nomad: world, RecordsNamespace: "default", RecordsPrefix: "nomad-placer", Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

// Whoever may not submit the job in its namespace has nothing decided, and does not
// learn on which nodes there is room.
func TestOnlyWhoMaySubmitAJobHasItDecided(t *testing.T) {
	t.Parallel()
	nomad := nomadtest.New(t)
	nomad.Tokens = map[string]nomadtest.Token{
		"of-the-agent": {Name: "agent"}, "of-the-proxy": {May: []string{"submit-job default"}}, "of-another": {May: []string{"submit-job other", "read-job default"}},
	}
	other := strings.Replace(aheadJob, `"Namespace":"default"`, `"Namespace":"other"`, 1)
	for name, c := range map[string]struct {
		token, job, refused string
	}{
		"its own":             {"of-the-proxy", aheadJob, ""},
		"no token":            {"", aheadJob, "401"},
		"unknown token":       {"guessed", aheadJob, "401"},
		"of another":          {"of-another", aheadJob, "403"},
		"a job of another":    {"of-the-proxy", other, "403"},
		"its own of another":  {"of-another", other, ""},
		"another's in a case": {"of-the-proxy", strings.Replace(aheadJob, `"Namespace":"default"`, `"Namespace":"default","namespace":"other"`, 1), "403"},
	} {
		t.Run(name, func(t *testing.T) {
			decided := ""
			_, _, err := askAs(t, nomad, c.token, c.job, func(_ context.Context, job cluster.Job) (cluster.Plan, error) {
				decided = job.ID.Namespace
				return cluster.Plan{}, placement.ErrMustBeHeld
			})
			if c.refused == "" && (err == nil || strings.Contains(err.Error(), "agent answers 4")) || c.refused != "" && (decided != "" || err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("decided for %q: %v", decided, err)
			}
		})
	}
	if writes := nomad.JobIDs(); len(writes) > 0 {
		t.Errorf("asking left jobs: %v", writes)
	}
}

// A login of a browser is no token for this: no page can have jobs decided on.
func TestALoginDecidesOnNoJob(t *testing.T) {
	t.Parallel()
	nomad := nomadtest.New(t)
	nomad.Tokens = map[string]nomadtest.Token{"of-the-agent": {}, "of-a-person": {}}
	world, err := nomadapi.New(nomadapi.Options{Address: nomad.URL, Token: "of-the-agent", Decode: decodeBlock})
	if err != nil {
		t.Fatal(err)
	}
	gate := gateFor(t, world)
	form := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("token=of-a-person"))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if err := gate.Login(w, form); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, admitPath, strings.NewReader(aheadJob))
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(w.Result().Cookies()[0])
	w = httptest.NewRecorder()
	admitter{world: world, gate: gate, log: slog.New(slog.DiscardHandler)}.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// One source has no more decided than its share.
func TestDecisionsOfOneSourceAreBounded(t *testing.T) {
	t.Parallel()
	world, err := nomadapi.New(nomadapi.Options{Address: nomadtest.New(t).URL, Decode: decodeBlock})
	if err != nil {
		t.Fatal(err)
	}
	a := admitter{world: world, gate: gateFor(t, world), log: slog.New(slog.DiscardHandler), admit: func(context.Context, cluster.Job) (cluster.Plan, error) {
		return cluster.Plan{}, placement.ErrMustBeHeld
	}}
	limited := false
	for range 100_000 {
		r := httptest.NewRequest(http.MethodPost, admitPath, strings.NewReader("{"))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if limited = w.Code == http.StatusTooManyRequests; limited {
			break
		}
	}
	if !limited {
		t.Error("100,000 requests were not slowed down")
	}
}

// askAt sends a job through the proxy to whatever answers for an agent.
func askAt(t *testing.T, agent http.Handler, token, job string) (map[string]any, string, error) {
	t.Helper()
	server := httptest.NewServer(agent)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	world, err := nomadapi.New(nomadapi.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	placer := proxiedPlacer{
		world:    world,
		agent:    func(context.Context) (*url.URL, error) { return at, nil },
		instance: func(context.Context) (string, error) { return "made-up", nil },
		client:   agentClient(http.DefaultTransport), runPool: "default",
	}
	var body map[string]any
	if err := command.DecodeNumbers(strings.NewReader(job), &body); err != nil {
		t.Fatal(err)
	}
	return placer.Admit(t.Context(), body)
}

// Where no agent runs, any program can listen at its address. Its answer is not registered
// if it changes more than a placement may.
func TestAnAnswerThatChangesTheJobIsNotRegistered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(job, group, task map[string]any)
		ok     bool
	}{
		"a node list of ours": {func(_, group, _ map[string]any) {
			group["Constraints"] = []any{map[string]any{"LTarget": "${node.unique.id}", "RTarget": "placer:v1,n1", "Operand": "set_contains_any"}}
		}, true},
		"another command":      {func(_, _, task map[string]any) { task["Config"] = map[string]any{"command": "/bin/evil"} }, false},
		"another driver":       {func(_, _, task map[string]any) { task["Driver"] = "raw_exec" }, false},
		"one more task":        {func(_, group, task map[string]any) { group["Tasks"] = []any{task, task} }, false},
		"a count without mark": {func(_, group, _ map[string]any) { group["Count"] = 50 }, false},
		"another constraint": {func(_, group, _ map[string]any) {
			group["Constraints"] = []any{map[string]any{"LTarget": "${node.class}", "RTarget": "x"}}
		}, false},
		"another pool": {func(job, _, _ map[string]any) { job["NodePool"] = "secret" }, false},
		"another name": {func(job, _, _ map[string]any) { job["ID"] = "db" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rogue := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var job map[string]any
				if err := command.DecodeNumbers(r.Body, &job); err != nil {
					t.Error(err)
				}
				job, _, err := nomadapi.Complete(job)
				if err != nil {
					t.Error(err)
				}
				job["NodePool"] = "default"
				group := job["TaskGroups"].([]any)[0].(map[string]any)
				c.change(job, group, group["Tasks"].([]any)[0].(map[string]any))
				w.Header().Set(instanceHeader, "made-up")
				if err := json.NewEncoder(w).Encode(admitted{Job: job}); err != nil {
					t.Error(err)
				}
			})
			job, _, err := askAt(t, rogue, "", aheadJob)
			if c.ok != (err == nil) || c.ok != (job != nil) || !c.ok && !errors.Is(err, nomadapi.ErrForeignRewrite) {
				t.Errorf("%v, %v", job, err)
			}
		})
	}
}

// The agent that leads says in its answers what only the leader's variable says: whoever
// else listens at its address cannot.
func TestAnAnswerOfAnotherThanTheLeaderIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says string
		ok   bool
	}{"the leader": {"made-up", true}, "an agent of before": {"", false}, "somebody else": {"guessed", false}} {
		rogue := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var job map[string]any
			if err := command.DecodeNumbers(r.Body, &job); err != nil {
				t.Error(err)
			}
			job, _, err := nomadapi.Complete(job)
			if err != nil {
				t.Error(err)
			}
			job["NodePool"] = "default"
			if c.says != "" {
				w.Header().Set(instanceHeader, c.says)
			}
			if err := json.NewEncoder(w).Encode(admitted{Job: job}); err != nil {
				t.Error(err)
			}
		})
		if _, _, err := askAt(t, rogue, "", aheadJob); c.ok != (err == nil) || !c.ok && !errors.Is(err, errImpostor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAdmitRewrites(t *testing.T) {
	t.Parallel()
	job, message, err := askAdmitter(t, aheadJob, func(_ context.Context, job cluster.Job) (cluster.Plan, error) {
		if !job.Held || len(job.Workloads) != 1 || job.Workloads[0].Datacenters[0] != "*" {
			return cluster.Plan{}, fmt.Errorf("asked about %+v", job)
		}
		d := cluster.Decision{Workload: job.Workloads[0].ID, Outcome: cluster.Placed, Count: 1, Candidates: []cluster.Candidate{{Node: "n1"}}}
		return cluster.Plan{Job: job, Decisions: []cluster.Decision{d}, Message: "placed on n1"}, nil
	})
	if err != nil || message != "placed on n1" {
		t.Fatalf("%q, %v", message, err)
	}
	group := job["TaskGroups"].([]any)[0].(map[string]any)
	if nodes, bound := nomadapi.ShortlistOf(group); !bound || len(nodes) != 1 || nodes[0] != "n1" {
		t.Errorf("bound to %v", nodes)
	}
	if job["NodePool"] != "default" || fmt.Sprint(job["Unknown"]) != "1.50" {
		t.Errorf("job %v", job)
	}
}

func TestAdmitSaysWhyNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  string
		err  error
		want string
	}{
		"held":     {aheadJob, fmt.Errorf("%w: no profile", placement.ErrMustBeHeld), "no profile"},
		"failed":   {aheadJob, errors.New("the store is away"), "500"},
		"periodic": {strings.Replace(aheadJob, `"Type"`, `"Periodic":{"Spec":"@daily"},"Type"`, 1), nil, "does not start it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, _, err := askAdmitter(t, c.job, func(context.Context, cluster.Job) (cluster.Plan, error) { return cluster.Plan{}, c.err })
			if job != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v", job, err)
			}
		})
	}
}

// What is no JSON by its own account, or by ours, is not looked at further.
func TestAdmitRefusesOtherText(t *testing.T) {
	t.Parallel()
	world, err := nomadapi.New(nomadapi.Options{Address: nomadtest.New(t).URL})
	if err != nil {
		t.Fatal(err)
	}
	a := admitter{gate: gateFor(t, world), log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		kind, body string
		status     int
	}{{"text/plain", aheadJob, http.StatusUnsupportedMediaType}, {"", aheadJob, http.StatusUnsupportedMediaType}, {"application/json", "{", http.StatusBadRequest}} {
		r := httptest.NewRequest(http.MethodPost, admitPath, io.NopCloser(strings.NewReader(c.body)))
		r.Header.Set("Content-Type", c.kind)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%q %q: %d", c.kind, c.body, w.Code)
		}
	}
}
