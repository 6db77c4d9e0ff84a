package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// fault is one thing that may go wrong.
type fault struct {
	name   string
	weight int
	do     func(ctx context.Context, c *campaign, r *rand.Rand) error
}

// errNothing: there is nothing to break just now, as a kernel that does not run.
var errNothing = errors.New("there is none")

// faults are all that the schedule draws from. How often each comes is chosen by us: what
// is cheap to start again most often, and the server, without which nobody can do
// anything, seldom.
var faults = []fault{
	{"kill plugin", 16, func(_ context.Context, c *campaign, r *rand.Rand) error {
		return c.killProcess(r, "plugin", driverProgram, "")
	}},
	{"kill driver task", 10, func(_ context.Context, c *campaign, r *rand.Rand) error {
		return c.killProcess(r, "driver task", driverProgram, "task")
	}},
	{"kill kernel", 14, func(_ context.Context, c *campaign, r *rand.Rand) error {
		return c.killProcess(r, "kernel", driverProgram, "kernel")
	}},
	{"kill follower", 12, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.killAgent(r, false) }},
	{"kill leader", 6, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.killAgent(r, true) }},
	{"kill client agent", 9, func(ctx context.Context, c *campaign, r *rand.Rand) error { return c.killClient(ctx, r, false) }},
	{"kill client agent and plugin", 4, func(ctx context.Context, c *campaign, r *rand.Rand) error { return c.killClient(ctx, r, true) }},
	{"kill server", 3, func(ctx context.Context, c *campaign, r *rand.Rand) error { return c.killServer(ctx, r) }},
	{"kill proxy", 5, func(ctx context.Context, c *campaign, _ *rand.Rand) error { return c.killProxy(ctx) }},
	{"freeze leader", 2, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.freezeAgent(r, true) }},
	{"freeze follower", 1, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.freezeAgent(r, false) }},
	{"freeze plugin", 2, func(_ context.Context, c *campaign, r *rand.Rand) error {
		return c.freezeProcess(r, "plugin", driverProgram, "")
	}},
	{"freeze driver task", 1, func(_ context.Context, c *campaign, r *rand.Rand) error {
		return c.freezeProcess(r, "driver task", driverProgram, "task")
	}},
	{"freeze client agent", 1, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.freezeClient(r) }},
	{"freeze server", 1, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.freezeServer(r) }},
	{"cut client", 3, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.cutClient(r) }},
	{"slow client", 2, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.slowClient(r) }},
	{"cut proxy", 2, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.cutProxy(r) }},
	{"fill disk", 2, func(_ context.Context, c *campaign, r *rand.Rand) error { return c.fillDisk(r) }},
}

// draw picks a fault by weight.
func draw(r *rand.Rand, list []fault) fault {
	sum := 0
	for _, f := range list {
		sum += f.weight
	}
	at := r.IntN(sum)
	for _, f := range list {
		if at -= f.weight; at < 0 {
			return f
		}
	}
	return list[len(list)-1]
}

// lasting is a fault that ends at its time.
type lasting struct {
	end  time.Time
	what string
	mend func() error
}

// last begins a fault that lasts; on is what it is done to, which has at most one.
func (c *campaign) last(what, on string, d time.Duration, begin, mend func() error) error {
	if c.spans[on].mend != nil {
		return errNothing
	}
	if err := begin(); err != nil {
		return err
	}
	c.spans[on] = lasting{time.Now().Add(d), what, mend}
	c.count(func(r *Result) { r.Faults[what]++ })
	c.say("%s %s for %s", what, on, d.Round(time.Second))
	return nil
}

// mendDue ends what is over, or everything.
func (c *campaign) mendDue(all bool) error {
	var errs []error
	for on, l := range c.spans {
		if all || time.Now().After(l.end) {
			delete(c.spans, on)
			errs = append(errs, l.mend())
			c.say("%s %s is over", l.what, on)
		}
	}
	return errors.Join(errs...)
}

func seconds(r *rand.Rand, least, most int) time.Duration {
	return time.Duration(least)*time.Second + time.Duration(r.Int64N(int64(most-least)*int64(time.Second)))
}

// candidate is a process and the client that it is on.
type candidate struct {
	client string
	pid    int
}

// candidates lists a program's processes on clients that are not down.
func (c *campaign) candidates(program, role string) []candidate {
	var out []candidate
	for i := range c.site.Clients() {
		for _, pid := range c.site.processes(i, program, role) {
			out = append(out, candidate{c.site.Client(i).Name, pid})
		}
	}
	return out
}

