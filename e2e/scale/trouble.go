package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/nomad/api"
	"golang.org/x/sync/errgroup"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// Trouble is the phase after the rounds: jobs come and are updated while nodes are
// drained and fail, and while the agent that leads is killed.
type Trouble struct {
	Seconds         float64 `json:"seconds"` // in which all of it began
	Submitted       int     `json:"submitted"`
	Updated         int     `json:"updated"`
	Retried         int     `json:"retried"` // requests that were refused first
	Drained         int     `json:"drained_nodes"`
	Failed          int     `json:"failed_nodes"`
	LeaderSeconds   float64 `json:"leader_seconds"`      // from the kill until another agent led
	SlowestSeconds  float64 `json:"slowest_seconds"`     // of one job, from submission to running
	SettledSeconds  float64 `json:"settled_seconds"`     // from then until all was as asked, or given up
	AgentMiB        float64 `json:"agent_mib"`           // of the new leader, at the end
	Jobs            int     `json:"jobs"`                // checked, of the whole run
	Allocations     int     `json:"allocations_running"` // of them
	EndedWithADrain int     `json:"batch_jobs_ended_with_a_drain"`
	// Missed are jobs that Nomad had placed on a node in the moment it failed, and placed again
	// only when it was asked to.
	Missed int `json:"jobs_placed_as_their_node_failed"`
	// Faults are jobs and nodes that are not as they were asked to be, with what is wrong.
	Faults map[string]string `json:"faults"`
}

// The times of the phase, chosen by us.
const (
	troubleLasts  = 60 * time.Second
	killAfter     = troubleLasts / 3
	drainAfter    = troubleLasts / 6
	drainDeadline = 20 * time.Second
	retryWithin   = 2 * time.Minute
	retryEvery    = time.Second
	secondWithin  = 30 * time.Second
)

// Shares of what there is.
const (
	failedShare  = 0.10 // of the nodes
	drainedShare = 0.01
	updatedShare = 0.10 // of the placer's jobs of the rounds, the first ones by name
)

// troubled is the phase as it goes on.
type troubled struct {
	*rig
	say       func(string)
	out       Trouble
	retried   atomic.Int64
	failing   []string
	draining  []string
	submitted []request
	sentAt    map[string]time.Time // of the submitted ones, when they were sent first
	updated   []request
	missed    map[string]int // looks in which a job waited for a node that had failed
}

// trouble runs the phase and judges what came of it.
func (r *rig) trouble(ctx context.Context, workloads []workload, say func(string)) (*Trouble, error) {
	second, err := r.startAgent("second agent", r.options.port+8)
	if err != nil {
		return nil, err
	}
	if err := awaitAnswer(ctx, "http://"+second.address); err != nil {
		return nil, fmt.Errorf("second agent: %w", err)
	}
	t := &troubled{rig: r, say: say, sentAt: map[string]time.Time{}, missed: map[string]int{}}
	t.choose(workloads)
	say(fmt.Sprintf("trouble: %d jobs come and %d are updated, %d nodes are drained, %d nodes fail, and the agent that leads is killed", len(t.submitted), len(t.updated), len(t.draining), len(t.failing)))
	began := time.Now()
	all, working := errgroup.WithContext(ctx)
	all.Go(func() error { return spread(working, t.submitted, t.submitNew) })
	all.Go(func() error { return spread(working, t.updated, t.sendUntilTaken) })
	all.Go(func() error { return t.drain(working) })
	all.Go(func() error { return spread(working, t.failing, t.fail) })
	all.Go(func() error { return t.killLeader(working, second) })
	if err := all.Wait(); err != nil {
		return nil, err
	}
	t.out.Seconds = time.Since(began).Seconds()
	if err := t.settled(ctx); err != nil {
		return nil, err
	}
	u, err := usageOf(second.pid())
	if err != nil {
		return nil, err
	}
	t.out.AgentMiB, t.out.Retried = u.rssMiB, int(t.retried.Load())
	return &t.out, nil
}

// choose draws what happens to what. Drained are the nodes with the most allocations,
// so that there is something to move.
func (t *troubled) choose(workloads []workload) {
	random := rand.New(rand.NewPCG(t.options.seed, 1))
	nodes := t.ran.nodesWith(everywhere)
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	cut := shareOf(failedShare, len(nodes))
	rest := slices.Clone(nodes[cut:])
	t.failing = nodes[:cut]
	on := map[string]int{}
	for _, at := range t.ran.allRunning() {
		on[at.node]++
	}
	slices.SortStableFunc(rest, func(a, b string) int { return cmp.Compare(on[b], on[a]) })
	t.draining = rest[:min(len(rest), shareOf(drainedShare, len(nodes)))]

	t.submitted = requestsOf(idsOf("trouble-"+string(placed), t.options.jobs), workloads)
	t.updated = t.asked.of(placed)
	t.updated = t.updated[:shareOf(updatedShare, len(t.updated))]
	for i := range t.updated {
		t.updated[i].mark++
	}
	t.out.Submitted, t.out.Updated, t.out.Failed, t.out.Drained = len(t.submitted), len(t.updated), len(t.failing), len(t.draining)
}

