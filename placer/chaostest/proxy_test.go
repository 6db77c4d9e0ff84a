package chaostest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// gate is the proxy, with the network between it and the others. It can be killed.
type gate struct {
	link   *link
	proxy  *proxy.Proxy
	cancel context.CancelFunc
	life   context.Context
}

// proxiedPlacer is the placer as the proxy asks it, as the program has it: the leading agent decides,
// and the records say how far a job is.
type proxiedPlacer struct {
	run   *run
	link  *link
	world *nomadapi.World
	book  journal.Book
}

// Extract implements proxy.Placer. No user of a history sends a jobspec.
func (proxiedPlacer) Extract(jobspec string) (string, func(map[string]any) error, error) {
	return jobspec, nil, nil
}

// Canonical implements proxy.Placer.
func (proxiedPlacer) Canonical(job map[string]any) error { return nomadapi.CanonicalKeys(job) }

// Check implements proxy.Placer: all jobs of a history have a block.
func (proxiedPlacer) Check(map[string]any) (bool, string, error) { return true, "", nil }

// Preview implements proxy.Placer.
func (proxiedPlacer) Preview(context.Context, map[string]any) (map[string]any, error) {
	return nil, errors.New("no user of a history plans")
}

// Admit implements proxy.Placer.
func (p proxiedPlacer) Admit(ctx context.Context, job map[string]any) (map[string]any, string, error) {
	leader, err := p.world.Leader(ctx)
	if err != nil {
		return nil, "", err
	}
	i, err := strconv.Atoi(leader.Address)
	if err != nil {
		return nil, "", err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent/v1/admit", nil)
	if err != nil {
		return nil, "", err
	}
	f := p.run.faultFor(p.link, q)
	if f != nil && f.before != nil {
		if answer, err := f.before(p.link, q); answer != nil || err != nil {
			return nil, "", errNetwork
		}
	}
	p.run.mu.Lock()
	a := p.run.agents[i]
	p.run.mu.Unlock()
	a.link.goOn(ctx)
	if a.link.isDead() || p.link.isDead() {
		return nil, "", errNetwork
	}
	rewritten, message, err := a.admit(ctx, job)
	if err == nil {
		err = nomadapi.CheckRewrite(job, rewritten, nomadapi.DefaultRunPool)
	}
	if f != nil && f.after != nil || p.link.isDead() {
		return nil, "", errNetwork
	}
	return rewritten, message, err
}

// admit decides on a job before it is registered.
func (a *agent) admit(ctx context.Context, body map[string]any) (map[string]any, string, error) {
	if !nomadapi.StartsByItself(body) {
		return nil, "", errors.New("its registration does not start it")
	}
	complete, stored, err := nomadapi.Complete(body)
	if err != nil {
		return nil, "", err
	}
	plan, err := a.engine.Admit(ctx, a.world.ReadJob(stored))
	if err != nil {
		return nil, "", err
	}
	rewritten, err := nomadapi.Rewrite(complete, plan, nomadapi.DefaultHoldPool)
	return rewritten, plan.Message, err
}

// Evaluation implements proxy.Placer.
func (p proxiedPlacer) Evaluation(ctx context.Context, id cluster.JobID) (cluster.Evaluation, error) {
	return p.book.Evaluation(ctx, id)
}

// Release implements proxy.Placer.
func (p proxiedPlacer) Release(ctx context.Context, id cluster.JobID, index uint64) error {
	_, err := p.world.ReleaseVersion(ctx, id, index)
	return err
}

// openGate starts a proxy.
func (r *run) openGate() {
	l := newLink(r, r.history.agents)
	clock := &machineClock{link: l, began: r.began}
	world, err := nomadapi.New(nomadapi.Options{Address: "http://nomad", Decode: decode, Clock: clock, Logger: slog.New(slog.DiscardHandler), Network: l})
	if err != nil {
		panic(err)
	}
	records, err := nomadvars.New(world.API(), nomadvars.Options{})
	if err != nil {
		panic(err)
	}
	p, err := proxy.New(proxy.Options{
		Nomad: &url.URL{Scheme: "unix", Path: "/nomad"}, Transport: l, Placer: proxiedPlacer{r, l, world, journal.Book{Store: records}},
		HoldPool: nomadapi.DefaultHoldPool, RunPool: nomadapi.DefaultRunPool, Clock: clock, Wait: waitsAtMost, Progress: len(r.jobs)%2 == 0,
	})
	if err != nil {
		panic(err)
	}
	life, cancel := context.WithCancel(context.Background())
	go world.Confirm(life)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = &gate{l, p, cancel, life}
}

// waitsAtMost is how long a user waits for an answer.
const waitsAtMost = time.Minute

// kill ends it; what it still does in the background reaches nobody.
func (g *gate) kill() {
	g.link.cut()
	g.cancel()
	go g.proxy.Close()
}

// request is a registration that a user sent to the proxy.
type request struct {
	spec  nomadtest.Object
	taken bool // by Nomad
}

// send has a user register a version of a job through the proxy. Nobody sends it again:
// whether a request without an answer took effect its user looks up.
func (r *run) send(l *ledger) {
	r.mu.Lock()
	g := r.gate
	l.sent++
	version := l.sent
	asked := &request{spec: r.specOf(l, version)}
	l.requests[version] = asked
	r.mu.Unlock()
	text, err := json.Marshal(nomadtest.Object{"Job": asked.spec})
	if err != nil {
		panic(err)
	}
	r.users.Go(func() {
		q := httptest.NewRequestWithContext(g.life, http.MethodPut, "http://proxy/v1/jobs", bytes.NewReader(text))
		answer := httptest.NewRecorder()
		if !served(g.proxy, answer, q) || g.link.isDead() {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if answer.Code == http.StatusOK {
			r.note(answersTrue, asked.taken, "the proxy answers 200 for version %d of %s, which Nomad never got: %s", version, l.id, answer.Body)
		}
	})
}

// served is false where the connection was broken off.
func served(p http.Handler, w http.ResponseWriter, q *http.Request) (whole bool) {
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler { //nolint:errorlint // it is panicked with as it is
			panic(failure)
		}
	}()
	p.ServeHTTP(w, q)
	return true
}

// passedOn judges a registration that the proxy sends for a user, and notes it where Nomad
// takes it. It needs the lock.
func (r *run) passedOn(body []byte) (l *ledger, written func(status int)) {
	var sent struct{ Job nomadtest.Object }
	if err := numbers(body, &sent); err != nil {
		r.note(passedWhole, false, "what the proxy sends is no job: %v", err)
		return nil, func(int) {}
	}
	id, _ := sent.Job["ID"].(string)
	l = r.byID(id)
	version := versionIn(sent.Job)
	if l == nil || l.requests[version] == nil {
		r.note(passedWhole, false, "the proxy registers version %d of %s, which nobody sent", version, id)
		return nil, func(int) {}
	}
	asked := l.requests[version]
	held := sent.Job["NodePool"] == nomadapi.DefaultHoldPool
	if held {
		as := normal(asked.spec)
		as["NodePool"] = nomadapi.DefaultHoldPool
		r.note(passedWhole, same(as, sent.Job), "the proxy holds version %d of %s, and changes more than its pool: %s", version, id, body)
	} else {
		as := normal(asked.spec)
		as["Namespace"] = "default" // the leading agent has to know it
		err := nomadapi.CheckRewrite(as, sent.Job, nomadapi.DefaultRunPool)
		r.note(passedWhole, err == nil && bytes.Contains(body, []byte("placer:v1")), "the proxy registers version %d of %s unheld, and it is not placed, or changed more: %v", version, id, err)
	}
	return l, func(status int) {
		if status != http.StatusOK {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.note(noneDoubled, !asked.taken, "the proxy registers version %d of %s twice", version, id)
		asked.taken = true
		l.began(version)
		if !held {
			l.at = l.submitted
		}
	}
}

// normal is an object as a JSON decoder gives it.
func normal(o nomadtest.Object) nomadtest.Object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out nomadtest.Object
	if err := numbers(text, &out); err != nil {
		panic(err)
	}
	return out
}

// numbers decodes without a loss, as the programs do.
func numbers(text []byte, out any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(out)
}

func same(a, b nomadtest.Object) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
