package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// landing is where and when a job's allocation ran first.
type landing struct {
	node string
	at   time.Time
}

// runningBoard knows the jobs that run.
type runningBoard struct {
	mu    sync.Mutex
	jobs  map[string]landing
	again int                        // allocations beyond a job's first: lost and replaced, or moved
	nodes map[string]map[string]bool // of the system job
	// residents are the jobs that ran before the first round, with how many of their
	// allocations have run.
	residents map[string]int
	running   map[string]place // allocations, by what the light nodes say
}

func newRunningBoard() *runningBoard {
	return &runningBoard{jobs: map[string]landing{}, nodes: map[string]map[string]bool{everywhere: {}}, residents: map[string]int{}, running: map[string]place{}}
}

// nodesWith are the nodes that a system job runs on, in order.
func (b *runningBoard) nodesWith(job string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.nodes[job]))
}

// put notes that an allocation runs.
func (b *runningBoard) put(allocation, job, node string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[allocation] = place{job, node}
	if nodes, ok := b.nodes[job]; ok {
		nodes[node] = true
		return
	}
	if _, ok := b.residents[job]; ok {
		b.residents[job]++
		return
	}
	if first, ok := b.jobs[job]; ok {
		if first.node != node {
			b.again++
		}
		return
	}
	b.jobs[job] = landing{node, at}
}

// ended notes that an allocation has ended.
func (b *runningBoard) ended(allocation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, allocation)
}

// allRunning are the allocations that run.
func (b *runningBoard) allRunning() map[string]place {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.running)
}

// expect says which jobs are residents.
func (b *runningBoard) expect(jobs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range jobs {
		b.residents[id] = 0
	}
}

// resident is how many allocations of the residents have run.
func (b *runningBoard) resident() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, ran := range b.residents {
		n += ran
	}
	return n
}

// repeated is how many allocations came beyond a job's first.
func (b *runningBoard) repeated() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.again
}

// of returns the landings of those of the jobs that run.
func (b *runningBoard) of(jobs []string) map[string]landing {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]landing, len(jobs))
	for _, id := range jobs {
		if l, ok := b.jobs[id]; ok {
			out[id] = l
		}
	}
	return out
}

// side is who places.
type side string

const (
	stock  side = "stock"
	placed side = "placer"
)

// The waits of a round.
const (
	watchEvery = 100 * time.Millisecond
	tellEvery  = 2 * time.Second
	// stalled ends a round in which no further job came to run for so long.
	stalled = 45 * time.Second
)

// runRound submits the jobs of one side and waits until all run.
func (r *rig) runRound(ctx context.Context, s side, round int, workloads []workload, say func(string)) (Round, error) {
	ids := idsOf(fmt.Sprintf("r%d-%s", round, s), r.options.jobs)
	sampler, err := r.sample(ctx)
	if err != nil {
		return Round{}, err
	}
	before := machine.StolenNow()
	submitted, err := r.submit(ctx, s, requestsOf(ids, workloads))
	if err != nil {
		return Round{}, err
	}
	if err := r.await(ctx, s, ids, say); err != nil {
		return Round{}, err
	}
	out := Round{Side: s, Number: round, Jobs: len(ids), ids: ids}
	out.StolenPercent = machine.StolenNow().PercentSince(before)
	out.Samples, out.Usage = sampler.stop()
	out.count(submitted, r.ran.of(ids))
	return out, nil
}

// idsOf names so many jobs.
func idsOf(prefix string, count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%05d", prefix, i)
	}
	return ids
}

// submit registers the jobs from a few writers, and returns when each was sent.
func (r *rig) submit(ctx context.Context, s side, requests []request) (map[string]time.Time, error) {
	var mu sync.Mutex
	sent := make(map[string]time.Time, len(requests))
	var errs []error
	next := make(chan request)
	var writers sync.WaitGroup
	for range r.options.writers {
		writers.Go(func() {
			for q := range next {
				at := time.Now()
				err := r.send(ctx, s, q)
				mu.Lock()
				sent[q.id] = at
				if err != nil {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, q := range requests {
		next <- q
	}
	close(next)
	writers.Wait()
	return sent, errors.Join(errs...)
}

// send submits one job: stock Nomad's plain and to the server, the placer's with a
// performance block and the way its user would take.
func (r *rig) send(ctx context.Context, s side, q request) error {
	client, job := r.api, q.job("", "")
	switch {
	case s == stock:
	case r.front == nil:
		job = q.job(nomadapi.DefaultHoldPool, block)
	default:
		client, job = r.frontAPI, q.job("", block)
	}
	if err := register(ctx, client, job); err != nil {
		return err
	}
	r.asked.note(q)
	return nil
}

// errStalled is returned where something stopped to go on.
var errStalled = errors.New("no more came")

// await waits until every job runs.
func (r *rig) await(ctx context.Context, s side, ids []string, say func(string)) error {
	err := awaitAll(ctx, string(s)+": jobs run", len(ids), func() int { return len(r.ran.of(ids)) }, say)
	if errors.Is(err, errStalled) {
		return fmt.Errorf("%w: %s", err, r.why(ids))
	}
	return err
}

// awaitAll waits until all of something have come, and says how far it is.
func awaitAll(ctx context.Context, what string, all int, come func() int, say func(string)) error {
	began, told, moved, before := time.Now(), time.Now(), time.Now(), 0
	for {
		n := come()
		if n >= all {
			return nil
		}
		if n != before {
			before, moved = n, time.Now()
		}
		if time.Since(moved) > stalled {
			return fmt.Errorf("%s: %d of %d, and %w for %s", what, n, all, errStalled, stalled)
		}
		if time.Since(told) > tellEvery {
			told = time.Now()
			left := "…"
			if n > 0 {
				left = time.Duration(float64(time.Since(began)) / float64(n) * float64(all-n)).Round(time.Second).String()
			}
			say(fmt.Sprintf("%s: %d of %d, about %s to go", what, n, all, left))
		}
		if cluster.Sleep(ctx, watchEvery) != nil {
			return ctx.Err()
		}
	}
}

// why says what Nomad knows of the first job that does not run.
func (r *rig) why(ids []string) string {
	count, first := r.problems.get()
	text := fmt.Sprintf("light nodes had %d problems, the first %q", count, first)
	ran := r.ran.of(ids)
	for _, id := range ids {
		if _, ok := ran[id]; ok {
			continue
		}
		evaluations, _, err := r.api.Jobs().Evaluations(id, nil)
		if err != nil {
			return text + "; " + err.Error()
		}
		text += "; " + id + " has"
		for _, e := range evaluations {
			text += fmt.Sprintf(" [evaluation %s, by %s: %s]", e.Status, e.TriggeredBy, e.StatusDescription)
			for _, m := range e.FailedTGAllocs {
				text += fmt.Sprintf(" [%d nodes evaluated, %d filtered by %v, %d exhausted by %v]",
					m.NodesEvaluated, m.NodesFiltered, m.ConstraintFiltered, m.NodesExhausted, m.DimensionExhausted)
			}
		}
		allocations, _, err := r.api.Jobs().Allocations(id, true, nil)
		if err != nil {
			return text + "; " + err.Error()
		}
		for _, a := range allocations {
			text += fmt.Sprintf(" [allocation %s/%s on %s]", a.DesiredStatus, a.ClientStatus, a.NodeName)
		}
		break
	}
	return text
}