func pick[T any](r *rand.Rand, list []T) (T, bool) {
	if len(list) == 0 {
		var none T
		return none, false
	}
	return list[r.IntN(len(list))], true
}

func (c *campaign) killProcess(r *rand.Rand, what, program, role string) error {
	p, ok := pick(r, c.candidates(program, role))
	if !ok {
		return errNothing
	}
	return c.shoot(p.pid, what, c.presentStep())
}

// agentToBreak is the leading agent, or one that does not lead.
func (c *campaign) agentToBreak(r *rand.Rand, leading bool) (candidate, bool) {
	leader, _ := c.leader()
	return pick(r, slices.DeleteFunc(c.candidates(placerProgram, "agent"), func(p candidate) bool { return (p.client == leader) != leading }))
}

func (c *campaign) killAgent(r *rand.Rand, leading bool) error {
	p, ok := c.agentToBreak(r, leading)
	if !ok || c.sparesLeader(leading) {
		return errNothing
	}
	what := "other agent"
	if leading {
		what = "leading agent"
	}
	return c.shoot(p.pid, what, c.presentStep())
}

// lockTime is more than the leader's lock outlives its holder.
const lockTime = 17

func (c *campaign) freezeAgent(r *rand.Rand, leading bool) error {
	p, ok := c.agentToBreak(r, leading)
	if !ok || c.sparesLeader(leading) {
		return errNothing
	}
	return c.freeze(r, "freeze agent", p, lockTime, lockTime+6)
}

func (c *campaign) freezeProcess(r *rand.Rand, what, program, role string) error {
	p, ok := pick(r, c.candidates(program, role))
	if !ok {
		return errNothing
	}
	return c.freeze(r, "freeze "+what, p, 5, lockTime)
}

// freeze stops a process and lets it go on later, if it is still there.
func (c *campaign) freeze(r *rand.Rand, what string, p candidate, least, most int) error {
	return c.last(what, fmt.Sprintf("%s/%d", p.client, p.pid), seconds(r, least, most), func() error {
		c.site.hamper(p.client, 1)
		return syscall.Kill(p.pid, syscall.SIGSTOP)
	}, func() error {
		c.site.hamper(p.client, -1)
		return ignoreGone(syscall.Kill(p.pid, syscall.SIGCONT))
	})
}

