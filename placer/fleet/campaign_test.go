package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dispatch"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// world is a cluster whose nodes do a unit in a second, by leaving its name.
type world struct {
	dispatch.Cluster // what campaigns do not use
	t                *testing.T
	now              time.Time
	nodes            []*cluster.Node
	allocations      map[cluster.NodeID][]cluster.Allocation
	refused          map[string]string // by the node's name
	// left is what a job leaves, and how it ends; nil: all is well.
	left func(nth int, node string, receipt profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State)

	looked func() // at the nodes; may be nil

	jobs     map[string]job
	measured []string // "unit on node", in order
	most     int      // at once
	ends     int
}

type job struct {
	state   dispatch.State
	receipt profiler.Receipt
	result  []byte
}

const build = "b1"

func newWorld(t *testing.T, names ...string) *world {
	t.Helper()
	w := &world{t: t, now: time.Unix(1000, 0), allocations: map[cluster.NodeID][]cluster.Allocation{}, refused: map[string]string{}, jobs: map[string]job{}}
	for _, name := range names {
		w.nodes = append(w.nodes, &cluster.Node{
			ID: cluster.NodeID("id-" + name), Name: name, Class: "c", Configuration: "c", Pool: "default", Ready: true, CoreMHz: 1000,
			Total: cluster.Resources{CPUMHz: 4000, Cores: 4, MemoryMB: 1000}, Attributes: cluster.NewAttributes(map[string]string{nomadapi.DriverBuild: build}),
		})
	}
	return w
}

func (w *world) Snapshot(context.Context) (*cluster.Snapshot, error) {
	if w.looked != nil {
		w.looked()
	}
	return &cluster.Snapshot{Nodes: w.nodes, Allocations: w.allocations}, nil
}

func (w *world) MeasuringRefused(n *cluster.Node, _ string) string { return w.refused[n.Name] }

func (w *world) Register(_ context.Context, body map[string]any) error {
	id, node, unit := body["ID"].(string), body["node"].(string), body["unit"].(string)
	result := []byte("result of " + unit)
	j := job{receipt: profiler.NewReceipt(build, result), result: result, state: dispatch.State{Ended: true, Node: node}}
	w.measured = append(w.measured, unit+" on "+node)
	if w.left != nil {
		j.receipt, j.result, j.state = w.left(len(w.measured), node, j.receipt, result)
	}
	j.state.Allocation = &api.AllocationListStub{ID: id}
	w.jobs[id] = j
	w.most = max(w.most, len(w.jobs))
	return nil
}

func (w *world) States(context.Context, string) (map[string]dispatch.State, error) {
	out := map[string]dispatch.State{}
	for id, j := range w.jobs {
		out[id] = j.state
	}
	return out, nil
}

func (w *world) Read(_ context.Context, s dispatch.State, path string) ([]byte, error) {
	j := w.jobs[s.Allocation.ID]
	switch {
	case j.result == nil:
		return nil, errors.New("no such file")
	case path == profiler.ResultDir+"/"+profiler.ReceiptFile:
		return json.Marshal(j.receipt)
	default:
		return j.result, nil
	}
}

func (w *world) Forget(_ context.Context, id string) error {
	delete(w.jobs, id)
	return nil
}

func (w *world) End(context.Context, string) error {
	w.ends++
	clear(w.jobs)
	return nil
}

// unit is one that any node may do, or one node if it is named.
func unit(name, node string) Unit {
	u := Unit{
		Kind: nomadapi.DriverCalibrate, Name: name, Says: name, Seconds: 1, File: "result",
		Job: func(m nomadapi.Measuring) (map[string]any, error) {
			if m.Free.CPUMHz < 3000 {
				return nil, fmt.Errorf("%w on %s", nomadapi.ErrNoFit, m.Node.Name)
			}
			return map[string]any{"ID": m.ID, "node": m.Node.Name, "unit": name}, nil
		},
		Check: func(_ *cluster.Node, result []byte) error {
			if string(result) != "result of "+name {
				return errors.New("of another unit")
			}
			return nil
		},
	}
	if node != "" {
		u.Node = cluster.NodeID("id-" + node)
	}
	return u
}

// ran is what came of a campaign, and what it said.
type ran struct {
	report *Report
	said   []string
	err    error
}

