package chaostest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adaptation"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// What the promises allow, chosen by us. A job is released five seconds after its deadline
// by the guard of any agent that is well then: a second of grace for the leader, two until
// it looks, and what the requests take. An agent that was not well may need longer, see
// recovery.
const (
	releaseSlack  = 5 * time.Second
	relisted      = 35 * time.Second // an agent learns of an event that was lost from the next list
	retried       = 7 * time.Second  // the longest wait between two attempts, and until it looks
	quietFor      = 10 * time.Second
	writesAtMost  = 60 // of one version by all agents, also those that are refused
	mostReleases  = 1
	serverSkewMax = 10 * time.Minute
	stockMargin   = 6 * time.Second // before its deadline a job is left to Nomad
	nodeMHz       = 8000
	swept         = 10 * time.Second // runs and transfers are looked through this often
	// A run may last as long as its job is held; then it is stopped, removed and swept.
	runsAtMost = 30*time.Second + 12*time.Second + 20*time.Second + swept + 3*time.Second
	// Only the leader dispatches: its lock runs out, another agent takes it and reads the
	// jobs, and one that was refused is tried again.
	leadsAgain = 15*time.Second + 3*time.Second + relisted + time.Minute
	adaptsFor  = 60 * time.Second
	heardSince = time.Second // an agent that was told of a newer version
	// Records of a purged job: the leader looks for those that it does not know of every two
	// minutes, and asks for a job again after one at most where Nomad gave no answer until now.
	forgottenIn = 4 * time.Minute
)

// run is one history under way.
type run struct {
	history history
	nomad   *nomadtest.Server
	handler http.Handler
	began   time.Time

	writing sync.Mutex // a write of an agent, or of a user, with what is noted of it
	users   sync.WaitGroup
	servers atomic.Int64 // nanoseconds by which their clock was set; Nomad asks for it under its own lock

	mu       sync.Mutex
	gate     *gate
	agents   []*agent
	jobs     []*ledger
	children []child        // of one goroutine
	holder   map[string]int // agent by lock
	counts   map[int]int    // requests that an injection could strike
	starts   int
	driven   int                  // requests to the driver so far
	made     map[string]time.Time // profiling runs, by job
	byAgents map[uint64]bool      // indexes of versions that agents wrote
	tally    tally
	broken   []string
}

// ledger is what a job's user knows.
type ledger struct {
	submission
	id        string
	sent      int // how often its user asked for a version
	version   int // that Nomad has
	gone      bool
	submitted time.Time
	released  int // of this version
	at        time.Time
	attempts  int
	notes     int
	ended     bool             // at some time, by its user
	purged    bool             // and not submitted since
	requests  map[int]*request // to the proxy, by version

	overtakes   bool // its user acts when Nomad has compared the next write of an agent
	meanwhile   deed // that is how
	overwritten bool // by an agent that could not know: it has to put back what its user wants
	writer      *link
}

// excused: what was overwritten is put back by the agent that did it, which has ended.
func (l *ledger) excused() bool { return l.overwritten && l.writer != nil && l.writer.isDead() }

// began notes a version that Nomad took.
func (l *ledger) began(version int) {
	l.version, l.gone, l.purged, l.submitted = version, false, false, time.Now()
	l.released, l.attempts, l.notes, l.at = 0, 0, 0, time.Time{}
	l.overwritten = false
}

