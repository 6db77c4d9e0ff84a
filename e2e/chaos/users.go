package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// user is somebody who submits jobs and changes them, one thing after another. What fails
// is tried again until it is answered, as a person would.
type user struct {
	c      *campaign
	name   string
	random *rand.Rand
	jobs   int // submitted so far
	mark   int // of the newest version of anything
}

// mostJobs is how many jobs of a user are there at a time; small machines run them.
const mostJobs = 5

// The pace of a user.
const (
	restLeast = 1
	restMost  = 5
)

// work until told to stop. A change that has begun is ended.
func (u *user) work(ctx context.Context) {
	for ctx.Err() == nil {
		action := u.draw()
		if err := action(); err != nil {
			u.c.say("%s gave up: %v", u.name, err)
			u.c.count(func(r *Result) { r.GaveUp++ })
		}
		_ = cluster.Sleep(ctx, seconds(u.random, restLeast, restMost)) // its end ends the loop
	}
}

// draw chooses what to do next.
func (u *user) draw() func() error {
	living := u.jobsThat(func(e entry) bool { return e.Wish == runs })
	if len(living) < mostJobs && u.random.IntN(3) > 0 || len(living) == 0 {
		return u.submit
	}
	e := living[u.random.IntN(len(living))]
	id := e.Spec.ID
	switch {
	case e.Spec.Kind == parameterized && u.random.IntN(5) > 0:
		return func() error { return u.dispatch(id) }
	case e.Spec.Kind == service && len(e.old) > 0 && u.random.IntN(4) == 0:
		return func() error { return u.revert(e) }
	case e.Spec.Kind == service && u.random.IntN(3) > 0:
		return func() error { return u.update(e) }
	case u.random.IntN(2) == 0:
		return func() error { return u.stop(id) }
	default:
		return func() error { return u.purge(id) }
	}
}

// jobsThat lists the user's own jobs.
func (u *user) jobsThat(ok func(entry) bool) []entry {
	var out []entry
	for _, id := range u.c.ledger.ids() {
		if !strings.HasPrefix(id, u.name+"-") {
			continue
		}
		if e, there := u.c.ledger.get(id); there && ok(e) {
			out = append(out, e)
		}
	}
	return out
}

// The holds that users ask for, in seconds.
var holds = []int{10, 15, 25, 40}

func (u *user) fresh(kind string) spec {
	u.jobs++
	u.mark++
	s := spec{
		ID: fmt.Sprintf("%s-%d", u.name, u.jobs), Kind: kind, Mark: u.mark, Count: 1, Script: pace,
		Hold: time.Duration(holds[u.random.IntN(len(holds))]) * time.Second, Block: knownBlock,
	}
	switch kind {
	case service:
		s.Count = 1 + u.random.IntN(2)
		if u.random.IntN(3) == 0 {
			s.Block = profiledBlock
			s.Script = fmt.Sprintf("%s # %d", pace, u.random.IntN(4)) // four profiles, some known and some not
		}
	case batch, parameterized:
		s.Script = brief
	case noise:
		s.Block = bestEffortBlock
	}
	return s
}

func (u *user) submit() error {
	kind := []string{service, service, service, batch, parameterized, noise}[u.random.IntN(6)]
	return u.register(u.fresh(kind), "submitted")
}

// update changes a job in a way that starts its tasks anew, or how many there are.
func (u *user) update(e entry) error {
	s := e.Spec
	u.mark++
	s.Mark = u.mark
	if u.random.IntN(2) == 0 {
		s.Count = 1 + u.random.IntN(3)
	}
	return u.register(s, "updated")
}

// register submits a version by a way drawn from all.
func (u *user) register(s spec, verb string) error {
	by := []route{throughProxy, byHoldPool, byCommandLine, byStockCommand}[u.random.IntN(4)]
	return u.registerBy(by, s, verb)
}

