package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// runningJob is a job that was released onto n1 and n2, with a line of its user's.
func runningJob(t *testing.T, change ...func(group nomadtest.Object)) (*World, *nomadtest.Server, context.Context, cluster.Job) {
	t.Helper()
	w, server, ctx := testWorld(t)
	spec := testJob("web", "ok")
	group := spec["TaskGroups"].([]any)[0].(nomadtest.Object)
	group["Constraints"] = []any{nomadtest.Object{"LTarget": "${attr.kernel.name}", "RTarget": "linux", "Operand": "="}}
	group["SomethingNew"] = 7
	for _, c := range change {
		c(group)
	}
	server.Submit(spec, "job \"web\" {}")
	if _, err := w.Apply(ctx, placedOn(mustJob(t, w, ctx, "web"), "n1", "n2")); err != nil {
		t.Fatal(err)
	}
	return w, server, ctx, mustJob(t, w, ctx, "web")
}

func groupOf(server *nomadtest.Server) object {
	return object(server.Job("default", "web")).objects("TaskGroups")[0]
}

func TestAdjustGrows(t *testing.T) {
	t.Parallel()
	w, server, ctx, job := runningJob(t)
	b, err := w.Bounds(ctx, job.Workloads[0].ID)
	if err != nil || b.Count != 1 || b.Scaled || !b.Bound || !slices.Equal(b.Shortlist, []cluster.NodeID{"n1", "n2"}) || b.ModifyIndex != job.ModifyIndex {
		t.Fatalf("bounds %+v, %v", b, err)
	}
	result, err := w.Adjust(ctx, cluster.Change{Workload: job.Workloads[0].ID, ModifyIndex: job.ModifyIndex, Count: 3, Message: "more"})
	if err != nil || result.Version != job.Version+1 || result.ModifyIndex <= job.ModifyIndex {
		t.Fatalf("%+v, %v", result, err)
	}
	group := groupOf(server)
	if nodes, _ := ShortlistOf(group); group.number("Count") != 3 || len(nodes) != 2 || group.number("SomethingNew") != 7 || len(group.objects("Constraints")) != 2 {
		t.Errorf("group %v", group)
	}
	if server.Source("default", "web", int(result.Version)) == "" {
		t.Error("the user's source text was lost")
	}
	if notes := server.Notes(); notes[len(notes)-1].Message != "more" || notes[len(notes)-1].Group != "g" {
		t.Errorf("notes %+v", notes)
	}
}

func TestAdjustRebinds(t *testing.T) {
	t.Parallel()
	w, server, ctx, job := runningJob(t)
	id := job.Workloads[0].ID
	result, err := w.Adjust(ctx, cluster.Change{Workload: id, ModifyIndex: job.ModifyIndex, Rebind: true, Nodes: []cluster.Candidate{{Node: "n2"}}})
	if err != nil {
		t.Fatal(err)
	}
	group := groupOf(server)
	if nodes, bound := ShortlistOf(group); !bound || !slices.Equal(nodes, []cluster.NodeID{"n2"}) || len(group.objects("Affinities")) != 0 {
		t.Errorf("group %v", group)
	}
	prefilters := func() (out []string) {
		for _, c := range object(server.Job("default", "web")).objects("Constraints") {
			out = append(out, c.text("RTarget"))
		}
		return out
	}
	if got := prefilters(); !slices.Equal(got, []string{"^(placer:v1|n2)"}) {
		t.Errorf("the job's own constraints are %v", got)
	}
	// With none it is bound to nothing, and strip still finds the line.
	if _, err = w.Adjust(ctx, cluster.Change{Workload: id, ModifyIndex: result.ModifyIndex, Rebind: true}); err != nil {
		t.Fatal(err)
	}
	if nodes, bound := ShortlistOf(groupOf(server)); !bound || len(nodes) != 0 {
		t.Errorf("bound %v to %v", bound, nodes)
	}
	if got := prefilters(); len(got) != 0 {
		t.Errorf("bound to nothing, the job's own constraints are %v", got)
	}
	if _, err := w.StripJob(ctx, job.ID); err != nil {
		t.Fatal(err)
	}
	if _, bound := ShortlistOf(groupOf(server)); bound || len(groupOf(server).objects("Constraints")) != 1 {
		t.Errorf("after strip %v", groupOf(server))
	}
}

