package provisioning_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

type clock struct{}

func (clock) Now() time.Time                         { return time.Now() }
func (clock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// world shows nodes of a provider.
type world struct {
	cluster.State

	mu    sync.Mutex
	nodes []*cluster.Node
	busy  map[cluster.NodeID]cluster.WorkloadID
}

func (w *world) Snapshot(context.Context) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := clustertest.Snapshot(append([]*cluster.Node{}, w.nodes...)...)
	for n, job := range w.busy {
		s.Allocations[n] = append(s.Allocations[n], cluster.Allocation{ID: job.Job, Workload: job, Node: n, Resources: cluster.Resources{CPUMHz: 9500, MemoryMB: 512}})
	}
	return s, nil
}

func (w *world) snapshot(t *testing.T) *cluster.Snapshot {
	t.Helper()
	s, err := w.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// provider is a Renter whose nodes come after a while.
type provider struct {
	world  *world
	takes  time.Duration
	refuse error
	silent error
	hangs  bool

	mu     sync.Mutex
	count  int
	asked  []cluster.Scaling
	status int
}

func (p *provider) Status(ctx context.Context, _ string) (cluster.RentalStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status++
	if p.hangs {
		p.mu.Unlock()
		<-ctx.Done()
		p.mu.Lock()
		return cluster.RentalStatus{}, ctx.Err()
	}
	return cluster.RentalStatus{Count: p.count, Ready: true}, p.silent
}

func (p *provider) Scale(_ context.Context, s cluster.Scaling) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, s)
	if p.refuse != nil {
		return p.refuse
	}
	for i := p.count; i < s.Count; i++ {
		time.AfterFunc(p.takes, func() { p.world.come("burst-" + string(rune('0'+i))) })
	}
	for _, n := range s.Leave {
		p.world.leave(n)
	}
	p.count = s.Count
	return nil
}

func (w *world) come(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes = append(w.nodes, clustertest.Node(id, "burst"))
}

func (w *world) leave(id cluster.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var stay []*cluster.Node
	for _, n := range w.nodes {
		if n.ID != id {
			stay = append(stay, n)
		}
	}
	w.nodes = stay
}

func (w *world) run(job, node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[cluster.NodeID(node)] = clustertest.Workload(job).ID
}

func (w *world) end(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, cluster.NodeID(node))
}

var columns = clustertest.Columns(2)

func newRoom(t *testing.T, w *world, p *provider, change ...func(*provisioning.Config)) *provisioning.Room {
	t.Helper()
	w.nodes, w.busy = []*cluster.Node{clustertest.Node("own", "owned")}, map[cluster.NodeID]cluster.WorkloadID{}
	c := provisioning.Config{
		Options: provisioning.Options{
			Settings: provision.DefaultSettings(), MaxPerHour: 10,
			Types: []tracker.Type{{Type: provision.Type{Name: "small", Cores: 4, MemoryMB: 8192, PricePerHour: 1, SpinUp: 20 * time.Second}, NodeClass: "burst"}},
		},
		World: w, Clock: clock{}, Book: journal.Book{Store: mem.New()}, Columns: func() []interference.Source { return columns },
	}
	if p != nil {
		p.world = w
		c.Renter = p
	}
	for _, f := range change {
		f(&c)
	}
	r, err := provisioning.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// ask for a job that tolerates so much of all.
func ask(t *testing.T, r *provisioning.Room, w *world, name string, tolerates float64) (profiling.Known, cluster.Rental) {
	t.Helper()
	workload := clustertest.Workload(name)
	k := profiling.Known{Workload: *workload, Knowledge: *clustertest.Knowledge(clustertest.Sensitivity(columns, []float64{tolerates, tolerates}, []float64{10, 10}), nil)}
	return r.Route(w.snapshot(t), cluster.Job{ID: workload.ID.JobID(), RunPool: clustertest.Pool, SubmittedAt: time.Now(), Workloads: []cluster.Workload{*workload}}, k)
}

func pass(t *testing.T, r *provisioning.Room) {
	t.Helper()
	if err := r.Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// fits are the nodes that a routed workload may use.
func fits(t *testing.T, w *world, k profiling.Known) []cluster.NodeID {
	t.Helper()
	nodes, _, _ := cluster.Feasible(w.snapshot(t), &k.Workload, clustertest.Pool)
	var out []cluster.NodeID
	for _, n := range nodes {
		out = append(out, n.ID)
	}
	return out
}

// A job goes to the base while it is little used, to a rented node when it is not, stays there, and
// the node is returned by its name.
func TestSides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := &world{}, &provider{takes: 15 * time.Second}
		r := newRoom(t, w, p)
		k, rental := ask(t, r, w, "first", 90)
		if rental.Side != cluster.SideOwned || len(fits(t, w, k)) != 1 {
			t.Fatalf("%+v", rental)
		}
		w.run("first", "own")
		k, rental = ask(t, r, w, "second", 90)
		if rental.Side != cluster.SideWaits || !strings.Contains(rental.Why, "waits for a node of type small") {
			t.Fatalf("%+v", rental)
		}
		pass(t, r)
		if len(p.asked) != 1 || p.asked[0].Count != 1 || p.asked[0].Was != 0 {
			t.Fatalf("%+v", p.asked)
		}
		for rental.Side == cluster.SideWaits {
			time.Sleep(2 * time.Second)
			pass(t, r)
			k, rental = ask(t, r, w, "second", 90)
		}
		if got := fits(t, w, k); rental.Side != cluster.SideRented || rental.Node != "burst-0" || len(got) != 1 || got[0] != "burst-0" {
			t.Fatalf("%+v, %v", rental, got)
		}
		w.run("second", "burst-0")
		k, rental = ask(t, r, w, "second", 90)
		if rental.Side != cluster.SideRented || len(fits(t, w, k)) != 1 {
			t.Fatalf("%+v", rental)
		}
		if stays := r.Stay(w.snapshot(t), *clustertest.Workload("second")); len(stays.Constraints) != 1 {
			t.Errorf("%+v", stays.Constraints)
		}
		pass(t, r)
		w.end("burst-0")
		for range 200 / 2 {
			time.Sleep(2 * time.Second)
			pass(t, r)
		}
		last := p.asked[len(p.asked)-1]
		if len(p.asked) != 2 || last.Count != 0 || len(last.Leave) != 1 || last.Leave[0] != "burst-0" {
			t.Errorf("%+v", p.asked)
		}
		samples, err := r.Capacity(t.Context())
		var most provision.Capacity
		for i, c := range samples {
			most.Retained, most.Given = max(most.Retained, c.Retained), max(most.Given, c.Given)
			if i > 0 && c.At.Sub(samples[i-1].At) < provision.CapacityEvery {
				t.Errorf("%v after %v", c.At, samples[i-1].At)
			}
		}
		if err != nil || len(samples) < 3 || most.Retained != 4 || most.Given != 3.8 {
			t.Errorf("%+v, %v", samples, err)
		}
		r.Stop()
	})
}

