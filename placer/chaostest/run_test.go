package chaostest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// What the promises allow, chosen by us. A job is released by the guard of any agent five
// seconds after its deadline, which the guard sees within its poll, after the longest wait
// between two attempts. Of an event that was lost an agent learns from the next list.
const (
	releaseSlack  = 5*time.Second + 2*time.Second + 5*time.Second + 3*time.Second
	relisted      = 35 * time.Second
	quietFor      = 10 * time.Second
	writesAtMost  = 60 // of one version by all agents, also those that are refused
	mostReleases  = 1
	serverSkewMax = 10 * time.Minute
	stockMargin   = 6 * time.Second // before its deadline a job is left to Nomad
	nodeMHz       = 8000
)

// run is one history under way.
type run struct {
	history history
	nomad   *nomadtest.Server
	handler http.Handler
	began   time.Time

	writing sync.Mutex // a write of an agent, or of a user, with what is noted of it

	mu     sync.Mutex
	links  []*link
	agents []*agent
	jobs   []*ledger
	holder map[string]int // agent by lock
	counts map[int]int    // requests that an injection could strike
	starts int
	tally  tally
	broken []string
}

// ledger is what a job's user knows.
type ledger struct {
	id        string
	version   int // how often it was submitted
	gone      bool
	refused   bool
	large     bool
	submitted time.Time
	hold      time.Duration
	released  int // of this version
	at        time.Time
	attempts  int
	notes     int
}

// play runs a history and returns the promises that it broke.
func play(t *testing.T, h history) (broken []string, counted tally) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{history: h, began: time.Now(), holder: map[string]int{}, counts: map[int]int{}}
		r.nomad, r.handler = nomadtest.Unconnected()
		r.nomad.Now, r.nomad.AutoPlace = time.Now, true
		for i := range 3 {
			r.nomad.AddNode(nomadtest.Node{ID: fmt.Sprintf("%08d-0000-0000-0000-000000000000", i+1), Class: "fast", CPUMHz: nodeMHz, MemoryMB: 8192, Drivers: []string{"exec"}})
		}
		r.agents = make([]*agent, h.agents)
		r.links = make([]*link, h.agents)
		for i, j := range h.jobs {
			r.jobs = append(r.jobs, &ledger{id: fmt.Sprintf("job-%d", i), hold: j.hold, refused: j.refused, large: j.large, gone: true})
		}
		for i := range h.agents {
			r.start(i)
		}
		r.play()
		r.settle()
		for _, a := range r.agents {
			a.end()
		}
		synctest.Wait()
		broken, counted = r.broken, r.tally
	})
	return broken, counted
}

func (r *run) at() time.Duration { return time.Since(r.began) }

// step is something that happens at a time.
type step struct {
	at time.Duration
	do func()
}