// play runs a history and returns the promises that it broke.
func play(t *testing.T, h history) (broken []string, counted tally) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{history: h, began: time.Now(), holder: map[string]int{}, counts: map[int]int{}, made: map[string]time.Time{}, byAgents: map[uint64]bool{}}
		r.nomad, r.handler = nomadtest.Unconnected()
		r.nomad.Now, r.nomad.AutoPlace, r.nomad.OnAlloc, r.nomad.OnCompared = r.serversNow, true, r.started, r.compared
		r.nomad.AddPool(nomadapi.DefaultHoldPool) // a job of a pool that is not there is refused
		for i := range 3 {
			r.addNode(i)
		}
		r.agents = make([]*agent, h.agents)
		for i, j := range h.jobs {
			r.jobs = append(r.jobs, &ledger{submission: j, id: fmt.Sprintf("job-%d", i), gone: true, requests: map[int]*request{}})
		}
		for i := range h.agents {
			r.start(i)
		}
		if slices.ContainsFunc(h.jobs, func(j submission) bool { return j.proxied }) {
			r.openGate()
		}
		r.play()
		r.settle()
		for _, a := range r.agents {
			a.end()
		}
		if r.gate != nil {
			r.gate.kill()
		}
		r.users.Wait()
		synctest.Wait()
		broken, counted = r.broken, r.tally
	})
	return broken, counted
}

func (r *run) at() time.Duration { return time.Since(r.began) }

// serversNow is the clock of Nomad's servers.
func (r *run) serversNow() time.Time { return time.Now().Add(time.Duration(r.servers.Load())) }

func nodeID(i int) string { return fmt.Sprintf("%08d-0000-0000-0000-000000000000", i+1) }

// addNode makes a node whose driver takes what agents sign.
func (r *run) addNode(i int) {
	r.nomad.AddNode(nomadtest.Node{
		ID: nodeID(i), Class: []string{"fast", "fast", "slow"}[i], CPUMHz: nodeMHz, MemoryMB: 8192, Drivers: []string{"exec", nomadapi.KernelDriver},
		Attributes: map[string]string{"driver.ibench.allow": "kernels,profile,lend", "driver.ibench.signers": driverKey.Signer().ID()},
	})
}

// step is something that happens at a time.
type step struct {
	at time.Duration
	do func()
}