func (w *world) run(folder string, o Options, units ...Unit) ran {
	w.t.Helper()
	out := ran{}
	o.World, o.Cluster, o.ID, o.Folder, o.Namespace = w, w, "campaign", folder, "default"
	o.Now = func() time.Time { return w.now }
	o.After = func(d time.Duration) <-chan time.Time {
		w.now = w.now.Add(d)
		c := make(chan time.Time, 1)
		c <- w.now
		return c
	}
	o.Says = func(text string) { out.said = append(out.said, text) }
	o.Progress = func(t Tally) {
		if t.Done+t.LeftOut > t.Total || t.Left < 0 {
			w.t.Errorf("progress %+v", t)
		}
	}
	out.report, out.err = Run(w.t.Context(), o, w.nodes, units)
	if len(w.jobs) > 0 {
		w.t.Errorf("left on the cluster: %v", w.jobs)
	}
	return out
}

// states are those of the units.
func (r ran) states() string {
	var out []string
	for _, o := range r.report.Outcomes {
		text := o.Unit + " " + o.State
		if o.Why != "" {
			text += " (" + o.Why + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestRun(t *testing.T) {
	t.Parallel()
	w, folder := newWorld(t, "alpha", "beta", "gamma"), t.TempDir()
	units := []Unit{unit("one", "alpha"), unit("two", "beta"), unit("three", "")}
	first := w.run(folder, Options{AtOnce: 2}, units...)
	if first.err != nil || first.states() != "one measured, two measured, three measured" || w.most > 2 {
		t.Errorf("%s, %v, %d at once", first.states(), first.err, w.most)
	}
	again := w.run(folder, Options{}, append(units, unit("four", ""))...)
	if again.states() != "one kept, two kept, three kept, four measured" || len(w.measured) != 4 {
		t.Errorf("%s after %q", again.states(), w.measured)
	}
	if o := again.report.Outcomes[0]; o.Node != "alpha" || o.Configuration != "c" || string(o.Kept.Result) != "result of one" {
		t.Errorf("%+v", o)
	}
	if on := w.run(folder, Options{Choice: Choice{Class: "c"}}, units...); on.states() != "one kept, two kept, three measured" {
		t.Errorf("on other nodes: %s", on.states())
	}
	if all := w.run(folder, Options{Again: true}, units...); all.report.Count(Measured) != 3 {
		t.Error(all.states())
	}
}

// What is not to be believed of what is kept is counted, and measured again.
func TestKeptResults(t *testing.T) {
	t.Parallel()
	outdated := unit("one", "alpha")
	outdated.Outdated = func(n *cluster.Node, result []byte) bool {
		return n.Name == "alpha" && string(result) == "result of one"
	}
	for name, c := range map[string]struct {
		change func(path string, w *world, u *Unit)
		want   Report
	}{
		"cut off": {func(path string, _ *world, _ *Unit) {
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()/2)
			}
			if err != nil {
				t.Error(err)
			}
		}, Report{Torn: 1}},
		"changed": {func(path string, _ *world, _ *Unit) {
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(data), `"result":"`, `"result":"AAAA`, 1)), 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		}, Report{Torn: 1}},
		"of another build": {func(_ string, w *world, _ *Unit) {
			w.nodes[0].Attributes = cluster.NewAttributes(map[string]string{nomadapi.DriverBuild: "b2"})
			w.left = func(_ int, node string, r profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State) {
				r.Build = "b2"
				return r, result, dispatch.State{Ended: true, Node: node}
			}
		}, Report{OtherBuild: 1}},
		"outdated":       {func(_ string, w *world, u *Unit) { *u, w.now = outdated, w.now.Add(2*saysWithin) }, Report{Outdated: 1}},
		"says otherwise": {func(_ string, _ *world, u *Unit) { u.Says = "another" }, Report{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, folder, u := newWorld(t, "alpha"), t.TempDir(), unit("one", "alpha")
			w.run(folder, Options{}, u)
			files, err := filepath.Glob(filepath.Join(folder, "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("kept %q, %v", files, err)
			}
			c.change(files[0], w, &u)
			got := w.run(folder, Options{}, u)
			if got.states() != "one measured" || got.report.Torn != c.want.Torn || got.report.OtherBuild != c.want.OtherBuild || got.report.Outdated != c.want.Outdated {
				t.Errorf("%s, %+v, %v", got.states(), got.report, got.err)
			}
		})
	}
}

