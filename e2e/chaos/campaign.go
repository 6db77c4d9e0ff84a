package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// runID names the cluster, so that what a dead run left is found.
const runID = "chaos"

// options say what is run.
type options struct {
	bin      string // folder of the product's binaries
	port     int    // first of the ports
	clients  int
	users    int
	seed     uint64
	kills    int           // that are wanted
	duration time.Duration // in which they are to fall
	settle   time.Duration // the longest until everything is as it should be
	// everyStep: a run in which no aimed kill fell into a step is none.
	everyStep bool
	result    string // file; "" writes none
	logs      string // folder for the logs of a run that broke a promise; "" keeps none
	out       io.Writer
}

// campaign is a run.
type campaign struct {
	o      options
	site   *site
	ledger *ledger
	logs   map[string]*follower
	spans  map[string]lasting // by what they are done to
	life   context.Context    // of the users' actions: until the cluster is stopped

	mu     sync.Mutex
	result Result
	began  time.Time
	spared sparing

	without map[string]time.Time // since when an allocation that is said to run was seen without a process; of the judge
}

// run starts a site, breaks it, and judges. It is an error if a promise was broken.
func run(ctx context.Context, o options, earlier *Result) (result Result, err error) {
	c := &campaign{
		o: o, ledger: newLedger(), spans: map[string]lasting{}, result: newResult(o.seed), began: time.Now(),
	}
	if earlier != nil {
		c.result = *earlier
		c.result.Done, c.result.Earlier = false, earlier.Earlier+1
	}
	c.say("seed %d: %d kills in %s", o.seed, o.kills, o.duration)
	if err := cluster.Clean(ctx, runID); err != nil {
		return c.result, fmt.Errorf("cleaning up after an earlier run: %w", err)
	}
	if c.site, err = startSite(ctx, o); err != nil {
		return c.result, err
	}
	defer func() {
		if len(c.result.Broken) > 0 || err != nil {
			err = errors.Join(err, c.keepLogs())
		}
		err = errors.Join(err, c.site.stop(context.WithoutCancel(ctx)))
	}()
	c.logs = c.site.followers()
	var end context.CancelFunc
	c.life, end = context.WithCancel(ctx)
	defer end()
	if err := c.storm(ctx); err != nil {
		return c.snapshot(), err
	}
	if ctx.Err() != nil {
		return c.snapshot(), ctx.Err()
	}
	if err := c.judge(ctx); err != nil {
		return c.snapshot(), err
	}
	c.count(func(r *Result) { r.Done = true })
	result = c.snapshot()
	c.write()
	if n := len(result.Broken); n > 0 {
		return result, fmt.Errorf("%d promises were broken (seed %d)", n, o.seed)
	}
	if unhit := result.unhit(); o.everyStep && len(unhit) > 0 {
		return result, fmt.Errorf("no promise was broken, but no aimed kill fell into the steps %s (seed %d)", strings.Join(unhit, ", "), o.seed)
	}
	return result, nil
}

// random is a source for one of the goroutines.
func (c *campaign) random(of uint64) *rand.Rand { return rand.New(rand.NewPCG(c.o.seed, of)) }

// The sources of chance: of the schedule, the aims, the operator; users follow.
const (
	ofSchedule = iota + 1
	ofAims
	ofOperator
	ofUsers
)

// storm lets users work while things break, until enough is broken.
func (c *campaign) storm(ctx context.Context) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	watched, unwatch := context.WithCancel(ctx)
	defer unwatch()
	var busy, watching sync.WaitGroup
	watching.Go(func() { c.watch(watched) })
	for i := range c.o.users {
		u := &user{c: c, name: fmt.Sprintf("user%d", i+1), random: c.random(ofUsers + uint64(i))}
		busy.Go(func() { u.work(work) })
	}
	busy.Go(func() { c.operate(work, c.random(ofOperator)) })
	busy.Go(func() { c.aimAll(work, c.random(ofAims)) })
	err := c.schedule(ctx)
	stop()
	err = errors.Join(err, c.mendDue(true))
	busy.Wait()
	// The jobs that are held now are watched on.
	unwatch()
	watching.Wait()
	return err
}

// leastOver is how much longer than it should a short run may last until it has its kills.
const leastOver = 30 * time.Second

