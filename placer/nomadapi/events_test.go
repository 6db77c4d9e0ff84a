package nomadapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// awaitFollowed waits until the caches are kept up to date by events, and
// swallows the wake-ups until then.
func awaitFollowed(t *testing.T, w *World) {
	t.Helper()
	waitFor(t, "the caches to be followed", func() bool {
		select {
		case <-w.Changed():
		default:
		}
		if _, err := w.Snapshot(t.Context()); err != nil { // asks for it
			t.Fatal(err)
		}
		w.nodes.mu.Lock()
		defer w.nodes.mu.Unlock()
		w.allocs.mu.Lock()
		defer w.allocs.mu.Unlock()
		return w.nodes.follow && w.allocs.follow // one may be asked for after the lists were read
	})
	select {
	case <-w.Changed():
	default:
	}
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 20_000 {
		if is() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// followedByEvents returns a world whose caches follow the server's events until the
// test ends, and how many requests it has sent.
func followedByEvents(t *testing.T) (*World, *nomadtest.Server, context.Context, *atomic.Int64) {
	t.Helper()
	_, server, ctx := testWorld(t)
	var requests atomic.Int64
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		proxy.ServeHTTP(rw, r)
	}))
	w, err := New(Options{Address: front.URL, RunPool: "prod", Decode: decodeForTest, Clock: stillClock{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.Watch(ctx) // ends with the context
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		w.API().Close()
		front.CloseClientConnections()
		front.Close()
	})
	awaitFollowed(t, w)
	return w, server, ctx, &requests
}

// stillClock never lets a pause end: nothing is read again because time passed.
type stillClock struct{}

func (stillClock) Now() time.Time                       { return time.Unix(1_800_000_000, 0) }
func (stillClock) After(time.Duration) <-chan time.Time { return nil }

// lists is what a world says of the cluster, without the indexes.
func lists(t *testing.T, w *World, ctx context.Context) (nodes []*cluster.Node, allocs map[cluster.NodeID][]cluster.Allocation, jobs []cluster.Job) {
	t.Helper()
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range s.Allocations {
		slices.SortFunc(list, func(a, b cluster.Allocation) int { return strings.Compare(a.ID, b.ID) })
	}
	if jobs, err = w.Jobs(ctx); err != nil {
		t.Fatal(err)
	}
	return s.Nodes, s.Allocations, jobs
}