// What was measured just now the node does not say yet.
func TestJustMeasured(t *testing.T) {
	t.Parallel()
	w, folder, u := newWorld(t, "alpha"), t.TempDir(), unit("one", "alpha")
	u.Outdated = func(*cluster.Node, []byte) bool { return true }
	w.run(folder, Options{}, u)
	if got := w.run(folder, Options{}, u); got.states() != "one kept" {
		t.Error(got.states())
	}
}

// What goes wrong with a unit costs that unit a try, and no other anything.
func TestFaults(t *testing.T) {
	t.Parallel()
	type left = func(nth int, node string, receipt profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State)
	well := func(node string) dispatch.State { return dispatch.State{Ended: true, Node: node} }
	for name, c := range map[string]struct {
		left  left
		torn  int
		other int
		said  string
	}{
		"torn": {left: func(_ int, node string, r profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State) {
			return r, result[1:], well(node)
		}, torn: 1, said: "torn"},
		"no receipt": {left: func(_ int, node string, r profiler.Receipt, _ []byte) (profiler.Receipt, []byte, dispatch.State) {
			return r, nil, well(node)
		}, said: "cannot be read: no such file"},
		"another build": {left: func(_ int, node string, r profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State) {
			r.Build = "b0"
			return r, result, well(node)
		}, other: 1, said: "another build"},
		"of another unit": {left: func(_ int, node string, _ profiler.Receipt, _ []byte) (profiler.Receipt, []byte, dispatch.State) {
			return profiler.NewReceipt(build, []byte("x")), []byte("x"), well(node)
		}, said: "of another unit"},
		"failed": {left: func(_ int, node string, r profiler.Receipt, _ []byte) (profiler.Receipt, []byte, dispatch.State) {
			return r, nil, dispatch.State{Ended: true, Failed: true, Why: "calibrate: not allowed", Node: node}
		}, said: "calibrate: not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "alpha", "beta")
			w.left = func(nth int, node string, r profiler.Receipt, result []byte) (profiler.Receipt, []byte, dispatch.State) {
				if nth == 1 {
					return c.left(nth, node, r, result)
				}
				return r, result, well(node)
			}
			got := w.run(t.TempDir(), Options{}, unit("one", ""), unit("two", ""))
			if got.states() != "one measured, two measured" || got.report.Torn != c.torn || got.report.OtherBuild != c.other {
				t.Errorf("%s, %+v, %v", got.states(), got.report, got.err)
			}
			if !strings.Contains(strings.Join(got.said, "\n"), c.said) {
				t.Errorf("said %q", got.said)
			}
			w.left = c.left
			if got := w.run(t.TempDir(), Options{Attempts: 2}, unit("one", "alpha")); got.err != nil || !strings.Contains(got.states(), "one left out (tried 2 times: ") {
				t.Errorf("always: %s, %v", got.states(), got.err)
			}
		})
	}
}

// A node with allocations of others, or that is not there, is left alone.
func TestNodesThatAreNotFree(t *testing.T) {
	t.Parallel()
	tenant := cluster.Allocation{Workload: cluster.WorkloadID{Namespace: "default", Job: "web"}}
	system := cluster.Allocation{Workload: cluster.WorkloadID{Job: "agent"}, System: true, Resources: cluster.Resources{CPUMHz: 500}}
	large := cluster.Allocation{System: true, Resources: cluster.Resources{Cores: 2}}
	for name, c := range map[string]struct {
		change func(w *world, id cluster.NodeID)
		want   string // why alpha is left out; empty: it is measured
	}{
		"a tenant":       {func(w *world, id cluster.NodeID) { w.allocations[id] = []cluster.Allocation{system, tenant} }, "alpha: 1 allocation of others run there"},
		"system jobs":    {func(w *world, id cluster.NodeID) { w.allocations[id] = []cluster.Allocation{system} }, ""},
		"too little":     {func(w *world, id cluster.NodeID) { w.allocations[id] = []cluster.Allocation{large} }, "it does not fit on alpha"},
		"draining":       {func(w *world, _ cluster.NodeID) { w.nodes[0].Ready = false }, "alpha: it is down, draining or not eligible"},
		"gone":           {func(w *world, _ cluster.NodeID) { w.nodes[0].ID = "another" }, "its node is gone from the cluster"},
		"not allowed":    {func(w *world, _ cluster.NodeID) { w.refused["alpha"] = "its operator does not allow it" }, "alpha: its operator does not allow it"},
		"nothing at all": {func(*world, cluster.NodeID) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "alpha", "beta")
			u := []Unit{unit("one", "alpha"), unit("two", "")}
			c.change(w, w.nodes[0].ID)
			got := w.run(t.TempDir(), Options{}, u...)
			want := "one measured, two measured"
			if c.want != "" {
				want = "one left out (" + c.want + "), two measured"
			}
			if got.err != nil || got.states() != want || c.want != "" && !slices.Equal(w.measured, []string{"two on beta"}) && name != "gone" {
				t.Errorf("%s after %q, %v", got.states(), w.measured, got.err)
			}
		})
	}
}

