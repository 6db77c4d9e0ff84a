package nomadapi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// A run of kernels is one task of the driver on one node, and leaves nothing behind.
func TestKernelSpeeds(t *testing.T) {
	t.Parallel()
	const allocID = "00000000-0000-0000-0000-000000000001"
	good := func(node string) profiler.Speeds {
		return profiler.Speeds{Format: profiler.RequestFormat, NodeID: node, Kernels: []profiler.KernelSpeed{
			{Source: interference.Integer, OpsPerSec: 5}, {Source: interference.LLCCapacity, Unknown: "no cache"},
		}}
	}
	for name, c := range map[string]struct {
		status string
		left   any // nil: nothing
		change func(*profiler.Speeds)
		want   error
		text   string
	}{
		"measured":         {status: "complete"},
		"of another node":  {status: "complete", change: func(s *profiler.Speeds) { s.NodeID = "other" }, text: "is of node"},
		"not asked for":    {status: "complete", change: func(s *profiler.Speeds) { s.Kernels[0].Source = interference.Vector }, text: "not asked for"},
		"another release":  {status: "complete", change: func(s *profiler.Speeds) { s.Format = 1 }, text: "of one release"},
		"nothing measured": {status: "complete", change: func(s *profiler.Speeds) { s.Kernels = s.Kernels[1:] }, want: ErrNoResult, text: "no cache"},
		"nothing left":     {status: "failed", left: "no", want: ErrNoResult, text: "the profiler ended early"},
		"node gone":        {status: "lost", want: cluster.ErrNodeLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, server, ctx := testWorld(t)
			s, err := w.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			node := *s.Nodes[0]
			var submitted nomadtest.Object
			server.AutoPlace = true
			server.OnAlloc = func(alloc nomadtest.Object) {
				submitted = alloc
				alloc["ClientStatus"] = c.status
				alloc["TaskStates"] = nomadtest.Object{labTask: nomadtest.Object{"State": "dead", "Events": []any{}}}
			}
			if c.left == nil {
				speeds := good(string(node.ID))
				if c.change != nil {
					c.change(&speeds)
				}
				writeJSON(t, server, allocID, profiler.ResultDir+"/"+profiler.SpeedsFile, speeds)
			}
			got, err := w.KernelSpeeds(ctx, cluster.KernelRequest{
				ID: "probe-alpha-1", Node: node, Sources: []interference.Source{interference.Integer, interference.LLCCapacity}, Within: 20 * time.Second,
			})
			failed := c.want != nil || c.text != ""
			if failed != (err != nil) || c.want != nil && !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.text)
			}
			if !failed && (len(got) != 1 || got[interference.Integer] != 5) {
				t.Errorf("%v", got)
			}
			if submitted["NodeID"] != string(node.ID) {
				t.Errorf("placed: %v", submitted)
			}
			if ids := server.JobIDs(); len(ids) != 0 {
				t.Errorf("left behind: %v", ids)
			}
		})
	}
}

func TestKernelSpeedsNeedTheDriver(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	if _, err := w.KernelSpeeds(ctx, cluster.KernelRequest{ID: "probe-x-1", Node: cluster.Node{Name: "x"}, Within: time.Second}); !errors.Is(err, cluster.ErrNoKernels) || len(server.JobIDs()) != 0 {
		t.Errorf("%v, %v", err, server.JobIDs())
	}
}

// A node's quality is shown only where the agent may write nodes, and under keys that do not change its
// computed class.
func TestShowQuality(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id := s.Nodes[0].ID
	before := len(server.NodeMeta(string(id)))
	q := cluster.NodeQuality{Quality: 0.5, OutsidePercent: map[interference.Source]int{interference.Integer: 50}}
	w.opts.NodeMetadata = false
	if err := w.ShowQuality(ctx, id, q); err != nil || len(server.NodeMeta(string(id))) != before {
		t.Errorf("%v, %v", err, server.NodeMeta(string(id)))
	}
	w.opts.NodeMetadata = true
	if err := w.ShowQuality(ctx, id, q); err != nil {
		t.Fatal(err)
	}
	if meta := server.NodeMeta(string(id)); meta["unique.placer_quality"] != "0.50" || meta["unique.placer_outside_int"] != "50" {
		t.Errorf("%v", meta)
	}
}

// What is under way is no left-over; what an earlier leader left is.
func TestSweepKeepsRunsOfKernels(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	for _, id := range []string{"probe-now-1", "probe-old-1"} {
		job, err := kernelJob(cluster.KernelRequest{ID: id, Within: time.Second}, time.Unix(0, 0), w.opts.Owner, "default")
		if err != nil {
			t.Fatal(err)
		}
		server.Submit(nomadtest.Object(job), "")
	}
	w.kernelRuns.add("probe-now-1")
	if err := w.Sweep(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if ids := server.JobIDs(); len(ids) != 1 || !strings.Contains(ids[0], "probe-now-1") {
		t.Errorf("%v", ids)
	}
}