func (r *run) play() {
	var steps []step
	for i, j := range r.history.jobs {
		steps = append(steps, step{j.at, func() { r.submit(r.jobs[i]) }})
	}
	for _, a := range r.history.acts {
		steps = append(steps, r.stepsOf(a)...)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	for _, s := range steps {
		time.Sleep(s.at - r.at())
		s.do()
	}
	time.Sleep(calm - r.at())
}

func (r *run) stepsOf(a act) []step {
	job, which := r.jobs[a.target%len(r.jobs)], a.target%r.history.agents
	switch a.deed {
	case change:
		return []step{{a.at, func() {
			if !job.gone {
				r.submit(job)
			}
		}}}
	case stop, purge:
		return []step{{a.at, func() {
			r.writing.Lock()
			defer r.writing.Unlock()
			r.mu.Lock()
			was := job.gone
			job.gone = true
			r.mu.Unlock()
			if !was && a.deed == purge {
				r.nomad.Purge("default", job.id)
			} else if !was {
				r.nomad.Stop("default", job.id)
			}
		}}}
	case kill:
		return []step{{a.at, func() { r.agents[which].kill() }}, {a.at + a.lasts, func() { r.start(which) }}}
	case pause:
		return []step{{a.at, func() { r.links[which].pause(a.lasts) }}}
	default: // loseNode
		node := fmt.Sprintf("%08d-0000-0000-0000-000000000000", a.target%3+1)
		return []step{{a.at, func() { r.nomad.SetNodeStatus(node, "down") }}, {a.at + a.lasts, func() { r.nomad.SetNodeStatus(node, "ready") }}}
	}
}

func (r *run) submit(l *ledger) {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	l.version++
	l.gone, l.submitted, l.released, l.attempts, l.notes = false, time.Now(), 0, 0, 0
	spec := nomadtest.Object{
		"ID": l.id, "NodePool": nomadapi.DefaultHoldPool,
		"TaskGroups": []any{nomadtest.Object{
			"Name": "g", "Count": 1, "EphemeralDisk": nomadtest.Object{"SizeMB": 10}, "Meta": nomadtest.Object{nomadapi.MetaKey: l.hold.String()},
			"Tasks": []any{nomadtest.Object{
				"Name": "main", "Driver": "exec", "Env": nomadtest.Object{"VERSION": fmt.Sprint(l.version)},
				"Resources": nomadtest.Object{"CPU": map[bool]int{false: 100, true: 2 * nodeMHz}[l.large], "MemoryMB": 64},
			}},
		}},
	}
	r.mu.Unlock()
	r.nomad.Submit(spec, "")
}

// settle waits until every promise must hold again, and looks.
func (r *run) settle() {
	limit := calm
	for _, l := range r.jobs {
		limit = max(limit, r.dueBy(l).Sub(r.began))
	}
	time.Sleep(limit + time.Second - r.at())
	synctest.Wait()
	before := r.check()
	time.Sleep(quietFor)
	synctest.Wait()
	for i, l := range r.jobs {
		if !l.gone && !l.refused {
			r.try(quietAtLast, before[i] == r.index(l), "%s is written again, at index %s after %s", l.id, r.index(l), before[i])
		}
	}
}

func (r *run) index(l *ledger) string {
	return fmt.Sprint(r.nomad.Job("default", l.id)["JobModifyIndex"])
}

func (r *run) check() []string {
	indexes := make([]string, len(r.jobs))
	for i, l := range r.jobs {
		if l.gone {
			continue
		}
		indexes[i] = r.index(l)
		job := r.nomad.Job("default", l.id)
		r.try(noneLost, job != nil && job["Stop"] != true, "%s is lost", l.id)
		if job == nil {
			continue
		}
		r.try(noneOverwritten, versionIn(job) == l.version, "%s is of version %d, and its user submitted %d", l.id, versionIn(job), l.version)
		r.try(fewWrites, l.attempts+l.notes <= writesAtMost, "%s: %d writes and %d notes", l.id, l.attempts, l.notes)
		if l.refused {
			continue
		}
		held := job["NodePool"] == nomadapi.DefaultHoldPool
		r.try(noneHeld, !held, "%s is still held", l.id)
		r.try(noneDoubled, l.released <= mostReleases, "%s was released %d times", l.id, l.released)
		if !held {
			by := r.dueBy(l)
			r.try(noneHeld, !l.at.After(by), "%s was released %s late", l.id, l.at.Sub(by))
		}
	}
	return indexes
}

// dueBy is when a job has to be released: when one agent has been well for releaseSlack
// since its deadline.
func (r *run) dueBy(l *ledger) time.Time {
	deadline := l.submitted.Add(l.hold).Sub(r.began)
	due := time.Hour
	for i := range r.history.agents {
		due = min(due, r.wellFrom(i, deadline)+releaseSlack)
	}
	return r.began.Add(due)
}

// wellFrom is when an agent is well for as long as a release takes, at from or later.
func (r *run) wellFrom(agent int, from time.Duration) time.Duration {
	ills := r.illsOf(agent)
	for again := true; again; {
		again = false
		for _, ill := range ills {
			if ill[0] < from+releaseSlack && from < ill[1] {
				from, again = ill[1], true
			}
		}
	}
	return from
}

// illsOf are the times in which an agent is not well.
func (r *run) illsOf(agent int) [][2]time.Duration {
	var out [][2]time.Duration
	for _, f := range r.history.faults {
		if f.agent%r.history.agents == agent {
			end := f.at + f.lasts
			if faults[f.fault].where == events {
				end += relisted
			}
			out = append(out, [2]time.Duration{f.at, end})
		}
	}
	for _, a := range r.history.acts {
		if (a.deed == kill || a.deed == pause) && a.target%r.history.agents == agent {
			out = append(out, [2]time.Duration{a.at, a.at + a.lasts})
		}
	}
	return out
}

func versionIn(job nomadtest.Object) int {
	text, err := json.Marshal(job)
	if err != nil {
		panic(err)
	}
	var read struct {
		TaskGroups []struct {
			Tasks []struct{ Env map[string]string }
		}
	}
	version := 0
	if json.Unmarshal(text, &read) == nil && len(read.TaskGroups) == 1 && len(read.TaskGroups[0].Tasks) == 1 {
		_, _ = fmt.Sscan(read.TaskGroups[0].Tasks[0].Env["VERSION"], &version) // 0 is none
	}
	return version
}

// try counts a promise.
func (r *run) try(p promise, kept bool, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(p, kept, format, args...)
}

// note needs the lock.
func (r *run) note(p promise, kept bool, format string, args ...any) {
	r.tally.tried[p]++
	if !kept {
		r.tally.broken[p]++
		r.broken = append(r.broken, promiseTexts[p]+": "+fmt.Sprintf(format, args...))
	}
}

// faultFor is the fault that strikes a request; nil for none.
func (r *run) faultFor(l *link, q *http.Request) *fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if job := r.jobOf(q); job != nil && job.refused && q.Method == http.MethodPut && !strings.HasSuffix(q.URL.Path, "/scale") {
		job.attempts++
		return &faults[0]
	}
	for i, f := range r.history.faults {
		if f.agent%r.history.agents != l.agent || r.at() < f.at || r.at() >= f.at+f.lasts || !faults[f.fault].strikes(q) {
			continue
		}
		if r.counts[i]++; r.counts[i]%f.every == 0 {
			return &faults[f.fault]
		}
	}
	return nil
}