func TestAdjustRefuses(t *testing.T) {
	t.Parallel()
	scaling := func(enabled bool) func(nomadtest.Object) {
		return func(g nomadtest.Object) { g["Scaling"] = nomadtest.Object{"Enabled": enabled, "Min": 1, "Max": 5} }
	}
	grow := cluster.Change{Count: 2}
	cases := map[string]struct {
		group  func(nomadtest.Object)
		before func(w *World, s *nomadtest.Server)
		change cluster.Change
		want   error
	}{
		"newer version": {nil, func(_ *World, s *nomadtest.Server) { s.Submit(testJob("web", "ok"), "") }, grow, cluster.ErrStale},
		"stopped":       {nil, func(_ *World, s *nomadtest.Server) { s.Stop("default", "web") }, grow, cluster.ErrGone},
		"scaled":        {scaling(true), nil, grow, cluster.ErrYields},
		"switched off":  {scaling(false), nil, grow, nil},
		"deploying":     {nil, func(_ *World, s *nomadtest.Server) { s.SetDeployment("default", "web", "running") }, grow, cluster.ErrBusy},
		"best effort":   {nil, func(_ *World, s *nomadtest.Server) { s.SetDeployment("default", "web", "running") }, cluster.Change{Rebind: true, Anyway: true}, nil},
		"deployed":      {nil, func(_ *World, s *nomadtest.Server) { s.SetDeployment("default", "web", "successful") }, grow, nil},
		// Where it may run is not what an autoscaler decides.
		"scaled but moved": {scaling(true), nil, cluster.Change{Rebind: true, Nodes: []cluster.Candidate{{Node: "n1"}}}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []func(nomadtest.Object)
			if c.group != nil {
				changes = append(changes, c.group)
			}
			w, server, ctx, job := runningJob(t, changes...)
			if c.before != nil {
				c.before(w, server)
			}
			before := fmt.Sprint(server.Job("default", "web"))
			c.change.Workload, c.change.ModifyIndex = job.Workloads[0].ID, job.ModifyIndex
			_, err := w.Adjust(ctx, c.change)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if after := fmt.Sprint(server.Job("default", "web")); (after == before) != (c.want != nil) {
				t.Error("a refusal must change nothing, and only that")
			}
		})
	}
}

func TestStopAllocation(t *testing.T) {
	t.Parallel()
	w, server, ctx, job := runningJob(t)
	server.PutAlloc(nomadtest.Object{"ID": "a1", "Namespace": "default", "JobID": "web", "NodeID": "n1", "DesiredStatus": "run", "ClientStatus": "running"})
	if err := w.StopAllocation(ctx, job.Workloads[0].ID, "a1"); err != nil {
		t.Fatal(err)
	}
	s, err := w.Snapshot(ctx)
	if err != nil || len(s.Allocations["n1"]) != 0 {
		t.Errorf("still there: %v, %v", s.Allocations, err)
	}
	if err := w.StopAllocation(ctx, job.Workloads[0].ID, "a2"); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("got %v", err)
	}
	if err := w.Resize(ctx, job.Workloads[0].ID, "a1", cluster.Resources{}); !errors.Is(err, cluster.ErrGone) {
		t.Errorf("got %v", err)
	}
	server.Fail(http.MethodPut, "/v1/allocation/a1", http.StatusForbidden, 1, "Permission denied")
	if err := w.StopAllocation(ctx, job.Workloads[0].ID, "a1"); err == nil || !strings.Contains(err.Error(), "Permission denied") {
		t.Errorf("got %v", err)
	}
}

// followedWorld runs one allocation whose probe gives readings from a script.
type followedWorld struct {
	*World
	server   *nomadtest.Server
	ctx      context.Context
	workload cluster.Workload
	clock    *jumpClock
	reading  performance.Reading
	err      error
}

func newFollowedWorld(t *testing.T) *followedWorld {
	t.Helper()
	w, server, ctx, job := runningJob(t)
	f := &followedWorld{World: w, server: server, ctx: ctx, workload: job.Workloads[0], clock: w.clock.(*jumpClock)}
	server.PutAlloc(nomadtest.Object{"ID": "a1", "Namespace": "default", "JobID": "web", "TaskGroup": "g", "NodeID": "n1", "JobVersion": 1,
		"DesiredStatus": "run", "ClientStatus": "running", "TaskStates": nomadtest.Object{"main": nomadtest.Object{"State": "running"}}})
	w.opts.Probe = func(performance.ProbeSpec, probe.Reach, string) (probe.Probe, error) {
		return probeFunc(func(context.Context) (performance.Reading, error) { return f.reading, f.err }), nil
	}
	return f
}

