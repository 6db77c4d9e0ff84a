package main

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/placement"
)

// admitPath is where the leading agent decides on jobs that are not registered yet.
const admitPath = "/v1/admit"

// instanceHeader of an answer repeats the instance in the leader's variable: whoever else
// listens at its address does not know that.
const instanceHeader = "Placer-Instance"

// maxAdmitBytes of a job; the proxy looks into no longer ones.
const maxAdmitBytes = 16 << 20

// admitted is the answer: a job to be registered as it is, or why it must be held.
type admitted struct {
	Job     map[string]any `json:",omitempty"`
	Message string         `json:",omitempty"`
	Hold    string         `json:",omitempty"`
}

// admitter answers for an agent.
type admitter struct {
	world    *nomadapi.World
	gate     *access.Gate
	holdPool string
	instance string // as in the leader's variable
	admit    func(context.Context, cluster.Job) (cluster.Plan, error)
	log      *slog.Logger
}

// ServeHTTP decides on the job in the request. Pages of other origins cannot ask: a
// browser would have to ask for leave first to send JSON, and gets none.
func (a admitter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "the job must be sent as application/json", http.StatusUnsupportedMediaType)
		return
	}
	caller, err := a.gate.Program(r)
	if err == nil {
		err = a.gate.Take(r)
	}
	if err != nil {
		a.refuse(w, err)
		return
	}
	var body map[string]any
	if err := command.DecodeNumbers(http.MaxBytesReader(w, r.Body, maxAdmitBytes), &body); err != nil {
		http.Error(w, "the job could not be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := a.decide(r.Context(), caller, body)
	if a.refuse(w, err) {
		return
	}
	if err != nil {
		a.log.Warn("a job could not be decided on before it is registered; it will be held", "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set(instanceHeader, a.instance)
	_ = json.NewEncoder(w).Encode(answer) // the reader may be gone
}

// refuse answers callers who may not ask.
func (a admitter) refuse(w http.ResponseWriter, err error) bool {
	refused, ok := errors.AsType[*access.Refusal](err)
	if ok {
		refused.Header(w.Header())
		http.Error(w, refused.Message, refused.Status)
	}
	return ok
}

// decide asks Nomad first whether the caller may submit the job: a decision takes time,
// keeps room on nodes free for a while, and names them.
func (a admitter) decide(ctx context.Context, caller *access.Caller, body map[string]any) (admitted, error) {
	if !nomadapi.StartsByItself(body) {
		return admitted{Hold: "the job must be held: its registration does not start it"}, nil
	}
	body, stored, err := nomadapi.Complete(body)
	if err != nil {
		return admitted{}, err
	}
	job := a.world.ReadJob(stored)
	may, err := caller.MaySubmitJobs(ctx, job.ID.Namespace)
	if err != nil {
		return admitted{}, err
	}
	if !may {
		return admitted{}, &access.Refusal{Status: http.StatusForbidden,
			Message: fmt.Sprintf("this token may not submit jobs in namespace %q: it needs submit-job there", job.ID.Namespace)}
	}
	plan, err := a.admit(ctx, job)
	if errors.Is(err, placement.ErrMustBeHeld) {
		return admitted{Hold: err.Error()}, nil
	}
	if err != nil {
		return admitted{}, err
	}
	rewritten, err := nomadapi.Rewrite(body, plan, a.holdPool)
	return admitted{Job: rewritten, Message: plan.Message}, err
}

// Admit implements proxy.Placer: it asks the leading agent.
func (p proxiedPlacer) Admit(ctx context.Context, body map[string]any) (job map[string]any, message string, err error) {
	agent, err := p.agent(ctx)
	if err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, agent.JoinPath(admitPath).String(), bytes.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if token := p.world.Token(); token != "" {
		r.Header.Set(nomadHeader, token) // our own: the user's goes to Nomad alone
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, "", fmt.Errorf("asking the leading agent: %w", err)
	}
	defer answer.Body.Close()
	if err := p.fromLeader(ctx, answer); err != nil {
		return nil, "", fmt.Errorf("%s: %w", agent.Host, err)
	}
	job, message, err = readAdmitted(answer)
	if err != nil {
		return nil, "", err
	}
	// Whoever listens at the leader's address answers, and what it answers is registered
	// with the rights of the job's user.
	if err := nomadapi.CheckRewrite(body, job, p.runPool); err != nil {
		return nil, "", fmt.Errorf("the answer of %s: %w", agent.Host, err)
	}
	return job, message, nil
}

// fromLeader checks that an answer comes from the agent that wrote the leader's variable.
// Agents that keep their records in a file elect no leader, and write none.
func (p proxiedPlacer) fromLeader(ctx context.Context, answer *http.Response) error {
	want, err := p.instance(ctx)
	if err != nil {
		return err
	}
	got := answer.Header.Get(instanceHeader)
	if answer.StatusCode == http.StatusOK && want != "" && subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 0 {
		return errImpostor
	}
	return nil
}

func readAdmitted(answer *http.Response) (job map[string]any, message string, err error) {
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 200)) // what there is of it
		return nil, "", fmt.Errorf("the leading agent answers %s: %s", answer.Status, bytes.TrimSpace(said))
	}
	var out admitted
	if err := command.DecodeNumbers(io.LimitReader(answer.Body, 2*maxAdmitBytes), &out); err != nil {
		return nil, "", fmt.Errorf("the leading agent's answer: %w", err)
	}
	if out.Job == nil {
		return nil, "", errors.New(out.Hold)
	}
	return out.Job, out.Message, nil
}

// dialAgentWithin: jobs are held where the agent's address leads nowhere, and should not
// wait for it long.
const dialAgentWithin = 500 * time.Millisecond

// agentClient asks the leading agent.
func agentClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: stayHere}
}