// linesOf is what becomes of a line of the event stream.
func (r *run) linesOf(l *link, line []byte) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range r.history.faults {
		if faults[f.fault].line == nil || f.agent%r.history.agents != l.agent || r.at() < f.at || r.at() >= f.at+f.lasts {
			continue
		}
		if r.counts[i]++; r.counts[i]%f.every == 0 {
			return faults[f.fault].line(l, line)
		}
	}
	return [][]byte{line}
}

// jobOf is the user's job that a request is about; nil for none.
func (r *run) jobOf(q *http.Request) *ledger {
	rest, ok := strings.CutPrefix(q.URL.Path, "/v1/job/")
	id, _, _ := strings.Cut(rest, "/")
	i := slices.IndexFunc(r.jobs, func(l *ledger) bool { return l.id == id })
	if !ok || i < 0 {
		return nil
	}
	return r.jobs[i]
}

// watch judges a write when it reaches Nomad; written gets Nomad's answer.
func (r *run) watch(l *link, q *http.Request, body []byte) (written func(status int)) {
	if q.Method == http.MethodGet {
		return func(int) {}
	}
	lock := r.nomad.LockedBy("default", nomadapi.LeaderPath)
	r.mu.Lock()
	defer r.mu.Unlock()
	if cluster.LeaseOf(q.Context()) != nil {
		r.note(oneWriter, lock == "" || r.holder[lock] == l.agent, "agent %d sends %s %s at %s, and agent %d leads", l.agent, q.Method, q.URL.Path, r.at(), r.holder[lock])
	}
	if strings.Contains(q.URL.RawQuery, "lock-acquire") {
		return func(status int) {
			if status == http.StatusOK {
				now := r.nomad.LockedBy("default", nomadapi.LeaderPath)
				r.mu.Lock()
				r.holder[now] = l.agent
				r.mu.Unlock()
			}
		}
	}
	job := r.jobOf(q)
	if job == nil {
		return func(int) {}
	}
	if q.Method == http.MethodDelete {
		r.note(noneLost, false, "agent %d removes %s", l.agent, job.id)
	}
	if strings.HasSuffix(q.URL.Path, "/scale") {
		job.notes++
		return func(int) {}
	}
	job.attempts++
	return func(status int) { r.registered(job, body, status) }
}