// shareOf is a share of n, one at least.
func shareOf(share float64, n int) int { return max(1, int(share*float64(n))) }

// spread does something with each of a list, evenly over the time of the phase.
func spread[T any](ctx context.Context, list []T, do func(context.Context, T) error) error {
	began := time.Now()
	for i, one := range list {
		at := troubleLasts * time.Duration(i) / time.Duration(len(list))
		if err := cluster.Sleep(ctx, at-time.Since(began)); err != nil {
			return err
		}
		if err := do(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// submitNew submits a job of the phase.
func (t *troubled) submitNew(ctx context.Context, q request) error {
	t.sentAt[q.id] = time.Now()
	return t.sendUntilTaken(ctx, q)
}

// sendUntilTaken sends again what is refused, as a user would.
func (t *troubled) sendUntilTaken(ctx context.Context, q request) error {
	for began := time.Now(); ; {
		err := t.send(ctx, placed, q)
		if err == nil || time.Since(began) > retryWithin {
			return err
		}
		t.retried.Add(1)
		if cluster.Sleep(ctx, retryEvery) != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// drain begins the drains, all at once.
func (t *troubled) drain(ctx context.Context) error {
	if err := cluster.Sleep(ctx, drainAfter); err != nil {
		return err
	}
	for _, id := range t.draining {
		_, err := t.api.Nodes().UpdateDrain(id, &api.DrainSpec{Deadline: drainDeadline}, false, (&api.WriteOptions{}).WithContext(ctx))
		if err != nil {
			return fmt.Errorf("drain of node %s: %w", id, err)
		}
	}
	return nil
}

// fail ends a light node.
func (t *troubled) fail(_ context.Context, node string) error {
	line, err := json.Marshal(struct{ Fail string }{node})
	if err != nil {
		return err
	}
	_, err = t.nodesIn.Write(append(line, '\n'))
	return err
}

// killLeader kills the agent that leads and waits until the other one does.
func (t *troubled) killLeader(ctx context.Context, second *agent) error {
	if err := cluster.Sleep(ctx, killAfter); err != nil {
		return err
	}
	before, err := t.world.Leader(ctx)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(before.Address, t.agent.address) {
		return fmt.Errorf("the agent at %s leads, and the one at %s was to", before.Address, t.agent.address)
	}
	killed := time.Now()
	if err := t.agent.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the agent that leads: %w", err)
	}
	t.say("the agent that led is killed")
	ctx, cancel := context.WithTimeout(ctx, retryWithin)
	defer cancel()
	for {
		now, err := t.world.Leader(ctx)
		if err == nil && strings.HasSuffix(now.Address, second.address) {
			t.out.LeaderSeconds = time.Since(killed).Seconds()
			t.say(fmt.Sprintf("another agent leads after %.1f s", t.out.LeaderSeconds))
			return nil
		}
		if cluster.Sleep(ctx, watchEvery) != nil {
			return fmt.Errorf("no other agent took the lead: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// awaitAnswer waits until a program answers, whatever it says.
func awaitAnswer(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, secondWithin)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			return response.Body.Close()
		}
		if cluster.Sleep(ctx, watchEvery) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// write is the section of the report.
func (t Trouble) write(w io.Writer) {
	fmt.Fprintf(w, "\nTrouble after the rounds (`-trouble`): within %.0f s %d jobs came and %d of earlier rounds were updated, %d nodes were drained, %d nodes failed one after another, and the agent that led was killed while another one was there.\n\n| | | wanted |\n|---|---|---|\n",
		t.Seconds, t.Submitted, t.Updated, t.Drained, t.Failed)
	line := func(name, value, wanted string) { fmt.Fprintf(w, "| %s | %s | %s |\n", name, value, wanted) }
	line("jobs of the whole run checked", fmt.Sprintf("%d, with %d allocations that run", t.Jobs, t.Allocations), "")
	line("lost, doubled, held, of an older version, or not running as Nomad says", fmt.Sprint(len(t.Faults)), "0")
	line("batch jobs that Nomad ended with a drain and does not place again", fmt.Sprint(t.EndedWithADrain), "")
	line("jobs that Nomad placed on a node as it failed, and again only when it was asked", fmt.Sprint(t.Missed), "")
	line("another agent led after", fmt.Sprintf("%.1f s", t.LeaderSeconds), "")
	line("slowest of the new jobs, until it ran", fmt.Sprintf("%.1f s", t.SlowestSeconds), "")
	line("all was as asked after", fmt.Sprintf("%.0f s more", t.SettledSeconds), "")
	line("requests that had to be sent again", fmt.Sprint(t.Retried), "")
	line("memory of the new leader", fmt.Sprintf("%.0f MiB", t.AgentMiB), "")
	for i, id := range slices.Sorted(maps.Keys(t.Faults)) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if i == mostFaults {
			fmt.Fprintf(w, "- and %d more\n", len(t.Faults)-i)
			return
		}
		fmt.Fprintf(w, "- %s: %s\n", id, t.Faults[id])
	}
}

// mostFaults are listed.
const mostFaults = 20