// TestFollowedAgreesWithLists makes every kind of change and holds what events
// made of the caches against a world that reads the lists.
func TestFollowedAgreesWithLists(t *testing.T) {
	t.Parallel()
	w, server, ctx, requests := followedByEvents(t)
	plain, err := New(Options{Address: server.URL, RunPool: "prod", Decode: decodeForTest, Clock: newJumpClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plain.API().Close)
	steps := []struct {
		name string
		do   func()
	}{
		{"a held job", func() { server.Submit(testJob("held", "ok"), "") }},
		{"a job that is none of ours", func() {
			other := testJob("other", "")
			other["NodePool"] = "prod"
			server.Submit(other, "")
		}},
		{"our own job", func() {
			ours := testJob("ours", "ok")
			ours["Meta"] = nomadtest.Object{metaOwner: DefaultOwner}
			server.Submit(ours, "")
		}},
		{"a second version", func() { server.Submit(testJob("held", "ok"), "") }},
		{"an allocation", func() { server.PlaceOn("default", "held", "n1") }},
		{"its version", func() { server.Submit(testJob("held", "ok"), ""); server.PlaceOn("default", "held", "n1") }},
		{"a client's report", func() {
			server.UpdateAllocs("default", "held", func(a nomadtest.Object) { a["ClientStatus"] = "pending" })
		}},
		{"an allocation elsewhere", func() {
			server.UpdateAllocs("default", "held", func(a nomadtest.Object) { a["NodeID"] = "n2" })
		}},
		{"a failed allocation", func() {
			server.UpdateAllocs("default", "held", func(a nomadtest.Object) { a["ClientStatus"] = "failed" })
		}},
		{"a third node", func() {
			server.AddNode(nomadtest.Node{ID: "n0", Name: "gamma", Pool: "prod", CPUMHz: 2000, MemoryMB: 2048, Drivers: []string{"exec"}})
		}},
		{"a node that is down", func() { server.SetNodeStatus("n2", "down") }},
		{"a node that is gone", func() { server.RemoveNode("n1") }},
		{"a job without its block", func() {
			bare := testJob("held", "")
			bare["NodePool"] = "prod"
			server.Submit(bare, "")
		}},
		{"the block again", func() { server.Submit(testJob("held", "ok"), "") }},
		{"a stopped job", func() { server.Stop("default", "held") }},
	}
	asked := requests.Load()
	for _, step := range steps {
		step.do()
		wantNodes, wantAllocs, wantJobs := lists(t, plain, ctx)
		same := func() bool {
			nodes, allocs, jobs := lists(t, w, ctx)
			return reflect.DeepEqual(nodes, wantNodes) && reflect.DeepEqual(allocs, wantAllocs) && (len(jobs) == 0 && len(wantJobs) == 0 || reflect.DeepEqual(jobs, wantJobs))
		}
		for range 20_000 {
			if same() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !same() {
			nodes, allocs, jobs := lists(t, w, ctx)
			t.Fatalf("after %s:\nevents say %v\n%+v\n%+v\nlists say  %v\n%+v\n%+v", step.name,
				text(nodes), allocs, jobs, text(wantNodes), wantAllocs, wantJobs)
		}
	}
	if n := requests.Load() - asked; n != 0 {
		t.Errorf("%d requests were sent although events tell everything", n)
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	return fmt.Sprint(string(b), err)
}

// TestFollowedSnapshotsDoNotChange: what was handed out stays as it was, because
// policies read it while further events come.
func TestFollowedSnapshotsDoNotChange(t *testing.T) {
	t.Parallel()
	w, server, ctx, _ := followedByEvents(t)
	server.Submit(testJob("held", "ok"), "")
	server.PlaceOn("default", "held", "n1")
	waitFor(t, "the allocation", func() bool {
		s, err := w.Snapshot(ctx)
		return err == nil && len(s.Allocations["n1"]) == 1
	})
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	node, before := s.Nodes[1], text(s.Allocations)
	server.UpdateAllocs("default", "held", func(a nomadtest.Object) { a["NodeID"] = "n2" })
	server.SetNodeStatus("n2", "down")
	waitFor(t, "the changes", func() bool {
		now, err := w.Snapshot(ctx)
		return err == nil && len(now.Allocations["n2"]) == 1 && !now.Nodes[1].Ready
	})
	if s.Nodes[1] != node || !node.Ready || text(s.Allocations) != before {
		t.Errorf("a snapshot changed after it was handed out: %v", s.Allocations)
	}
}

// TestCutStreamIsReadAgain: what happened while there was no stream is seen.
func TestCutStreamIsReadAgain(t *testing.T) {
	t.Parallel()
	_, server, ctx := testWorld(t)
	w, err := New(Options{Address: server.URL, RunPool: "prod", Decode: decodeForTest, Clock: newJumpClock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.API().Close)
	for _, node := range []string{"n3", "n4", "n5"} {
		streaming, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- w.readEvents(streaming) }()
		awaitFollowed(t, w)
		cancel()
		<-ended
		server.AddNode(nomadtest.Node{ID: node, Pool: "prod", CPUMHz: 1000, MemoryMB: 1000})
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.Nodes, func(n *cluster.Node) bool { return string(n.ID) == node }) {
			t.Errorf("%s is missing once the stream was cut", node)
		}
	}
}

// A job that ended before anybody looked leaves nothing behind.
func TestAStoppedJobReservesNothing(t *testing.T) {
	t.Parallel()
	w, server, ctx, _ := followedByEvents(t)
	server.Submit(testJob("web", "ok"), "")
	if _, err := w.Apply(ctx, placedOn(mustJob(t, w, ctx, "web"), "n2")); err != nil {
		t.Fatal(err)
	}
	reserved := func() int {
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(s.Reserved["n2"])
	}
	if got := reserved(); got != 1 {
		t.Fatalf("%d reserved after the plan", got)
	}
	server.Stop("default", "web")
	waitFor(t, "the reservation to go", func() bool { return reserved() == 0 })
}

// TestWithoutSnapshotsOnlyJobsAreFollowed: what a replica that does not lead
// reads of a cluster must not grow with its nodes.
func TestWithoutSnapshotsOnlyJobsAreFollowed(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	w.nodes, w.allocs = nodeCache{}, allocCache{} // the test world has looked at its nodes
	server.Submit(testJob("held", "ok"), "")
	if err := w.relist(ctx); err != nil {
		t.Fatal(err)
	}
	if !w.jobs.follow || w.nodes.follow || w.allocs.follow || len(w.nodes.byID) > 0 {
		t.Errorf("followed: jobs %v, nodes %v, allocations %v", w.jobs.follow, w.nodes.follow, w.allocs.follow)
	}
}

func TestUnreadableEventsEndFollowing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{"Index":7,"Events":[{"Topic":"Job","Payload":{}}]}`, `{"Index":7,"Events":[{"Topic":"Job","Payload":{"Job":7}}]}`, `{"Index":7,"Events":`} {
		w, _, _ := testWorld(t)
		if err := w.fold([]byte(line + "\n")); !errors.Is(err, errUnreadable) {
			t.Errorf("%s: %v", line, err)
		}
	}
	w, _, _ := testWorld(t)
	if err := w.fold([]byte("{}\n")); err != nil {
		t.Errorf("a heartbeat: %v", err)
	}
}

// A late event must not bring back what had ended by then: a placement would be decided
// for a job that its user has stopped.
func TestALateEventBringsNothingBack(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	held := testJob("held", "ok")
	held["Namespace"] = "default"
	stopped := maps.Clone(held)
	stopped["Stop"] = true
	event := func(index int, kind string, job nomadtest.Object) []byte {
		job = maps.Clone(job)
		job["JobModifyIndex"] = index
		return fmt.Appendf(nil, `{"Index":%d,"Events":[{"Topic":"Job","Type":"%s","Payload":{"Job":%s}}]}`, index, kind, mustJSON(t, job))
	}
	lines := newLineQueue()
	first := server.Submit(held, "")
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.follow(ctx, lines) }()
	listed := func() int {
		jobs, err := w.Jobs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return len(jobs)
	}
	waitFor(t, "the job", func() bool { return w.jobs.isFollowed() && listed() == 1 })
	server.Stop("default", "held")
	lines.put(event(int(first)+1002, "JobDeregistered", stopped), nil)
	waitFor(t, "the job to be stopped", func() bool { return listed() == 0 })
	lines.put(event(int(first)+1001, "JobRegistered", held), nil)
	lines.put(nil, errStreamed) // after it, all was folded in
	if err := <-ended; !errors.Is(err, errStreamed) {
		t.Fatal(err)
	}
	cancel()
	if n := len(w.jobs.jobs); n != 0 {
		t.Errorf("%d jobs in the list, although the only one was stopped", n)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOneWriteOfSeveralObjects: the events of one index are all folded in.
func TestOneWriteOfSeveralObjects(t *testing.T) {
	t.Parallel()
	w, _, ctx := testWorld(t)
	if _, err := w.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.relist(ctx); err != nil {
		t.Fatal(err)
	}
	line := `{"Index":1000,"Events":[
		{"Topic":"Node","Type":"NodeDrain","Payload":{"Node":{"ID":"n1","Status":"down","ModifyIndex":1000}}},
		{"Topic":"Node","Type":"NodeDrain","Payload":{"Node":{"ID":"n2","Status":"down","ModifyIndex":1000}}},
		{"Topic":"Allocation","Type":"PlanResult","Payload":{"Allocation":{"ID":"a1","NodeID":"n1","JobID":"j","DesiredStatus":"run","ClientStatus":"running","ModifyIndex":1000}}},
		{"Topic":"Allocation","Type":"PlanResult","Payload":{"Allocation":{"ID":"a2","NodeID":"n1","JobID":"j","DesiredStatus":"run","ClientStatus":"running","ModifyIndex":1000}}}]}`
	if err := w.fold([]byte(strings.ReplaceAll(line, "\n", ""))); err != nil {
		t.Fatal(err)
	}
	s, err := w.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Nodes[0].Ready || s.Nodes[1].Ready || len(s.Allocations["n1"]) != 2 {
		t.Errorf("nodes %v %v, allocations %v", s.Nodes[0].Ready, s.Nodes[1].Ready, s.Allocations)
	}
}

func TestLineQueueIsBounded(t *testing.T) {
	t.Parallel()
	q := newLineQueue()
	big := make([]byte, maxQueuedBytes/2)
	for i, want := range []bool{true, true, false} {
		if got := q.put(big, nil); got != want {
			t.Errorf("line %d taken: %v", i, got)
		}
	}
	for range 2 {
		if _, err := q.next(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.next(t.Context(), nil, nil); !errors.Is(err, errFlooded) {
		t.Errorf("after the last line: %v", err)
	}
}

// Whoever wants the jobs while their list hangs waits no longer than its context lasts.
func TestAHangingListIsNotWaitedForLonger(t *testing.T) {
	t.Parallel()
	w, _, ctx := testWorld(t)
	w.jobs.mu.Lock() // as the event stream's reader does while it reads the list
	defer w.jobs.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Jobs(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// However long lists are, reading them again takes little of the time, and what was no event is
// seen in the end.
func TestRelistAfter(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0: 30 * time.Second, 500 * time.Millisecond: 30 * time.Second, 4 * time.Second: 200 * time.Second, time.Minute: 10 * time.Minute,
	} {
		if got := relistAfter(took); got != want {
			t.Errorf("lists that took %s are read again after %s, want %s", took, got, want)
		}
	}
}