func (r *run) play() {
	var steps []step
	for i, j := range r.history.jobs {
		steps = append(steps, step{j.at, func() { r.ask(r.jobs[i]) }})
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
	job, which, node := r.jobs[a.target%len(r.jobs)], a.target%r.history.agents, a.target%3
	once := func(do func()) []step { return []step{{a.at, do}} }
	lasting := func(begin, end func()) []step { return []step{{a.at, begin}, {a.at + a.lasts, end}} }
	switch a.deed {
	case change:
		return once(func() {
			if !r.isGone(job) {
				r.ask(job)
			}
		})
	case stop, purge:
		return once(func() { r.end(job, a.deed == purge) })
	case kill:
		return lasting(func() { r.agents[which].kill() }, func() { r.start(which) })
	case pause:
		return once(func() { r.agents[which].link.pause(a.lasts) })
	case loseNode:
		return lasting(func() { r.nomad.SetNodeStatus(nodeID(node), "down") }, func() { r.nomad.SetNodeStatus(nodeID(node), "ready") })
	case removeNode:
		return lasting(func() { r.nomad.RemoveNode(nodeID(node)) }, func() { r.addNode(node) })
	case dispatch:
		return once(func() {
			if job.kind == parameterized && !r.isGone(job) {
				r.dispatch(job, a.target%3+1)
			}
		})
	case stepAgent:
		return once(func() { r.agents[which].clock.set(a.step()) })
	case stepServers:
		return once(func() { r.servers.Add(int64(a.step())) })
	case overtake:
		return once(func() { r.overtakeNext(job, []deed{change, stop, purge}[a.target%3]) })
	default: // killProxy
		if r.gate == nil {
			return nil
		}
		return lasting(func() { r.gate.kill() }, func() {
			if r.gate.link.isDead() {
				r.openGate()
			}
		})
	}
}

// ask has a user submit the next version of a job.
func (r *run) ask(l *ledger) {
	if l.proxied {
		r.send(l)
		return
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	l.sent++
	l.began(l.sent)
	spec := r.specOf(l, l.sent)
	r.mu.Unlock()
	r.nomad.Submit(spec, "")
}

// overtakeNext has a user act when Nomad has compared the next write of an agent to a job, and
// not written it yet.
func (r *run) overtakeNext(l *ledger, d deed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d == change && l.proxied {
		d = stop // what goes through the proxy takes its time
	}
	l.meanwhile, l.overtakes = d, true
}

// compared is called where a registration of an agent was compared, and is not written yet.
func (r *run) compared(_, id string) {
	r.mu.Lock()
	l := r.byID(id)
	if l == nil || !l.overtakes || l.gone {
		r.mu.Unlock()
		return
	}
	l.overtakes = false
	d := l.meanwhile
	if d == change {
		l.sent++
		l.began(l.sent)
		l.overwritten = true
		spec := r.specOf(l, l.sent)
		r.mu.Unlock()
		r.nomad.Submit(spec, "")
		return
	}
	l.overwritten = true
	r.mu.Unlock()
	r.endNow(l, d == purge)
}

func (r *run) isGone(l *ledger) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.gone
}

// end has a user stop or purge a job.
func (r *run) end(l *ledger, purge bool) {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.endNow(l, purge)
}

// endNow needs the lock of writing.
func (r *run) endNow(l *ledger, purge bool) {
	r.mu.Lock()
	was := l.gone
	l.gone, l.ended = true, true
	l.purged = l.purged || purge && !was
	r.mu.Unlock()
	switch {
	case was:
	case purge:
		r.nomad.Purge("default", l.id)
	default:
		r.nomad.Stop("default", l.id)
	}
}

// child is a job that was dispatched.
type child struct {
	id     string
	parent *ledger
	held   bool // as its parent was
}

// dispatch starts children of a job as it is, which wait where it waits.
func (r *run) dispatch(parent *ledger, n int) {
	r.writing.Lock()
	defer r.writing.Unlock()
	for range n {
		spec := r.nomad.Job("default", parent.id)
		c := child{fmt.Sprintf("%s/dispatch-user-%d", parent.id, len(r.children)), parent, spec["NodePool"] == nomadapi.DefaultHoldPool}
		spec["ID"], spec["ParentID"], spec["Dispatched"] = c.id, parent.id, true
		r.children = append(r.children, c)
		r.nomad.Submit(spec, "")
	}
}

// checkChildren: what was dispatched while its parent was held is dispatched again by the
// leader, once, and stopped; the others are left alone. One whose parent its user took away,
// or Nomad does not let go, waits for its user.
func (r *run) checkChildren() {
	for _, c := range r.children {
		job := r.nomad.Job("default", c.id)
		if !c.held {
			r.try(noneLost, job != nil && job["Stop"] != true, "%s is lost", c.id)
			continue
		}
		var again []string
		for _, id := range r.nomad.JobIDs() {
			other := r.nomad.Job("default", id)
			if other["DispatchIdempotencyToken"] == nomadapi.RedispatchToken(c.id) && other["Stop"] != true {
				again = append(again, id)
			}
		}
		r.try(noneDoubled, len(again) <= 1, "%s was dispatched again as %v", c.id, again)
		if !c.parent.ended && !c.parent.refused {
			r.try(noneHeld, job["Stop"] == true && len(again) == 1, "%s is still held, and was dispatched again as %v", c.id, again)
		}
	}
}

// specOf is a version of a job as its user writes it.
func (r *run) specOf(l *ledger, version int) nomadtest.Object {
	block, name := l.hold.String(), l.id
	if l.kind == targeted {
		block += " target"
		if l.alike {
			name = "alike"
		}
	}
	spec := nomadtest.Object{
		"ID": l.id, "Meta": nomadtest.Object{"version": fmt.Sprint(version)},
		"TaskGroups": []any{nomadtest.Object{
			"Name": "g", "Count": 1, "EphemeralDisk": nomadtest.Object{"SizeMB": 10}, "Meta": nomadtest.Object{nomadapi.MetaKey: block},
			"Tasks": []any{nomadtest.Object{
				"Name": "main", "Driver": "exec", "Env": nomadtest.Object{"NAME": name},
				"Resources": nomadtest.Object{"CPU": map[bool]int{false: 100, true: 2 * nodeMHz}[l.large], "MemoryMB": 64},
			}},
		}},
	}
	if !l.proxied {
		spec["NodePool"] = nomadapi.DefaultHoldPool
	}
	if l.kind == parameterized {
		spec["Type"], spec["ParameterizedJob"] = "batch", nomadtest.Object{"Payload": "optional"}
	}
	return spec
}

// settle waits until every promise must hold again, and looks.
func (r *run) settle() {
	synctest.Wait()
	for left := r.settled() - r.at(); left > 0; left = r.settled() - r.at() { // who overtakes a release begins anew
		time.Sleep(left)
		synctest.Wait()
	}
	before := r.check()
	r.checkChildren()
	if r.history.adapts {
		time.Sleep(adaptsFor)
	} else {
		time.Sleep(quietFor)
	}
	synctest.Wait()
	for i, l := range r.jobs {
		if before[i] != "" && !l.refused && !r.history.adapts {
			r.try(quietAtLast, before[i] == r.index(l), "%s is written again, at index %s after %s", l.id, r.index(l), before[i])
		}
	}
	r.forgotten()
	if r.driven == 0 {
		return
	}
	// What ends now leaves nothing, either.
	for _, l := range r.jobs {
		if l.kind == targeted {
			r.end(l, false)
		}
	}
	time.Sleep(runsAtMost)
	synctest.Wait()
	r.leftOver()
}

// settled is when every promise must hold.
func (r *run) settled() time.Duration {
	r.mu.Lock() // a user may still act at the moment of a late write
	defer r.mu.Unlock()
	limit := calm
	for _, l := range r.jobs {
		switch {
		case !l.gone:
			limit = max(limit, r.dueBy(l).Sub(r.began))
		case l.overwritten:
			limit = max(limit, calm+retried) // who wrote over it looks again
		}
	}
	if len(r.children) > 0 {
		limit = max(limit, calm+leadsAgain)
	}
	return limit + time.Second
}

// forgotten waits until nothing may be kept of the jobs that were purged, and looks.
func (r *run) forgotten() {
	purged := slices.DeleteFunc(slices.Clone(r.jobs), func(l *ledger) bool { return !l.purged || l.excused() }) // that one is still there
	if len(purged) == 0 {
		return
	}
	time.Sleep(forgottenIn)
	synctest.Wait()
	left := r.nomad.VariablePaths("default")
	for _, l := range purged {
		for _, of := range []string{"decision/default/" + l.id + "/g", "observation/default/" + l.id + "/g", "action/default/" + l.id + "/g", "evaluation/default/" + l.id} {
			class, name, _ := strings.Cut(of, "/")
			sum := sha256.Sum256([]byte(name))
			path := fmt.Sprintf("nomad-placer/%s/%x", class, sum[:12])
			r.try(noneKept, !slices.Contains(left, path), "the %s of %s is left", class, l.id)
		}
	}
}

func (r *run) index(l *ledger) string {
	return fmt.Sprint(r.nomad.Job("default", l.id)["JobModifyIndex"])
}

func (r *run) check() []string {
	indexes := make([]string, len(r.jobs))
	for i, l := range r.jobs {
		job := r.nomad.Job("default", l.id)
		if l.gone || l.excused() {
			if l.ended && !l.excused() {
				r.try(noneRevived, job == nil || job["Stop"] == true && !l.purged, "%s runs, or is there", l.id)
			}
			continue
		}
		indexes[i] = r.index(l)
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
			r.try(noneHeld, !l.at.After(by), "%s was released %s late, %s after its deadline", l.id, l.at.Sub(by), l.at.Sub(l.submitted.Add(l.hold)))
		}
	}
	return indexes
}