// A node is waited for as long as was asked for, and that is said once.
func TestWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "alpha")
	w.nodes[0].Ready = false
	got := w.run(t.TempDir(), Options{Wait: time.Minute}, unit("one", "alpha"))
	if got.report.Count(LeftOut) != 1 || len(got.said) != 1 || got.said[0] != "one waits: alpha: it is down, draining or not eligible" || w.now.Sub(time.Unix(1000, 0)) < time.Minute {
		t.Errorf("%s after %s, said %q", got.states(), w.now.Sub(time.Unix(1000, 0)), got.said)
	}
	w = newWorld(t, "alpha")
	w.allocations["id-alpha"] = []cluster.Allocation{{Workload: cluster.WorkloadID{Job: "web"}}}
	w.looked = func() {
		if w.now.Sub(time.Unix(1000, 0)) > 30*time.Second {
			clear(w.allocations) // the tenant leaves
		}
	}
	if got := w.run(t.TempDir(), Options{Wait: time.Minute}, unit("one", "alpha")); got.states() != "one measured" || len(got.said) != 1 {
		t.Errorf("%s, said %q", got.states(), got.said)
	}
}

// Two nodes of one machine would disturb each other.
func TestNodesOfOneMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "alpha", "beta")
	for _, n := range w.nodes {
		n.Machine = "host"
	}
	if got := w.run(t.TempDir(), Options{}, unit("one", "alpha"), unit("two", "beta")); got.states() != "one measured, two measured" || w.most != 1 {
		t.Errorf("%s, %d at once", got.states(), w.most)
	}
}

// An interrupted campaign leaves no job, and keeps what it has.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w, folder := newWorld(t, "alpha"), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{World: w, Cluster: w, ID: "campaign", Folder: folder, Says: func(string) {}, Now: func() time.Time { return w.now }}
	o.After = func(time.Duration) <-chan time.Time { return nil }
	o.Progress = func(t Tally) {
		if t.Done == 1 {
			cancel()
		}
	}
	report, err := Run(ctx, o, w.nodes, []Unit{unit("one", "alpha"), unit("two", "alpha")})
	if !errors.Is(err, context.Canceled) || report.Count(Measured) != 1 || report.Count(Open) != 1 || len(w.jobs) > 0 {
		t.Errorf("%+v, %v, left %v", report, err, w.jobs)
	}
	if got := w.run(folder, Options{}, unit("one", "alpha"), unit("two", "alpha")); got.states() != "one kept, two measured" {
		t.Error(got.states())
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "gamma", "alpha", "beta")
	w.nodes[0].Class, w.nodes[2].Pool = "large", "gpu"
	for name, c := range map[string]struct {
		choice Choice
		want   string // names with commas; empty: an error
	}{
		"all":         {Choice{}, "alpha,beta,gamma"},
		"class":       {Choice{Class: "c"}, "alpha,beta"},
		"pool":        {Choice{Pool: "gpu"}, "beta"},
		"name":        {Choice{Nodes: []string{"gamma"}}, "gamma"},
		"ID":          {Choice{Nodes: []string{"id-al", "id-b"}}, "alpha,beta"},
		"no class":    {Choice{Class: "x"}, ""},
		"no name":     {Choice{Nodes: []string{"alpha", "delta"}}, ""},
		"other class": {Choice{Class: "c", Nodes: []string{"gamma"}}, ""},
		"empty name":  {Choice{Nodes: []string{""}}, ""},
	} {
		got, err := c.choice.Select(w.nodes)
		var names []string
		for _, n := range got {
			names = append(names, n.Name)
		}
		if strings.Join(names, ",") != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, ErrChoice) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
}