func (u *user) registerBy(by route, s spec, verb string) error {
	text := s.text(by)
	plain := s
	var sent *api.Job
	err := u.insist(s.ID, "reading the jobspec", func(context.Context) error {
		var err error
		sent, err = u.c.site.Parse(plain.text(byHoldPool), nil)
		return err
	})
	if err != nil {
		return err
	}
	u.c.ledger.change(s.ID, func(e *entry) {
		if e.sent != nil {
			e.old = append(e.old, version{e.Spec, e.sent})
		}
		e.Spec, e.Wish, e.sent = s, runs, sent
		e.note(time.Now(), "%s version %d (count %d, hold %s) by %s", verb, s.Mark, s.Count, s.Hold, by)
	})
	u.c.count(func(r *Result) { r.Actions[verb]++ })
	return u.insist(s.ID, verb, func(ctx context.Context) error { return u.send(ctx, by, s.ID, text) })
}

// send submits a jobspec.
func (u *user) send(ctx context.Context, by route, id, text string) error {
	switch by {
	case byCommandLine:
		return u.command(ctx, filepath.Join(u.c.site.options.bin, placerProgram), u.c.site.Addr(), id, text)
	case byStockCommand:
		return u.command(ctx, u.c.site.Nomad(), u.c.site.frontAddress(), id, text)
	}
	job, err := u.c.site.Parse(text, nil)
	if err != nil {
		return err
	}
	to := u.c.site.nomad
	if by == throughProxy {
		to = u.c.site.front
	}
	_, _, err = to.Jobs().Register(job, (&api.WriteOptions{}).WithContext(ctx))
	return err
}