// dueBy is when a job has to be released: releaseSlack after its deadline, or after one agent
// is well.
func (r *run) dueBy(l *ledger) time.Time {
	submitted := l.submitted.Sub(r.began)
	due := time.Hour
	for i := range r.history.agents {
		deadline := submitted + l.hold
		if r.history.has(stepServers) {
			// Whoever was not there when it was submitted does not know how long ago that is.
			deadline = max(deadline, r.seenBy(i, submitted, deadline)+l.hold)
		}
		due = min(due, r.wellFrom(i, deadline)+releaseSlack)
	}
	return r.began.Add(due)
}

// seenBy is when an agent has seen a version for the last time for the first: it knows
// nothing of what was before it started.
func (r *run) seenBy(agent int, from, until time.Duration) time.Duration {
	seen := r.wellFrom(agent, from)
	for _, a := range r.history.acts {
		if a.deed == kill && a.target%r.history.agents == agent && a.at < max(seen, until) && a.at+a.lasts > from {
			seen = max(seen, r.wellFrom(agent, a.at+a.lasts))
		}
	}
	return seen
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
		if r.history.agentOf(f) == agent {
			out = append(out, [2]time.Duration{f.at, f.at + f.lasts + recovery(f)})
		}
	}
	for _, a := range r.history.acts {
		if (a.deed == kill || a.deed == pause) && a.target%r.history.agents == agent {
			out = append(out, [2]time.Duration{a.at, a.at + a.lasts})
		}
	}
	return out
}

