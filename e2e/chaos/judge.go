package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// lookAgain is the pause between two looks at whether all is as it should be.
const lookAgain = time.Second

// judge checks the ledger once nothing is broken any more, then has everything removed and
// looks for what is left.
func (c *campaign) judge(ctx context.Context) error {
	c.say("nothing is broken any more; waiting until each of %d jobs is as its user asked", len(c.ledger.ids()))
	watched, unwatch := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { c.watch(watched); close(done) }()
	faults := c.settled(ctx, c.wrongJobs)
	unwatch()
	<-done
	for job, what := range faults {
		c.broken(promiseNewest, job, what)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for subject, what := range c.settled(ctx, c.strayRecords) {
		c.broken(promiseNothing, subject, what)
	}
	c.say("removing all jobs")
	if err := c.removeAll(ctx); err != nil {
		return err
	}
	// A task whose allocation was lost while the plugin was away is swept as one starts.
	for i := range c.site.Clients() {
		for _, pid := range c.site.processes(i, driverProgram, "") {
			if err := ignoreGone(syscall.Kill(pid, syscall.SIGKILL)); err != nil {
				return err
			}
		}
	}
	for subject, what := range c.settled(ctx, c.leftovers) {
		c.broken(promiseNothing, subject, what)
	}
	c.count(func(r *Result) {
		r.Tried[promiseNothing]++
		r.Lost += c.site.lost()
	})
	return ctx.Err()
}

// settled looks until nothing is wrong, or the time to settle is over, and returns what was
// wrong last, by what it is about.
func (c *campaign) settled(ctx context.Context, look func(context.Context) (map[string]string, error)) map[string]string {
	until, told := time.Now().Add(c.o.settle), time.Now()
	for {
		wrong, err := look(ctx)
		if err != nil {
			wrong = map[string]string{"": "it could not be looked at: " + err.Error()}
		}
		if len(wrong) == 0 || time.Now().After(until) || ctx.Err() != nil {
			return wrong
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			for job, what := range wrong {
				c.say("not yet: %s %s", job, what)
			}
		}
		_ = cluster.Sleep(ctx, lookAgain) // its end is looked at above
	}
}

// wrongJobs lists the jobs that are not as their users asked.
func (c *campaign) wrongJobs(ctx context.Context) (map[string]string, error) {
	if err := c.evaluateAgents(ctx); err != nil {
		return nil, err
	}
	stubs, _, err := c.site.nomad.Jobs().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	processes := c.site.taskProcesses()
	live := map[string]bool{}
	wrong := map[string]string{}
	for _, id := range c.ledger.ids() {
		e, _ := c.ledger.get(id)
		s := seen{processes: processes}
		for _, stub := range stubs {
			if stub.ID != id && stub.ParentID != id {
				continue
			}
			job, _, err := c.site.nomad.Jobs().Info(stub.ID, (&api.QueryOptions{}).WithContext(ctx))
			if err != nil {
				return nil, err
			}
			if stub.ID == id {
				s.job = job
			} else {
				s.kids = append(s.kids, job)
			}
		}
		if s.allocs, err = c.allocationsOf(ctx, id); err != nil {
			return nil, err
		}
		for _, a := range s.allocs {
			live[a.ID] = !ended(a)
		}
		if list := e.faults(s); len(list) > 0 {
			wrong[id] = strings.Join(list, "; ")
		}
	}
	agents := c.site.agents()
	for i := range c.site.Clients() {
		if name := c.site.Client(i).Name; agents[name] == 0 {
			wrong["client "+name] = "has no agent of the placer's, and Nomad starts none"
		}
	}
	return wrong, c.strayProcesses(ctx, processes, live, wrong)
}

// strayProcesses adds the tasks that run and that Nomad believes to have ended.
func (c *campaign) strayProcesses(ctx context.Context, processes map[string]int, live map[string]bool, wrong map[string]string) error {
	list, _, err := c.site.nomad.Allocations().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	for _, a := range list {
		if !ended(a) {
			live[a.ID] = true
		}
	}
	if err := c.stopForgotten(ctx, list, processes); err != nil {
		return err
	}
	for alloc := range processes {
		if !live[alloc] {
			wrong["allocation "+alloc[:8]] = "has ended and its task runs"
		}
	}
	return nil
}

// strayRecords lists records of jobs that are not there.
func (c *campaign) strayRecords(ctx context.Context) (map[string]string, error) {
	stubs, _, err := c.site.nomad.Jobs().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, s := range stubs {
		there[s.ID] = true
	}
	records, err := c.records(ctx)
	if err != nil {
		return nil, err
	}
	wrong := map[string]string{}
	for kind, jobs := range records {
		for _, job := range jobs {
			if !there[job] {
				wrong[kind+" of "+job] = "is a record of a job that is not there"
			}
		}
	}
	return wrong, nil
}

// records lists, by their kind, the jobs that the placer has records of.
func (c *campaign) records(ctx context.Context) (map[string][]string, error) {
	s, err := nomadvars.New(c.site.nomad, nomadvars.Options{})
	if err != nil {
		return nil, err
	}
	book := journal.Book{Store: s}
	evaluations, err := book.Evaluations(ctx)
	if err != nil {
		return nil, err
	}
	decisions, err := book.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, e := range evaluations {
		out["evaluation"] = append(out["evaluation"], e.Job.ID)
	}
	for _, d := range decisions {
		out["decision"] = append(out["decision"], d.Workload.Job)
	}
	return out, nil
}

// removeAll stops and purges every job of the ledger, as their users would.
func (c *campaign) removeAll(ctx context.Context) error {
	for _, id := range c.ledger.ids() {
		if err := c.until(func(ctx context.Context) error { return c.deregister(ctx, id, false) }); err != nil {
			return fmt.Errorf("stopping %s: %w", id, err)
		}
		c.ledger.change(id, func(e *entry) {
			e.Wish = purged
			e.note(time.Now(), "removed at the end")
		})
	}
	for _, id := range c.ledger.ids() {
		if err := c.until(func(ctx context.Context) error { return c.purge(ctx, id) }); err != nil {
			c.broken(promiseNewest, id, "it cannot be purged: "+err.Error())
		}
	}
	return ctx.Err()
}

// The Variables that stay: profiles for the next job of the same content, the lock of who leads, and
// what tells the clock of the servers.
var staying = []string{"nomad-placer/profile/", "nomad-placer/production/", nomadapi.ClockPath, nomadapi.LeaderPath}

// ourJobs begins the names of the jobs that the placer makes.
const ourJobs = "placer-"

// leftovers lists what is left of us when every job is gone.
func (c *campaign) leftovers(ctx context.Context) (map[string]string, error) {
	wrong := map[string]string{}
	q := (&api.QueryOptions{Namespace: api.AllNamespacesNamespace}).WithContext(ctx)
	stubs, _, err := c.site.nomad.Jobs().List(q)
	if err != nil {
		return nil, err
	}
	for _, s := range stubs {
		if strings.HasPrefix(s.ID, ourJobs) {
			wrong["job "+s.ID] = "is left, " + s.Status
		}
	}
	variables, _, err := c.site.nomad.Variables().PrefixList("nomad-placer/", q)
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		if !hasAnyPrefix(v.Path, staying) {
			wrong["variable "+v.Path] = "is left"
		}
	}
	for i := range c.site.Clients() {
		for _, what := range c.site.left(i) {
			wrong[what] = "is left"
		}
	}
	for alloc := range c.site.taskProcesses() {
		info, _, err := c.site.nomad.Allocations().Info(alloc, q)
		if notFound(err) || err == nil && info.JobID != placerProgram {
			wrong["allocation "+alloc[:8]] = "has a task that runs"
		}
	}
	return wrong, nil
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// keepLogs copies the logs of agents and Nomad to where they outlive the cluster.
func (c *campaign) keepLogs() error {
	if c.o.logs == "" {
		return nil
	}
	if err := os.MkdirAll(c.o.logs, 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(c.site.Dir(), "*", "agent.log"))
	if err != nil {
		return err
	}
	more, err := filepath.Glob(filepath.Join(c.site.Dir(), "*", "data", "alloc", "*", "alloc", "logs", "agent.stderr.*"))
	if err != nil {
		return err
	}
	files = append(append(files, more...), filepath.Join(c.site.dir, "proxy.log"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // there may be none
		}
		name := strings.ReplaceAll(strings.Trim(strings.TrimPrefix(file, c.site.Dir()), "/"), "/", "_")
		if err := os.WriteFile(filepath.Join(c.o.logs, name), text, 0o644); err != nil {
			return err
		}
	}
	c.say("the logs are in %s", c.o.logs)
	return nil
}