// schedule draws faults until enough are done, or there is no time left for more.
func (c *campaign) schedule(ctx context.Context) error {
	r := c.random(ofSchedule)
	began, before := time.Now(), c.snapshot().Kills
	wanted := c.o.kills
	pace := c.o.duration / time.Duration(max(1, wanted))
	told, limit := time.Now(), c.o.duration+max(c.o.duration/4, leastOver)
	for ctx.Err() == nil {
		done, passed := c.snapshot().Kills-before, time.Since(began)
		enough := done >= wanted && passed >= c.o.duration && (!c.o.everyStep || len(c.snapshot().unhit()) == 0)
		if enough || passed > limit {
			break
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			c.tell(done, passed)
		}
		if err := errors.Join(c.mendDue(false), c.revive(ctx)); err != nil {
			return err
		}
		// Those that are aimed count as well: the schedule fills what they leave.
		if passed < pace*time.Duration(done) {
			_ = cluster.Sleep(ctx, 50*time.Millisecond) // its end ends the loop
			continue
		}
		f := draw(r, faults)
		switch err := f.do(ctx, c, r); {
		case err == nil, errors.Is(err, errNothing), errors.Is(err, errMissed):
		default:
			return fmt.Errorf("%s: %w", f.name, err)
		}
		_ = cluster.Sleep(ctx, time.Duration(r.Int64N(int64(200*time.Millisecond)))) // as above
	}
	if done := c.snapshot().Kills - before; done < wanted && ctx.Err() == nil {
		c.broken(promiseEnds, "", fmt.Sprintf("there was time for %d kills only, %d were wanted", done, wanted))
	}
	return nil
}

// revive starts again what ended by itself, which a supervisor would, and says so.
func (c *campaign) revive(ctx context.Context) error {
	if err := c.site.ServerEnded(); err != nil && c.spans[server].mend == nil {
		c.say("the server ended by itself: %v", err)
		c.count(func(r *Result) { r.Faults["server ended by itself"]++ })
		if err := c.site.RestartServer(ctx); err != nil {
			return err
		}
	}
	for i := range c.site.Clients() {
		name := c.site.Client(i).Name
		if err := c.site.ClientEnded(i); err != nil && (c.spans[name].mend == nil || c.spans[name].what != clientDown) {
			c.say("the client agent %s ended by itself: %v", name, err)
			c.count(func(r *Result) { r.Faults["client agent ended by itself"]++ })
			if err := c.site.StartClient(ctx, i); err != nil {
				return err
			}
			c.site.lookAtClients()
		}
	}
	return nil
}

// aimAll kills in each step in turn, as long as there is time.
func (c *campaign) aimAll(ctx context.Context, r *rand.Rand) {
	u := &user{c: c, name: "aimed", random: r}
	// There is always a kernel that can be killed.
	if err := u.registerBy(byHoldPool, u.fresh(noise), "submitted"); err != nil {
		c.say("%v", err)
	}
	for ctx.Err() == nil {
		step := c.nextAim()
		err := c.aimAt(ctx, r, u, step)
		if err != nil && ctx.Err() == nil {
			c.say("aiming at %s: %v", step, err)
			c.count(func(r *Result) { r.Missed[step]++ })
		}
		c.spare(0, "")
		_ = cluster.Sleep(ctx, restOf[kinds[step] != ""]) // its end ends the loop
	}
}

// restOf is how long, after an aim, chance may hit who leads: an aim at an adaptation has kept it
// from that for a minute or two.
var restOf = map[bool]time.Duration{false: time.Second, true: 15 * time.Second}

// nextAim is the step that was tried least. One that was missed is tried again sooner.
func (c *campaign) nextAim() string {
	r := c.snapshot()
	return slices.MinFunc(allSteps, func(a, b string) int {
		return cmp.Compare(2*r.Aimed[a]+r.Missed[a], 2*r.Aimed[b]+r.Missed[b])
	})
}

// aimTries is how many jobs are sent through a step that takes a millisecond.
const aimTries = 3

// moreGroups that a job has on its way through classification: while each profile is looked
// up the job stays in that step.
const moreGroups = 5