// recovery is how long after a fault an agent may still not do what it could.
func recovery(f injection) time.Duration {
	switch k := faults[f.fault]; {
	case k.where == events:
		return relisted
	case k.name == faults[0].name:
		return retried + f.lasts // the waits after refusals double
	default:
		return retried
	}
}

func indexOf(job nomadtest.Object) uint64 {
	var index uint64
	_, _ = fmt.Sscan(fmt.Sprint(job["JobModifyIndex"]), &index) // 0 is none
	return index
}

func versionIn(job nomadtest.Object) int {
	meta, _ := job["Meta"].(nomadtest.Object)
	version := 0
	_, _ = fmt.Sscan(fmt.Sprint(meta["version"]), &version) // 0 is none
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
		if r.history.agentOf(f) != l.agent || r.at() < f.at || r.at() >= f.at+f.lasts || !faults[f.fault].strikes(q) {
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
		if faults[f.fault].line == nil || r.history.agentOf(f) != l.agent || r.at() < f.at || r.at() >= f.at+f.lasts {
			continue
		}
		if r.counts[i]++; r.counts[i]%f.every == 0 {
			return faults[f.fault].line(l, line)
		}
	}
	return [][]byte{line}
}

// jobOf is the user's job that a request is about; nil for none.
func (r *run) jobOf(q *http.Request) *ledger { return r.byID(idIn(q)) }

func (r *run) byID(id string) *ledger {
	i := slices.IndexFunc(r.jobs, func(l *ledger) bool { return l.id == id })
	if i < 0 {
		return nil
	}
	return r.jobs[i]
}

// idIn is the job in the path of a request; empty for none.
func idIn(q *http.Request) string {
	rest, ok := strings.CutPrefix(q.URL.EscapedPath(), "/v1/job/")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	id, err := url.PathUnescape(id)
	if err != nil {
		panic(err)
	}
	return id
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
	switch path := q.URL.Path; {
	case strings.Contains(q.URL.RawQuery, "lock-acquire"):
		return func(status int) {
			if status == http.StatusOK {
				now := r.nomad.LockedBy("default", nomadapi.LeaderPath)
				r.mu.Lock()
				r.holder[now] = l.agent
				r.mu.Unlock()
			}
		}
	case strings.HasPrefix(path, "/v1/var/nomad-placer/decision/"):
		r.decided(l, body)
	case strings.HasPrefix(path, "/v1/allocation/"):
		r.stopped(l, path)
	case path == "/v1/jobs":
		_, written := r.passedOn(body)
		return written
	}
	job := r.jobOf(q)
	if job == nil {
		if id := idIn(q); q.Method == http.MethodPut && strings.HasPrefix(id, runPrefix) {
			r.made[id] = time.Now()
		}
		return func(int) {}
	}
	if q.Method == http.MethodDelete {
		r.note(noneLost, job.purged && job.overwritten, "agent %d removes %s", l.agent, job.id)
		return func(int) {}
	}
	if strings.HasSuffix(q.URL.Path, "/scale") {
		job.notes++
		return func(int) {}
	}
	if strings.HasSuffix(q.URL.Path, "/plan") || strings.HasSuffix(q.URL.Path, "/dispatch") {
		return func(int) {}
	}
	job.attempts++
	before := r.nomad.Job("default", job.id)
	return func(status int) {
		if status == http.StatusOK {
			r.registered(l, job, before, body)
		}
	}
}