// A new leader knows of the order that the last one made, and makes no second one.
func TestAnotherLeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := &world{}, &provider{takes: time.Minute}
		var book journal.Book
		r := newRoom(t, w, p, func(c *provisioning.Config) { book = c.Book })
		w.run("first", "own")
		ask(t, r, w, "second", 90)
		pass(t, r)
		r.Stop()
		other := newRoom(t, w, p, func(c *provisioning.Config) { c.Book = book })
		w.run("first", "own")
		if _, rental := ask(t, other, w, "second", 90); rental.Side != cluster.SideWaits {
			t.Fatalf("%+v", rental)
		}
		pass(t, other)
		if len(p.asked) != 1 {
			t.Errorf("%+v", p.asked)
		}
		report, err := r.Report(t.Context()) // of a replica that leads no more
		if err != nil || len(report.Nodes) != 1 || report.Types[0].Wanted != 1 {
			t.Errorf("%+v, %v", report, err)
		}
		other.Stop()
	})
}

// An account that cannot be read keeps nobody from placing jobs: it begins anew.
func TestADamagedAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, s := &world{}, mem.New()
		for _, text := range []string{"{", `{"format": 99}`, `{"format": 1, "slots": [{"type": "small", "key": "small/000001"}]}`} {
			if _, err := s.Put(t.Context(), "provision/account", []byte(text), store.Any); err != nil {
				t.Fatal(err)
			}
			r := newRoom(t, w, nil, func(c *provisioning.Config) { c.Book = journal.Book{Store: s} })
			if _, rental := ask(t, r, w, "first", 90); rental.Side != cluster.SideOwned {
				t.Errorf("%s: %+v", text, rental)
			}
			r.Stop()
		}
	})
}

// Whatever the provider does, the job is the base's queue's within the time that an order has, and
// nothing is asked again and again.
func TestProvidersThatFail(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*provider{
		"quota reached": {refuse: errors.New("quota exceeded")}, "absent": {silent: errors.New("no such file")},
		"never comes": {takes: time.Hour * 24}, "hangs": {hangs: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				r := newRoom(t, w, p)
				w.run("first", "own")
				ctx, cancel := context.WithCancel(t.Context())
				queued := false
				for range 1800 {
					_, rental := ask(t, r, w, "second", 90)
					queued = queued || strings.Contains(rental.Why, "no node is ordered") || strings.Contains(rental.Why, "next try")
					if err := r.Pass(ctx); err != nil {
						t.Fatal(err)
					}
					time.Sleep(2 * time.Second)
				}
				if !queued {
					t.Error("the job never was the base's")
				}
				ups := 0
				for _, s := range p.asked {
					if s.Count > s.Was {
						ups++
					}
				}
				if ups > 12 {
					t.Errorf("%d orders in an hour", ups)
				}
				cancel()
				r.Stop()
			})
		})
	}
}