func ignoreGone(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// whole is a client nothing lasting happens to, and that is not spared, nor an agent that
// leads on it; -1 where there is none.
func (c *campaign) whole(r *rand.Rand) int {
	var list []int
	leader, _ := c.leader()
	for i := range c.site.Clients() {
		name := c.site.Client(i).Name
		if name != spareClient && c.spans[name].mend == nil && !c.sparesLeader(name == leader) && !c.sparesClient(name) {
			list = append(list, i)
		}
	}
	if i, ok := pick(r, list); ok {
		return i
	}
	return -1
}

// killClient kills a client's agent and starts it again a little later.
func (c *campaign) killClient(ctx context.Context, r *rand.Rand, plugin bool) error {
	i := c.whole(r)
	if i < 0 {
		return errNothing
	}
	name := c.site.Client(i).Name
	d := time.Duration(0)
	if r.IntN(3) == 0 {
		d = seconds(r, 1, 8)
	}
	return c.last(clientDown, name, d, func() error {
		step := c.presentStep()
		c.site.hamper(name, 1)
		if err := c.site.KillClient(ctx, i); err != nil {
			return err
		}
		c.site.noteBreak(name, func(b *breaks) { b.kills = append(b.kills, time.Now()) })
		c.counted("client agent", step)
		if plugin {
			for _, pid := range c.site.processes(i, driverProgram, "") {
				if err := c.shoot(pid, "plugin", step); err != nil && !errors.Is(err, errMissed) {
					return err
				}
			}
		}
		return nil
	}, func() error {
		defer c.site.hamper(name, -1)
		err := c.site.StartClient(context.WithoutCancel(ctx), i)
		c.site.lookAtClients()
		return err
	})
}

// What lasting faults are done to, and what one of them is called.
const (
	server     = "server"
	clientDown = "client agent down"
)

func (c *campaign) killServer(ctx context.Context, r *rand.Rand) error {
	if c.sparesLeader(true) {
		return errNothing
	}
	d := time.Duration(0)
	if r.IntN(3) == 0 {
		d = seconds(r, 1, 6)
	}
	return c.last("server down", server, d, func() error {
		step := c.presentStep()
		if err := c.site.KillServer(ctx); err != nil {
			return err
		}
		c.counted("server", step)
		return nil
	}, func() error { return c.site.RestartServer(context.WithoutCancel(ctx)) })
}

func (c *campaign) freezeServer(r *rand.Rand) error {
	if c.sparesLeader(true) {
		return errNothing
	}
	pid := c.site.ServerPID()
	return c.last("freeze server", server, seconds(r, 5, lockTime),
		func() error { return syscall.Kill(pid, syscall.SIGSTOP) },
		func() error { return ignoreGone(syscall.Kill(pid, syscall.SIGCONT)) })
}

// A client is given up by Nomad when it is silent for some 20 to 30 seconds.
const (
	silentLeast = 8
	silentMost  = 35
)

func (c *campaign) freezeClient(r *rand.Rand) error {
	i := c.whole(r)
	if i < 0 {
		return errNothing
	}
	name, pid := c.site.Client(i).Name, c.site.ClientPID(i)
	return c.last("freeze client agent", name, seconds(r, silentLeast, silentMost), func() error {
		c.site.hamper(name, 1)
		return syscall.Kill(pid, syscall.SIGSTOP)
	}, func() error {
		c.site.hamper(name, -1)
		return ignoreGone(syscall.Kill(pid, syscall.SIGCONT))
	})
}

func (c *campaign) cutClient(r *rand.Rand) error {
	i := c.whole(r)
	if i < 0 {
		return errNothing
	}
	name := c.site.Client(i).Name
	return c.last("cut client", name, seconds(r, silentLeast, silentMost), func() error {
		c.site.hamper(name, 1)
		c.site.rpc.set(name, link{cut: true})
		return nil
	}, func() error {
		c.site.hamper(name, -1)
		c.site.rpc.set(name, link{})
		return nil
	})
}

// slowness is a link over half the world, and worse: a release, of some ten requests, each of
// which Nomad makes two of, takes ten seconds over it. The agent there goes on, but is not one
// that can release a job within five.
const slowness = 150 * time.Millisecond

func (c *campaign) slowClient(r *rand.Rand) error {
	i := c.whole(r)
	if i < 0 {
		return errNothing
	}
	name := c.site.Client(i).Name
	return c.last("slow client", name, seconds(r, silentLeast, silentMost), func() error {
		c.site.hamper(name, 1)
		c.site.rpc.set(name, link{slow: slowness})
		return nil
	}, func() error {
		c.site.hamper(name, -1)
		c.site.rpc.set(name, link{})
		return nil
	})
}

func (c *campaign) cutProxy(r *rand.Rand) error {
	return c.last("cut proxy", proxyPeer, seconds(r, 5, 20), func() error {
		c.site.http.set(proxyPeer, link{cut: true})
		return nil
	}, func() error {
		c.site.http.set(proxyPeer, link{})
		return nil
	})
}

func (c *campaign) killProxy(ctx context.Context) error {
	if c.spans[proxyPeer].mend != nil || c.spans[server].mend != nil {
		return errNothing
	}
	c.site.mu.Lock()
	pid, ended := c.site.proxy.Process.Pid, c.site.ended
	c.site.mu.Unlock()
	if err := c.shoot(pid, "proxy", c.presentStep()); err != nil {
		return err
	}
	<-ended
	return c.site.startProxy(ctx)
}

func (c *campaign) fillDisk(r *rand.Rand) error {
	i := c.whole(r)
	if i < 0 {
		return errNothing
	}
	name := c.site.Client(i).Name
	var began time.Time
	return c.last("full disk", name, seconds(r, 5, 20), func() error {
		began = time.Now()
		c.site.hamper(name, 1)
		return c.site.FillDisk(i)
	}, func() error {
		c.site.hamper(name, -1)
		err := c.site.FreeDisk(i)
		c.site.noteBreak(name, func(b *breaks) { b.full = append(b.full, span{began, time.Now()}) })
		return err
	})
}

// counted counts a kill that the cluster carried out.
func (c *campaign) counted(victim, step string) {
	c.count(func(r *Result) {
		r.Kills++
		r.KillsOf[victim]++
		r.KillsIn[step]++
	})
	c.say("killed the %s (%s)", victim, step)
}