// after lets time pass, gives a reading of work, and follows.
func (f *followedWorld) after(t *testing.T, d time.Duration, work float64) []cluster.Observation {
	t.Helper()
	f.clock.mu.Lock()
	f.clock.now = f.clock.now.Add(d)
	f.clock.mu.Unlock()
	if !f.reading.Exact {
		f.reading = performance.Reading{At: f.clock.Now(), Work: work, RateNow: math.NaN()}
	}
	list, err := f.Follow(f.ctx, f.workload, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFollowTellsWindowAfterWindow(t *testing.T) {
	t.Parallel()
	f := newFollowedWorld(t)
	if list := f.after(t, 0, 100); len(list) != 0 {
		t.Errorf("the first reading tells %+v", list)
	}
	if list := f.after(t, time.Second, 151); len(list) != 0 {
		t.Errorf("a second is too short, it tells %+v", list)
	}
	list := f.after(t, time.Second, 300)
	if len(list) != 1 || list[0].Measure.RatePerSec != 100 || list[0].Window != 2*time.Second {
		t.Fatalf("two seconds tell %+v", list)
	}
	if list = f.after(t, 2*time.Second, 401); len(list) != 1 || list[0].Measure.RatePerSec != 50.5 {
		t.Errorf("the next two tell %+v", list)
	}
}

// A count that moves in large steps is read over a longer window: a step more or less
// must not look like a slow workload.
func TestFollowWaitsForCoarseCounters(t *testing.T) {
	t.Parallel()
	f := newFollowedWorld(t)
	f.after(t, 0, 0)
	reported := 0
	for second := 2; second <= 120; second += 2 {
		for _, o := range f.after(t, 2*time.Second, 1000*math.Floor(float64(second)/3)) {
			reported++
			if o.Unavailable != "" || math.Abs(o.Measure.RatePerSec-1000.0/3) > 20 {
				t.Errorf("after %d s: %+v, want about 333/s", second, o)
			}
		}
	}
	if reported != 2 {
		t.Errorf("it reported %d windows in two minutes, want one a minute", reported)
	}
}

func TestFollowDoesNotBelieveLies(t *testing.T) {
	t.Parallel()
	t.Run("stuck", func(t *testing.T) {
		t.Parallel()
		f := newFollowedWorld(t)
		f.after(t, 0, 100)
		f.after(t, 2*time.Second, 201)
		silent := 0
		var list []cluster.Observation
		for range 30 {
			if list = f.after(t, 2*time.Second, 201); len(list) == 0 {
				silent++
				continue
			}
			if !strings.Contains(list[0].Unavailable, "stuck") {
				t.Fatalf("reported %+v", list)
			}
		}
		if silent != 14 || len(list) != 1 {
			t.Errorf("silent for %d readings, then %+v", silent, list)
		}
	})
	t.Run("reset", func(t *testing.T) {
		t.Parallel()
		f := newFollowedWorld(t)
		f.after(t, 0, 100)
		if list := f.after(t, 2*time.Second, 3); len(list) != 1 || !strings.Contains(list[0].Unavailable, "went backwards") {
			t.Errorf("reported %+v", list)
		}
		f.after(t, 2*time.Second, 204) // one move alone may be one step
		if list := f.after(t, 2*time.Second, 406); len(list) != 1 || list[0].Measure.RatePerSec != 100.75 {
			t.Errorf("after the reset it reported %+v", list)
		}
	})
	t.Run("negative", func(t *testing.T) {
		t.Parallel()
		f := newFollowedWorld(t)
		f.after(t, 0, 100)
		if list := f.after(t, 2*time.Second, -1); len(list) != 1 || list[0].Unavailable == "" {
			t.Errorf("reported %+v", list)
		}
	})
	t.Run("clock step", func(t *testing.T) {
		t.Parallel()
		f := newFollowedWorld(t)
		f.reading = performance.Reading{At: f.clock.Now(), Work: 100, RateNow: math.NaN(), Exact: true}
		f.after(t, 0, 0)
		f.reading.At, f.reading.Work = f.reading.At.Add(20*time.Second), 301
		if list := f.after(t, 2*time.Second, 0); len(list) != 1 || !strings.Contains(list[0].Unavailable, "clock jumped") {
			t.Errorf("reported %+v", list)
		}
	})
	t.Run("error", func(t *testing.T) {
		t.Parallel()
		f := newFollowedWorld(t)
		f.after(t, 0, 100)
		f.err = probe.ErrNoSuchData
		if list := f.after(t, 2*time.Second, 200); len(list) != 1 || list[0].Unavailable == "" {
			t.Errorf("reported %+v", list)
		}
	})
}

func TestFollowTellsWhatIsTaken(t *testing.T) {
	t.Parallel()
	f := newFollowedWorld(t)
	f.server.SetStats("a1", nomadtest.Object{"ResourceUsage": nomadtest.Object{
		"CpuStats": nomadtest.Object{"TotalTicks": 512.5, "ThrottledTime": 7}, "MemoryStats": nomadtest.Object{"Usage": 0, "RSS": 4096},
	}})
	f.after(t, 0, 100)
	f.after(t, time.Second, 151)
	list := f.after(t, time.Second, 300)
	if len(list) != 1 || list[0].Use == nil || list[0].Use.CPUMHz != 512.5 || list[0].Use.MemoryBytes != 4096 || list[0].Use.ThrottledTimeNs != 7 {
		t.Fatalf("reported %+v", list)
	}
	// What was answered about a start is soon asked anew.
	f.server.SetStats("a1", nomadtest.Object{"ResourceUsage": nomadtest.Object{
		"CpuStats": nomadtest.Object{"TotalTicks": 1}, "MemoryStats": nomadtest.Object{"Usage": 8192},
	}})
	if list = f.after(t, useEverySoon, 1000); len(list) != 1 || list[0].Use == nil || list[0].Use.MemoryBytes != 8192 {
		t.Errorf("reported %+v", list)
	}
	// A client that stops answering makes it unknown, not the last value.
	f.server.SetStats("a1", nomadtest.Object{})
	if list = f.after(t, useEvery, 3000); len(list) != 1 || list[0].Use != nil {
		t.Errorf("reported %+v", list)
	}
}