// registered judges a registration of a user's job by an agent that Nomad took.
func (r *run) registered(l *link, job *ledger, before nomadtest.Object, body []byte) {
	var sent struct{ Job nomadtest.Object }
	if err := numbers(body, &sent); err != nil {
		panic(err)
	}
	now := indexOf(r.nomad.Job("default", job.id))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byAgents[now] = true
	if job.overwritten {
		job.writer = l
		if stopped := sent.Job["Stop"] == true; job.gone == stopped && (stopped || versionIn(sent.Job) == job.version) { // it is put back
			job.overwritten, job.submitted = job.purged, time.Now()
		}
		return
	}
	r.note(noneOverwritten, !job.gone && versionIn(sent.Job) == job.version, "version %d of %s is written over version %d (gone %t)", versionIn(sent.Job), job.id, job.version, job.gone)
	r.note(noneChanged, same(placedAnyhow(before, job), placedAnyhow(sent.Job, job)), "agent %d changes %s: %v to %v", l.agent, job.id, placedAnyhow(before, job), placedAnyhow(sent.Job, job))
	if before["NodePool"] != nomadapi.DefaultHoldPool {
		r.note(noneChanged, r.history.adapts && (job.kind == targeted || r.withTarget()), "agent %d writes %s, which runs and has no target", l.agent, job.id)
		return
	}
	job.released++
	job.at = time.Now()
	early := time.Until(job.submitted.Add(job.hold)) > stockMargin
	if early && !r.mayGiveUp(job) {
		r.note(noneGivenUp, bytes.Contains(body, []byte("placer:v1")), "%s is left to Nomad %s after it was submitted, with a hold of %s", job.id, time.Since(job.submitted), job.hold)
	}
}

// placedAnyhow is a job without what the placer may change of it.
func placedAnyhow(job nomadtest.Object, l *ledger) nomadtest.Object {
	out := withoutNulls(nomadapi.Strip(normal(job))).(nomadtest.Object)
	for _, own := range []string{"NodePool", "Version", "CreateIndex", "ModifyIndex", "JobModifyIndex", "SubmitTime", "Status", "Stop"} {
		delete(out, own)
	}
	if l.kind == targeted {
		for _, group := range out["TaskGroups"].([]any) {
			count := fmt.Sprint(group.(nomadtest.Object)["Count"])
			if count == "1" || count == "2" { // as its block allows
				delete(group.(nomadtest.Object), "Count")
			}
		}
	}
	return out
}

