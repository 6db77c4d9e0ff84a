package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/whatif"
)

// Bounds of what an agent does to answer, chosen by us: whoever may read nodes may ask.
const (
	comparesFor  = 2 * time.Minute
	answersCount = 10 * time.Minute // an answer is given again until then
)

// comparer answers one question at a time, in the background: a week is replayed five times for it.
type comparer struct {
	now     func() time.Time
	log     *slog.Logger
	compare func(context.Context, whatif.Recorded, provision.Question, func(float64, string)) (provision.Comparison, error)

	mu    sync.Mutex
	asked dashboard.CompareQuestion // that is answered, or was
	begun time.Time                 // zero: nothing was asked yet
	busy  bool
	state provision.Answering
	err   error
}

func newComparer(now func() time.Time, log *slog.Logger) *comparer {
	return &comparer{now: now, log: log, compare: whatif.Compare}
}

// answer is that to a question, or how far it is. prepare reads what is on record; it is called where the
// question is new. While another one is answered this one waits: who asks, asks again.
func (c *comparer) answer(ctx context.Context, q dashboard.CompareQuestion, prepare func(context.Context) (whatif.Recorded, provision.Question, error)) (provision.Answering, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := !c.begun.IsZero() && c.asked == q && (c.busy || c.now().Sub(c.begun) < answersCount)
	switch {
	case same:
		return c.state, c.err
	case c.busy:
		return provision.Answering{Share: c.state.Share, What: "another question, which came first"}, nil
	}
	recorded, question, err := prepare(ctx)
	if err != nil {
		return provision.Answering{}, err
	}
	c.asked, c.begun, c.busy, c.state, c.err = q, c.now(), true, provision.Answering{}, nil
	go c.work(context.WithoutCancel(ctx), recorded, question)
	return c.state, nil
}

func (c *comparer) work(ctx context.Context, recorded whatif.Recorded, q provision.Question) {
	ctx, cancel := context.WithTimeout(ctx, comparesFor)
	defer cancel()
	comparison, err := c.guarded(ctx, recorded, q)
	if ctx.Err() != nil {
		err = fmt.Errorf("it takes longer than %s here: ask for a shorter time, or use nomad-placer provision what-if", comparesFor)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.err = false, err
	if err == nil {
		c.state = provision.Answering{Share: 1, Comparison: &comparison}
	}
}

// guarded compares. A fault of the simulated world must not end an agent.
func (c *comparer) guarded(ctx context.Context, recorded whatif.Recorded, q provision.Question) (out provision.Comparison, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			c.log.Error("comparing strategies failed", "fault", fault, "stack", string(debug.Stack()))
			err = fmt.Errorf("a fault of the simulated world, which is in the agent's log: %v", fault)
		}
	}()
	return c.compare(ctx, recorded, q, func(share float64, what string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state = provision.Answering{Share: share, What: what}
	})
}

// comparingRecords are those of an agent, which also compares.
type comparingRecords struct {
	engineRecords
	comparer *comparer
}

// Compare implements dashboard.Comparing: what the agent's types cost is in its configuration, what owned
// nodes do is in the question.
func (r comparingRecords) Compare(ctx context.Context, asked dashboard.CompareQuestion) (provision.Answering, error) {
	return r.comparer.answer(ctx, asked, func(ctx context.Context) (whatif.Recorded, provision.Question, error) {
		report, err := r.Provision(ctx)
		if err != nil {
			return whatif.Recorded{}, provision.Question{}, err
		}
		recorded, err := recordedRuns(ctx, r, r)
		if err != nil {
			return whatif.Recorded{}, provision.Question{}, err
		}
		q, err := askedOf(report, asked, r.comparer.now())
		return recorded, q, err
	})
}

// askedOf is a question of the page, with what the agent's types cost.
func askedOf(report provision.Report, asked dashboard.CompareQuestion, now time.Time) (provision.Question, error) {
	prices := jobhcl.PricesConfig{
		Owned:          jobhcl.OwnedNodeConfig{Cores: asked.Cores, MemoryMB: asked.MemoryMB, PricePerHour: asked.PricePerHour, TermWeeks: asked.TermWeeks},
		OutsidePercent: jobhcl.DefaultOutsidePercent, Types: typesOf(report),
	}
	if len(prices.Types) == 0 {
		return provision.Question{}, fmt.Errorf("%w: add an instance_type with its price to the agent's provision block (strategy SR rents nothing all the same), or give a price list to nomad-placer provision what-if", provision.ErrNoTypes)
	}
	q := questionOf(report, prices)
	q.From, q.To, q.Weeks, q.Seed = now.Add(-asked.Since), now, provision.DefaultWeeks(), 1
	return q, q.Check()
}
