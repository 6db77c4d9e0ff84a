package worldstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// still is a clock at which no deadline ever comes; only pauses pass, and quickly: jobs come one
// by one, so that nothing is to be waited for.
type still struct{}

func (still) Now() time.Time { return time.Unix(1, 0) }
func (still) After(d time.Duration) <-chan time.Time {
	return time.After(min(d, time.Millisecond))
}

// liveWorld is the engine on an in-memory Nomad whose scheduler is the test: it
// puts allocations where the decision says.
type liveWorld struct {
	t      *testing.T
	scene  scene
	server *nomadtest.Server
	world  *nomadapi.World
	store  *mem.Store
	engine *engine.Engine
}

const livePool = "prod"

func newLiveWorld(t *testing.T, s scene, policyName string) *liveWorld {
	t.Helper()
	l := &liveWorld{t: t, scene: s, server: nomadtest.New(t), store: mem.New()}
	for _, n := range s.nodes {
		l.server.AddNode(nomadtest.Node{
			ID: string(n.id), Pool: livePool, Class: n.class, Cores: n.cores, CPUMHz: n.cores * coreMHz, MemoryMB: n.memoryMB,
			Drivers: []string{"exec", "ibench"},
		})
	}
	l.server.SetNodeStatus(string(s.absent), "down")
	log := slog.New(slog.DiscardHandler)
	var err error
	l.world, err = nomadapi.New(nomadapi.Options{Address: l.server.URL, RunPool: livePool, Decode: decodeTarget, Clock: still{}, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.world.API().Close)
	if _, err := l.world.EnsureHoldPool(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.engine, err = engine.New(engine.Config{World: l.world, Store: l.store, Clock: still{}, Log: log, Policy: policyName, Columns: s.columns})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// decodeTarget reads the rate a group must reach; 0 is none.
func decodeTarget(text, _ string) (performance.Spec, []string, error) {
	rate, err := strconv.ParseFloat(text, 64)
	spec := performance.Spec{Target: performance.Target{Kind: performance.BestEffort}, SlowdownMaxPercent: performance.DefaultSlowdownMaxPercent}
	if rate > 0 {
		spec.Target = performance.Target{Kind: performance.Rate, Rate: rate}
	}
	return spec, nil, err
}

func (l *liveWorld) run() []cluster.Decision {
	l.t.Helper()
	var out []cluster.Decision
	for i, j := range l.scene.jobs {
		for _, ended := range l.scene.ended(i) {
			l.server.Stop("default", ended.id)
		}
		if i == l.scene.returns() {
			l.server.SetNodeStatus(string(l.scene.absent), "ready")
		}
		out = append(out, l.submit(j))
	}
	return out
}

// submit registers a job, lets the engine decide and Nomad obey.
func (l *liveWorld) submit(j submission) cluster.Decision {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	l.server.Submit(specOf(j), "")
	id := cluster.JobID{Namespace: "default", ID: j.id}
	job, err := l.world.Job(ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	workload := job.Workloads[0]
	if _, err := (store.Profiles{Store: l.store}).Put(ctx, l.scene.profile(j, workload.ProfileKey), store.Any); err != nil {
		l.t.Fatal(err)
	}
	if err := l.engine.Reconcile(ctx); err != nil {
		l.t.Fatal(err)
	}
	l.await(ctx, id)
	d, err := l.engine.Book().Decision(ctx, workload.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	l.obey(j, d)
	return d
}

// await the end of the evaluation.
func (l *liveWorld) await(ctx context.Context, id cluster.JobID) {
	l.t.Helper()
	for {
		e, err := l.engine.Book().Evaluation(ctx, id)
		switch {
		case err != nil && !errors.Is(err, cluster.ErrNoRecord):
			l.t.Fatalf("%s: %v", id, err)
		case err == nil && e.Stage == cluster.StageFailed:
			l.t.Fatalf("%s: %s", id, e.Message)
		case err == nil && e.Stage.Ended():
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// obey puts the allocations where the decision says, after checking that this is
// what the registered job asks of Nomad.
func (l *liveWorld) obey(j submission, d cluster.Decision) {
	l.t.Helper()
	group, _ := l.server.Job("default", j.id)["TaskGroups"].([]any)[0].(nomadtest.Object)
	listed, bound := nomadapi.ShortlistOf(group)
	if bound != (d.Outcome == cluster.Placed) {
		l.t.Fatalf("%s: %s, and the job is bound: %v", j.id, d.Outcome, bound)
	}
	inside := map[cluster.NodeID]bool{}
	for _, n := range listed {
		inside[n] = true
	}
	var nodes []string
	for _, c := range d.Candidates {
		for range allocationsOn(c) {
			if !inside[c.Node] {
				l.t.Fatalf("%s: node %s is decided and not in the job", j.id, c.Node)
			}
			nodes = append(nodes, string(c.Node))
		}
	}
	l.server.PlaceOn("default", j.id, nodes...)
}

// allocationsOn a candidate: its line says where it is not one of a wanted node
// and none of a spare one.
func allocationsOn(c cluster.Candidate) int {
	if c.Score < 1 {
		return 0
	}
	for _, p := range c.Parts {
		if p.Name == "allocations" {
			return int(p.Value)
		}
	}
	return 1
}

func planOf(d cluster.Decision) plan {
	out := plan{}
	for _, c := range d.Candidates {
		if n := allocationsOn(c); n > 0 {
			out[c.Node] = n
		}
	}
	return out
}

func specOf(j submission) nomadtest.Object {
	return nomadtest.Object{
		"ID": j.id, "NodePool": nomadapi.DefaultHoldPool, "Datacenters": []string{"*"},
		"TaskGroups": []any{nomadtest.Object{
			"Name": "main", "Count": j.count, "EphemeralDisk": nomadtest.Object{"SizeMB": j.size.DiskMB},
			"Meta": nomadtest.Object{nomadapi.MetaKey: fmt.Sprint(j.target)},
			"Tasks": []any{nomadtest.Object{
				"Name": "main", "Driver": "exec", "Config": nomadtest.Object{"command": j.id},
				"Resources": nomadtest.Object{"CPU": j.size.CPUMHz, "MemoryMB": j.size.MemoryMB},
			}},
		}},
	}
}

// profile is what a run that left nothing out would have stored.
func (s scene) profile(j submission, key string) profile.Profile {
	p := profile.Profile{
		Format: profile.Format, Key: key, Workload: "default/" + j.id + "/g", Complete: true, Isolated: map[string]profile.Measurement{},
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
	}
	for class, v := range j.speed {
		p.Isolated[class] = profile.Measurement{Value: v, Low: v, High: v, Unit: rateUnit, Windows: 10}
	}
	for k, source := range s.columns {
		if !math.IsNaN(j.tolerated[k]) {
			p.Sensitivity.Tolerated[source] = measuredScore(j.tolerated[k])
			p.Sensitivity.Caused[source] = measuredScore(j.caused[k])
		}
	}
	return p
}

func measuredScore(percent float64) interference.Estimate {
	v := interference.Percent(percent)
	return interference.Estimate{Score: v, Low: v, High: v, Origin: interference.Measured}
}
