package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// lender gives a world nodes some time after they were ordered; none while it is closed.
type lender struct {
	world  *memWorld
	takes  time.Duration
	closed bool

	mu    sync.Mutex
	count int
}

func (l *lender) Status(context.Context, string) (cluster.RentalStatus, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cluster.RentalStatus{Count: l.count, Ready: true}, nil
}

func (l *lender) Scale(_ context.Context, s cluster.Scaling) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range s.Count - l.count {
		if !l.closed {
			time.AfterFunc(l.takes, func() {
				l.world.mu.Lock()
				defer l.world.mu.Unlock()
				l.world.nodes = append(l.world.nodes, testNode("rented", "burst"))
			})
		}
	}
	l.count = s.Count
	return nil
}

func renting(l *lender, change ...func(*provisioning.Options)) func(*engine.Config) {
	return func(c *engine.Config) {
		c.Provision = &provisioning.Options{
			Settings: provision.DefaultSettings(), MaxPerHour: 5, Renter: l,
			Types: []tracker.Type{{Type: provision.Type{Name: "small", Cores: 1, MemoryMB: 4096, PricePerHour: 1, SpinUp: 20 * time.Second}, NodeClass: "burst"}},
		}
		for _, f := range change {
			f(c.Provision)
		}
	}
}

// hungry jobs take 80 % of an owned node each, and are alike: the first is profiled for all.
func hungry(j *cluster.Job) { j.Workloads[0].Ask.CPUMHz, j.Workloads[0].ProfileKey = 2080, "key" }

// The base takes the first job, and the second waits for a node that is rented for it: its record
// says why, and after it both sides are as they were decided.
func TestAJobIsRentedANode(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newWorld(testNode("alpha", "owned"))
		l := &lender{world: w, takes: 30 * time.Second}
		b := start(t, w, mem.New(), renting(l))
		first := w.submit(testJob("first", hungry))
		settle(2 * time.Minute)
		if d := b.decision(first.Workloads[0].ID); d.Outcome != cluster.Placed || d.Rental == nil || d.Rental.Side != cluster.SideOwned || !strings.Contains(d.Reason, "owned nodes: 0 % of the base is used") {
			t.Fatalf("%+v", d)
		}
		second := w.submit(testJob("second", hungry))
		settle(10 * time.Second)
		e, err := b.engine.Book().Evaluation(context.Background(), second.ID)
		if err != nil || !strings.Contains(e.Message, "waits for a node of type small") {
			t.Errorf("%+v, %v", e, err)
		}
		report, err := b.engine.Provision(context.Background())
		if err != nil || report.Types[0].Wanted != 1 || report.Nodes[0].State != provision.Starting {
			t.Errorf("%+v, %v", report, err)
		}
		settle(time.Minute)
		d := b.decision(second.Workloads[0].ID)
		if d.Outcome != cluster.Placed || d.Rental == nil || d.Rental.Side != cluster.SideRented || d.Candidates[0].Node != "id-rented" || len(d.Candidates) != 1 {
			t.Fatalf("%+v", d)
		}
		if report, err = b.engine.Provision(context.Background()); err != nil || report.Nodes[0].State != provision.Serving || report.PerHour != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// Where no node ever comes, the job runs under stock rules at its hold deadline, and says why.
func TestNoNodeEverComes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		w := newWorld(testNode("alpha", "owned"))
		b := start(t, w, mem.New(), renting(&lender{world: w, closed: true}))
		w.submit(testJob("first", hungry))
		settle(2 * time.Minute)
		second := w.submit(testJob("second", hungry))
		settle(5 * time.Minute)
		d := b.decision(second.Workloads[0].ID)
		if d.Outcome != cluster.Stock || !strings.Contains(d.Reason, "it had no place before the hold deadline") || !strings.Contains(d.Reason, "a node of type small") {
			t.Errorf("%+v", d)
		}
	})
}