// withoutNulls leaves out what is null, or an object of such: to Nomad it is as if it were not there.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case nomadtest.Object:
		for key, value := range v {
			if v[key] = withoutNulls(value); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

// withTarget: a job with a target is there, for which others may have to leave.
func (r *run) withTarget() bool {
	return slices.ContainsFunc(r.jobs, func(l *ledger) bool { return l.kind == targeted && l.sent > 0 })
}

// stopped judges that an agent stops an allocation. It needs the lock.
func (r *run) stopped(l *link, path string) {
	id, _, _ := strings.Cut(strings.TrimPrefix(path, "/v1/allocation/"), "/")
	all := r.nomad.Allocations()
	i := slices.IndexFunc(all, func(a nomadtest.Object) bool { return a["ID"] == id })
	if i < 0 {
		return
	}
	of := func(a nomadtest.Object) *ledger { return r.byID(fmt.Sprint(a["JobID"])) }
	job := of(all[i])
	r.note(noneStopped, r.history.adapts && job != nil && job.kind != targeted && r.withTarget(), "agent %d stops %s of %v", l.agent, id, all[i]["JobID"])
}

// decided judges the record of a decision. It needs the lock.
func (r *run) decided(l *link, body []byte) {
	var variable struct{ Items map[string]string }
	var record cluster.Decision
	if json.Unmarshal(body, &variable) != nil || json.Unmarshal([]byte(variable.Items["data"]), &record) != nil {
		return // compressed
	}
	told := l.told[record.Workload.Job]
	late := told.index > record.ModifyIndex && time.Since(told.at) >= heardSince
	if !r.slowed(l.agent) && !r.history.adapts { // who corrects amends what was decided
		r.note(recordsFollow, !late, "agent %d records a decision on index %d of %s, %s after it read index %d", l.agent, record.ModifyIndex, record.Workload.Job, time.Since(told.at), told.index)
	}
}

// slowed: requests of an agent take time, between which others come.
func (r *run) slowed(agent int) bool {
	return slices.ContainsFunc(r.history.faults, func(f injection) bool {
		return r.history.agentOf(f) == agent && faults[f.fault].name == "slow"
	}) || r.history.has(pause)
}

// mayGiveUp: something refuses what the placer writes, or the records that it needs; its
// profile cannot be had; the proxy waits for nobody for long; or the clock was set by which
// deadlines go.
func (r *run) mayGiveUp(l *ledger) bool {
	return l.kind == targeted || l.proxied || r.history.has(stepServers) || slices.ContainsFunc(r.history.faults, func(f injection) bool {
		k := faults[f.fault]
		return k.name == faults[0].name || k.where == records || k.where == reads
	})
}

// agent is one instance of nomad-placer.
type agent struct {
	link   *link
	clock  *machineClock
	world  *nomadapi.World
	engine *engine.Engine
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// start starts an agent that has never heard of anything.
func (r *run) start(i int) {
	if r.agents[i] != nil && !r.agents[i].link.isDead() {
		return
	}
	r.starts++
	l := newLink(r, i)
	// Each machine's clock is off by another amount: none, ahead, behind.
	clock := &machineClock{link: l, began: r.began, by: []time.Duration{0, serverSkewMax, -serverSkewMax}[r.starts%3]}
	log := slog.New(alarms{r, i})
	if testing.Verbose() && *traced {
		log = slog.New(slog.NewTextHandler(io.Writer(tracer{r, i}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	world, err := nomadapi.New(nomadapi.Options{
		Address: "http://nomad", Decode: decode, Clock: clock, Logger: log, Network: l, SigningKey: &driverKey,
	})
	if err != nil {
		panic(err)
	}
	records, err := nomadvars.New(world.API(), nomadvars.Options{})
	if err != nil {
		panic(err)
	}
	config := engine.Config{World: measured{world}, Store: records, Clock: world.ServerClock(), Log: log, Policy: "least-loaded", SweepEvery: swept}
	if !r.history.adapts {
		config.Adapter, config.ObserveEvery = adaptation.None, time.Minute
	}
	e, err := engine.New(config)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &agent{link: l, clock: clock, world: world, engine: e, cancel: cancel}
	for _, part := range []func(context.Context) error{
		world.Watch, e.WatchDeadlines,
		func(ctx context.Context) error {
			return world.NewElector(nomadapi.Leader{Address: fmt.Sprint(i)}).Run(ctx, func(ctx context.Context) error { return lead(ctx, world, e) })
		},
	} {
		a.ended.Go(func() { _ = part(ctx) }) // it ends with its context
	}
	r.mu.Lock()
	r.agents[i] = a
	r.mu.Unlock()
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

// decode reads a performance block of this package: its hold, and whether there is a target.
func decode(text, _ string) (performance.Spec, []string, error) {
	hold, more, _ := strings.Cut(text, " ")
	spec := performance.Spec{Target: performance.Target{Kind: performance.BestEffort}, SlowdownMaxPercent: 5}
	if more != "" {
		spec = withTarget()
	}
	var err error
	spec.Hold, err = time.ParseDuration(hold)
	return spec, nil, err
}