// aimAt makes a job go through a step and kills there.
func (c *campaign) aimAt(ctx context.Context, r *rand.Rand, u *user, step string) error {
	err := waitFor(ctx, "a leading agent", time.Minute, func() bool {
		_, pid := c.leader()
		return pid != 0
	})
	if err != nil {
		return err
	}
	if kinds[step] != "" {
		return c.aimAtAdaptation(ctx, r, u, step)
	}
	for range aimTries {
		c.spare(2*aimWithin, "")
		s := u.fresh(service)
		s.Count, s.Block, s.Script, s.Hold = 1, knownBlock, pace, 30*time.Second
		switch step {
		case stepProfile:
			s.Block, s.Script = profiledBlock, fmt.Sprintf("%s # %s", pace, s.ID) // nobody knows it yet
		case stepClassify:
			s.More = moreGroups
		}
		err = c.aim(ctx, r, step, s.ID, func() error { return u.registerBy(byHoldPool, s, "submitted") })
		if s.More > 0 {
			err = errors.Join(err, u.purge(s.ID)) // it takes the place of several
		}
		if err == nil {
			break
		}
	}
	// A few stay, to be adapted and moved about with the others.
	living := u.jobsThat(func(e entry) bool { return e.Wish == runs && e.Spec.Kind == service })
	if len(living) > mostJobs {
		err = errors.Join(err, u.purge(living[0].Spec.ID))
	}
	return err
}

// count changes the result.
func (c *campaign) count(f func(*Result)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.result)
}

func (c *campaign) snapshot() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.result
	r.Seconds = time.Since(c.began).Seconds()
	r.Jobs = len(c.ledger.ids())
	r.Broken = slices.Clone(r.Broken)
	for _, counts := range []*map[string]int{&r.KillsOf, &r.KillsIn, &r.Aimed, &r.Missed, &r.Faults, &r.Actions, &r.Tried} {
		*counts = maps.Clone(*counts)
	}
	return r
}

// write keeps what there is, so that a run that dies is not for nothing.
func (c *campaign) write() {
	if c.o.result == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.result.Seconds = time.Since(c.began).Seconds()
	c.result.Jobs = len(c.ledger.ids())
	if err := c.result.write(c.o.result); err != nil {
		fmt.Fprintf(c.o.out, "writing the result: %v\n", err)
	}
}

// broken notes a promise that was not kept, once for each job.
func (c *campaign) broken(promise, job, what string) {
	e, _ := c.ledger.get(job)
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.result.Broken, func(b Broken) bool { return b.Promise == promise && b.Job == job }) {
		return
	}
	b := Broken{promise, job, what, time.Since(c.began).Round(time.Second).String(), e.History}
	c.result.Broken = append(c.result.Broken, b)
	fmt.Fprintf(c.o.out, "[%5.0fs] BROKEN: %s: %s %s\n", time.Since(c.began).Seconds(), promise, job, what)
}

func (c *campaign) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.o.out, "[%5.0fs] %s\n", time.Since(c.began).Seconds(), strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// tell prints how far the run is.
func (c *campaign) tell(done int, passed time.Duration) {
	remaining := max(0, c.o.duration-passed)
	if done > 0 {
		remaining = max(remaining, time.Duration(float64(passed)*float64(c.o.kills-done)/float64(done)))
	}
	r := c.snapshot()
	c.say("%d of %d kills, %d jobs, %d promises broken; about %s to go, then up to %s of checks",
		done, c.o.kills, r.Jobs, len(r.Broken), remaining.Round(10*time.Second), (2 * c.o.settle).Round(time.Minute))
	c.write()
}

// sparing is what chance leaves alone while an aim waits for its moment: who leads with its
// server, and the client that the job runs on.
type sparing struct {
	until  time.Time
	client string // "" is none
}

// spare keeps what leads, and a client, from being broken by chance for a while.
func (c *campaign) spare(d time.Duration, client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spared = sparing{time.Now().Add(d), client}
}

// sparesLeader reports whether what leads is left alone now.
func (c *campaign) sparesLeader(leading bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return leading && time.Now().Before(c.spared.until)
}

// sparesClient reports whether a client is left alone now.
func (c *campaign) sparesClient(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return name == c.spared.client && time.Now().Before(c.spared.until)
}

// allocationsOf are those of a job, of all its lives.
func (c *campaign) allocationsOf(ctx context.Context, id string) ([]*api.AllocationListStub, error) {
	list, _, err := c.site.nomad.Jobs().Allocations(id, true, (&api.QueryOptions{}).WithContext(ctx))
	return list, err
}