// command runs `PROGRAM job run -detach FILE`.
func (u *user) command(ctx context.Context, program, address, id, text string) error {
	file := filepath.Join(u.c.site.dir, id+".nomad.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "job", "run", "-detach", file)
	cmd.Env = append(u.c.site.Env(os.Environ()), "NOMAD_ADDR="+address)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Bounds of insisting: a person gives up some time, the ledger with an entry that says so.
const (
	tryWithin    = 25 * time.Second
	insistWithin = 4 * time.Minute
	tryAgain     = time.Second
)

// insist does something until it is answered.
func (u *user) insist(id, what string, f func(context.Context) error) error {
	until, told := time.Now().Add(insistWithin), time.Now()
	for {
		ctx, cancel := context.WithTimeout(u.c.life, tryWithin)
		err := f(ctx)
		cancel()
		if err == nil {
			u.c.ledger.change(id, func(e *entry) { e.note(time.Now(), "%s: answered", what) })
			return nil
		}
		u.c.ledger.change(id, func(e *entry) { e.note(time.Now(), "%s: %v", what, err) })
		if time.Since(told) > 20*time.Second {
			told = time.Now()
			u.c.say("%s still tries: %s of %s: %v", u.name, what, id, err)
		}
		if strings.Contains(err.Error(), "validation failed") || time.Now().After(until) || u.c.life.Err() != nil {
			return fmt.Errorf("%s of %s: %w", what, id, err)
		}
		if err := cluster.Sleep(u.c.life, tryAgain); err != nil {
			return err
		}
	}
}

// dispatch starts a child. One that is held, because its parent is, the leading agent
// dispatches again and stops: its user waits for that before anything else is asked of the
// parent.
func (u *user) dispatch(id string) error {
	child, err := u.dispatchOnce(id)
	if err != nil {
		return err
	}
	return u.insist(id, "waiting while "+child+" is held", func(ctx context.Context) error {
		job, _, err := u.c.site.nomad.Jobs().Info(child, (&api.QueryOptions{}).WithContext(ctx))
		switch {
		case err != nil:
			return err
		case *job.NodePool != nomadapi.DefaultHoldPool:
			return nil
		case !*job.Stop:
			return errors.New("it is held")
		}
		u.c.count(func(r *Result) { r.Actions["was dispatched again"]++ })
		return nil
	})
}

// dispatchOnce returns the child; its token makes a second try the same dispatch.
func (u *user) dispatchOnce(id string) (child string, err error) {
	u.mark++
	token := fmt.Sprintf("%s-order-%d", id, u.mark)
	u.c.count(func(r *Result) { r.Actions["dispatched"]++ })
	err = u.insist(id, "dispatch "+token, func(ctx context.Context) error {
		answer, _, err := u.c.site.nomad.Jobs().DispatchOpts(&api.DispatchOptions{
			JobID: id, Meta: map[string]string{"order": token}, IdPrefixTemplate: "",
		}, (&api.WriteOptions{IdempotencyToken: token}).WithContext(ctx))
		if err != nil {
			return err
		}
		child = answer.DispatchedJobID
		u.c.ledger.change(id, func(e *entry) { e.Kids = append(e.Kids, dispatched{Token: token, ID: child}) })
		return nil
	})
	return child, err
}

// revert goes back to an earlier version of the user's, as `nomad job revert` does: to the
// newest of Nomad's versions that is of it, held or released.
func (u *user) revert(e entry) error {
	to := e.old[u.random.IntN(len(e.old))]
	if to.spec.Mark == e.Spec.Mark {
		return nil
	}
	id := e.Spec.ID
	u.c.ledger.change(id, func(e *entry) {
		e.old = append(e.old, version{e.Spec, e.sent})
		e.Spec, e.sent = to.spec, to.sent
		e.note(time.Now(), "reverted to version %d", to.spec.Mark)
	})
	u.c.count(func(r *Result) { r.Actions["reverted"]++ })
	return u.insist(id, "revert", func(ctx context.Context) error { return u.revertOnce(ctx, id, to.spec.Mark) })
}

func (u *user) revertOnce(ctx context.Context, id string, mark int) error {
	jobs := u.c.site.nomad.Jobs()
	versions, _, _, err := jobs.Versions(id, false, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if len(versions) > 0 && markOf(versions[0]) == mark {
		return nil // an earlier try did it
	}
	at := slices.IndexFunc(versions, func(j *api.Job) bool { return markOf(j) == mark })
	if at < 0 {
		// Nomad keeps six versions: the user submits the text again.
		e, _ := u.c.ledger.get(id)
		return u.send(ctx, byHoldPool, id, e.Spec.text(byHoldPool))
	}
	_, _, err = jobs.Revert(id, *versions[at].Version, nil, (&api.WriteOptions{}).WithContext(ctx), "", "")
	return err
}

func (u *user) stop(id string) error {
	u.c.ledger.change(id, func(e *entry) {
		e.Wish = stopped
		e.note(time.Now(), "stopped")
	})
	u.c.count(func(r *Result) { r.Actions["stopped"]++ })
	return u.insist(id, "stop", func(ctx context.Context) error { return u.c.deregister(ctx, id, false) })
}

// purge stops a job, waits until nothing of it runs, and purges it: Nomad 1.11.2 crashes
// when a job with live allocations is purged at once.
func (u *user) purge(id string) error {
	if err := u.stop(id); err != nil {
		return err
	}
	u.c.ledger.change(id, func(e *entry) {
		e.Wish = purged
		e.note(time.Now(), "purged")
	})
	u.c.count(func(r *Result) { r.Actions["purged"]++ })
	return u.insist(id, "purge", func(ctx context.Context) error { return u.c.purge(ctx, id) })
}

// deregister stops or purges a job; one that is not there is no error.
func (c *campaign) deregister(ctx context.Context, id string, purge bool) error {
	_, _, err := c.site.nomad.Jobs().Deregister(id, purge, (&api.WriteOptions{}).WithContext(ctx))
	if notFound(err) {
		return nil
	}
	return err
}

func notFound(err error) bool {
	var answer api.UnexpectedResponseError
	return errors.As(err, &answer) && answer.StatusCode() == 404
}

// purge removes a stopped job and its children.
func (c *campaign) purge(ctx context.Context, id string) error {
	jobs, _, err := c.site.nomad.Jobs().PrefixList(id + "/")
	if err != nil {
		return err
	}
	ids := []string{id}
	for _, j := range jobs {
		if err := c.deregister(ctx, j.ID, false); err != nil {
			return err
		}
		ids = append(ids, j.ID)
	}
	for _, id := range ids {
		if err := c.quiet(ctx, id); err != nil {
			return err
		}
		if err := c.deregister(ctx, id, true); err != nil {
			return err
		}
	}
	return nil
}

// quiet is nil when nothing of a stopped job is left to be done.
func (c *campaign) quiet(ctx context.Context, id string) error {
	q := (&api.QueryOptions{}).WithContext(ctx)
	evals, _, err := c.site.nomad.Jobs().Evaluations(id, q)
	if err != nil {
		return err
	}
	for _, e := range evals {
		if e.Status == "pending" {
			return fmt.Errorf("%s: %w", id, nomadapi.ErrNotQuiet)
		}
	}
	allocs, _, err := c.site.nomad.Jobs().Allocations(id, true, q)
	if err != nil {
		return err
	}
	for _, a := range allocs {
		if !ended(a) {
			return fmt.Errorf("%s: %w", id, nomadapi.ErrNotQuiet)
		}
	}
	return nil
}

// evaluateAgents has Nomad look again at the agents' job where it has given one of them up:
// when the setting up of an allocation fails (a service cannot be registered while the link
// is cut), Nomad starts another of a system job only when something changes on the node.
func (c *campaign) evaluateAgents(ctx context.Context) error {
	list, err := c.allocationsOf(ctx, rig.AgentJob)
	if err != nil {
		return err
	}
	newest := map[string]*api.AllocationListStub{}
	for _, a := range list {
		if n := newest[a.NodeID]; n == nil || n.CreateIndex < a.CreateIndex {
			newest[a.NodeID] = a
		}
	}
	for _, a := range newest {
		if a.ClientStatus != api.AllocClientStatusFailed {
			continue
		}
		c.say("Nomad has given up the agent on %s: the operator has its job evaluated", a.NodeName)
		c.count(func(r *Result) { r.Actions["had the agents' job evaluated"]++ })
		_, _, err := c.site.nomad.Jobs().EvaluateWithOpts(rig.AgentJob, api.EvalOptions{}, (&api.WriteOptions{}).WithContext(ctx))
		return err
	}
	return nil
}

// operate looks after the agents and drains nodes for a while, one at a time, until told to
// stop.
func (c *campaign) operate(ctx context.Context, r *rand.Rand) {
	for cluster.Sleep(ctx, seconds(r, 15, 40)) == nil {
		if err := c.until(c.evaluateAgents); err != nil {
			c.say("looking after the agents: %v", err)
		}
		node := c.site.Client(r.IntN(c.site.Clients()))
		if node.Name == spareClient || c.sparesClient(node.Name) {
			continue
		}
		c.say("draining %s", node.Name)
		drain := func(spec *api.DrainSpec) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := c.site.nomad.Nodes().UpdateDrainOpts(node.ID, &api.DrainOptions{DrainSpec: spec, MarkEligible: spec == nil}, (&api.WriteOptions{}).WithContext(ctx))
				return err
			}
		}
		if err := c.until(drain(&api.DrainSpec{Deadline: 10 * time.Second, IgnoreSystemJobs: true})); err != nil {
			c.say("draining %s: %v", node.Name, err)
		}
		c.count(func(r *Result) { r.Actions["drained a node"]++ })
		_ = cluster.Sleep(ctx, seconds(r, 5, 15)) // it is undone at the end as well
		if err := c.until(drain(nil)); err != nil {
			c.say("ending the drain of %s: %v", node.Name, err)
		}
	}
}

// until does something until it is answered.
func (c *campaign) until(f func(context.Context) error) error {
	until := time.Now().Add(insistWithin)
	for {
		ctx, cancel := context.WithTimeout(c.life, requestWithin)
		err := f(ctx)
		cancel()
		if err == nil || time.Now().After(until) || c.life.Err() != nil {
			return err
		}
		_ = cluster.Sleep(c.life, tryAgain) // its end is looked at above
	}
}