// registered judges a registration of a user's job by an agent that Nomad took.
func (r *run) registered(job *ledger, body []byte, status int) {
	if status != http.StatusOK {
		return
	}
	var sent struct{ Job nomadtest.Object }
	if err := json.Unmarshal(body, &sent); err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(noneOverwritten, !job.gone && versionIn(sent.Job) == job.version, "version %d of %s is written over version %d (gone %t)", versionIn(sent.Job), job.id, job.version, job.gone)
	job.released++
	job.at = time.Now()
	early := time.Until(job.submitted.Add(job.hold)) > stockMargin
	if early && !r.mayGiveUp() {
		r.note(noneGivenUp, bytes.Contains(body, []byte("placer:v1")), "%s is left to Nomad %s after it was submitted, with a hold of %s", job.id, time.Since(job.submitted), job.hold)
	}
}

// mayGiveUp: something refuses what the placer writes, or the records that it needs.
func (r *run) mayGiveUp() bool {
	return slices.ContainsFunc(r.history.faults, func(f injection) bool {
		k := faults[f.fault]
		return k.name == faults[0].name || k.where == records || k.where == reads
	})
}

// agent is one instance of nomad-placer.
type agent struct {
	link   *link
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// skewed is a machine's clock.
type skewed struct {
	by   time.Duration
	link *link
}

func (c skewed) Now() time.Time { return time.Now().Add(c.by) }

// After is held up while the agent is paused.
func (c skewed) After(d time.Duration) <-chan time.Time {
	c.link.mu.Lock()
	left := time.Until(c.link.until)
	c.link.mu.Unlock()
	return time.After(max(d, left))
}

// start starts an agent that has never heard of anything.
func (r *run) start(i int) {
	if r.agents[i] != nil && !r.agents[i].link.isDead() {
		return
	}
	r.starts++
	l := &link{run: r, agent: i, server: r.handler, seen: map[string][]byte{}}
	a := &agent{link: l}
	// Each machine's clock is off by another amount: none, ahead, behind.
	clock := skewed{[]time.Duration{0, serverSkewMax, -serverSkewMax}[r.starts%3], l}
	quiet := slog.New(slog.DiscardHandler)
	if testing.Verbose() && *traced {
		quiet = slog.New(slog.NewTextHandler(io.Writer(tracer{r, i}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	world, err := nomadapi.New(nomadapi.Options{
		Address: "http://nomad", Decode: decode, Clock: clock, Logger: quiet, Network: l,
	})
	if err != nil {
		panic(err)
	}
	records, err := nomadvars.New(world.API(), nomadvars.Options{})
	if err != nil {
		panic(err)
	}
	e, err := engine.New(engine.Config{World: world, Store: records, Clock: world.ServerClock(), Log: quiet, Adapter: "none", Policy: "least-loaded", ObserveEvery: time.Minute})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	for _, part := range []func(context.Context) error{
		world.Watch, e.WatchDeadlines,
		func(ctx context.Context) error {
			return world.NewElector(nomadapi.Leader{Address: fmt.Sprint(i)}).Run(ctx, func(ctx context.Context) error { return lead(ctx, world, e) })
		},
	} {
		a.ended.Go(func() { _ = part(ctx) }) // it ends with its context
	}
	r.agents[i], r.links[i] = a, l
}

// lead is what the agent does while it leads.
func lead(ctx context.Context, world *nomadapi.World, e *engine.Engine) error {
	for ctx.Err() == nil {
		_, err := world.EnsureHoldPool(ctx)
		if err == nil {
			err = e.Run(ctx)
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
	return ctx.Err()
}

// kill ends the agent between two of its effects: what its goroutines do from here on
// reaches nobody.
func (a *agent) kill() {
	a.link.cut()
	a.cancel()
}

// end stops it and waits for it.
func (a *agent) end() {
	a.kill()
	a.ended.Wait()
}

// decode reads a performance block of this package: its hold.
func decode(text, _ string) (performance.Spec, []string, error) {
	hold, err := time.ParseDuration(text)
	return performance.Spec{Target: performance.Target{Kind: performance.BestEffort}, SlowdownMaxPercent: 5, Hold: hold}, nil, err
}
