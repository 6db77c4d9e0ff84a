package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// firstFit takes the first nodes with room. It counts on nothing else.
type firstFit struct {
	takes  time.Duration // per decision
	spread bool          // one allocation per node
	late   bool          // binds to all nodes where none has room
}

func (f firstFit) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	c := board.Choice{Reaches: true, Examined: b.Len()}
	for n := range board.Index(b.Len()) {
		if a.Allowed != nil && !a.Allowed(n) {
			continue
		}
		limit := a.Count - len(c.Replicas)
		if f.spread {
			limit = min(1, limit)
		}
		for range b.Room(n, a.Size, limit) {
			c.Replicas = append(c.Replicas, board.Replica{Node: n, Size: a.Size})
		}
	}
	if len(c.Replicas) == 0 && f.late {
		for n := range board.Index(b.Len()) {
			c.Bind = append(c.Bind, n)
		}
	}
	return c
}

// timedFit is a firstFit whose decisions take time.
type timedFit struct{ firstFit }

func (f timedFit) DecisionTime(*board.Board, *board.Request, board.Choice) time.Duration {
	return f.takes
}

// queue is the least controller: strict order, one try per change.
type queue struct {
	items []admission.Item
	tried bool
	out   map[board.Handle]bool // being decided
}

func (q *queue) Arrive(_ admission.Instant, it admission.Item) {
	q.items, q.tried = append(q.items, it), false
}

func (q *queue) Next(admission.Instant) (admission.Attempt, bool) {
	if q.tried {
		return admission.Attempt{}, false
	}
	for _, it := range q.items {
		if !q.out[it.Ask.Handle] {
			q.out[it.Ask.Handle] = true
			return admission.Attempt{Item: it}, true
		}
	}
	return admission.Attempt{}, false
}

func (q *queue) Placed(_ admission.Instant, handle board.Handle) {
	delete(q.out, handle)
	for i, it := range q.items {
		if it.Ask.Handle == handle {
			q.items = append(q.items[:i], q.items[i+1:]...)
			return
		}
	}
}

func (q *queue) Refused(_ admission.Instant, handle board.Handle) {
	delete(q.out, handle)
	q.tried = true
}

func (q *queue) Withdraw(board.Handle)                                    {}
func (q *queue) Started(admission.Instant, board.Index, board.Handle)     {}
func (q *queue) Ended(_ admission.Instant, _ board.Index, _ board.Handle) { q.tried = false }
func (q *queue) NodeChanged(board.Index)                                  { q.tried = false }
func (q *queue) Wake() (admission.Instant, bool)                          { return 0, false }
func (q *queue) Waiting() int                                             { return len(q.items) }

// shared is a truth in which the allocations of a node share its speed.
type shared struct{}

func (shared) Speeds(_ int, on []truth.Placed, out []truth.Speed) []truth.Speed {
	out = out[:0]
	for i := range on {
		isolated := on[i].Application.Isolated[0]
		out = append(out, truth.Speed{Value: isolated / float64(len(on)), Isolated: isolated})
		if on[i].MemoryMB < on[i].Application.Phases[on[i].Phase].MemoryMB {
			out[i] = truth.Speed{}
		}
	}
	return out
}
func (shared) Group(*truth.Application, int) float64                            { return 1 }
func (shared) Measure(_ *truth.Application, v, _ float64, _ *rand.Rand) float64 { return v }

func program() *truth.Application {
	return &truth.Application{Name: "p", Cores: 1, MemoryMB: 10, Isolated: []float64{10}, Phases: []truth.Phase{{Share: 1, Intensity: 1}}}
}

func nodes(n, cores int) *board.Board {
	b := board.New(nil, []string{"a"})
	for i := range n {
		b.Add(board.Node{ID: cluster.NodeID(fmt.Sprint(i)), CoreMHz: 1000, Total: cluster.Resources{CPUMHz: cores * 1000, Cores: cores, MemoryMB: 1000}})
	}
	return b
}

func job(number int, at, duration time.Duration) sim.Job {
	return sim.Job{Number: number, At: at, App: program(), Duration: duration, Size: cluster.Resources{Cores: 1, MemoryMB: 10}, Count: 1}
}

// run runs and checks what must hold of every run: nothing is left on the board.
func run(t *testing.T, c sim.Config, jobs ...sim.Job) *sim.Result {
	t.Helper()
	if c.Board == nil {
		c.Board = nodes(1, 4)
	}
	if c.Selector == nil {
		c.Selector = firstFit{}
	}
	q := &queue{out: map[board.Handle]bool{}}
	c.Board.Listen(q)
	c.Controller, c.Jobs = q, &sim.List{Jobs: jobs}
	if c.Truth == nil && len(jobs) > 0 && jobs[0].App != nil {
		c.Truth = shared{}
	}
	w, err := sim.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if c.Limit == 0 {
		for n := range board.Index(c.Board.Len()) {
			if left := len(c.Board.Residents(n)); left > 0 {
				t.Errorf("%d allocations are left on node %d", left, n)
			}
		}
	}
	return r
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -time.Microsecond || d > time.Microsecond {
		t.Errorf("%s at %s, want %s", what, got, want)
	}
}

// Two programs share a node: the first works alone for 40 s, both at half speed
// until the first has done its 100 s, then the second alone.
func TestWorkIsIntegratedExactly(t *testing.T) {
	t.Parallel()
	r := run(t, sim.Config{}, job(0, 0, seconds(100)), job(1, seconds(40), seconds(100)))
	near(t, "the first ends", r.Records[0].Ended, seconds(160))
	near(t, "the second ends", r.Records[1].Ended, seconds(200))
	if got := r.Records[0].Performance(); math.Abs(got-100.0/160) > 1e-6 {
		t.Errorf("performance %v", got)
	}
	if got := r.Records[0].Interference; math.Abs(float64(got)-(40+120*0.5)/160) > 1e-6 {
		t.Errorf("interference %v", got)
	}
}

func TestWithoutTruthDurationsAreFixed(t *testing.T) {
	t.Parallel()
	a, b := job(0, 0, seconds(10)), job(1, seconds(1), seconds(5))
	a.App, b.App = nil, nil
	r := run(t, sim.Config{Board: nodes(1, 1)}, a, b)
	near(t, "the first ends", r.Records[0].Ended, seconds(10))
	near(t, "the second waits, and ends", r.Records[1].Ended, seconds(15))
	near(t, "it waited", r.Records[1].Wait(), seconds(9))
}

func TestPhasesAreShareOfTheWork(t *testing.T) {
	t.Parallel()
	j := job(0, 0, seconds(100))
	j.App.Phases = []truth.Phase{{Share: 0.3}, {Share: 0.7, MemoryMB: 20}} // needs more than its 10 MB
	r := run(t, sim.Config{}, j)
	if r.Records[0].Outcome != sim.Killed {
		t.Fatalf("outcome %v", r.Records[0].Outcome)
	}
	near(t, "it is killed", r.Records[0].Ended, seconds(30))
	if r.Records[0].Performance() != 0 {
		t.Error("a killed job has a performance")
	}
}

// Two agents decide at the same moment on the same last core: one is refused,
// and finds the other node.
func TestConflictingPlansAreRefused(t *testing.T) {
	t.Parallel()
	r := run(t, sim.Config{Board: nodes(2, 1), Selector: timedFit{firstFit{takes: time.Second}}, Agents: 2}, job(0, 0, seconds(10)), job(1, 0, seconds(10)))
	if r.Counters.Conflicts != 1 {
		t.Errorf("%d conflicts", r.Counters.Conflicts)
	}
	near(t, "the winner starts", r.Records[0].Started, seconds(1))
	near(t, "the other starts", r.Records[1].Started, seconds(2))
	near(t, "it decided for", r.Records[1].Deciding, seconds(2))
}

func TestOneAgentDecidesOneByOne(t *testing.T) {
	t.Parallel()
	r := run(t, sim.Config{Selector: timedFit{firstFit{takes: time.Second}}}, job(0, 0, seconds(10)), job(1, 0, seconds(10)))
	near(t, "the second starts", r.Records[1].Started, seconds(2))
	if r.Counters.Conflicts != 0 {
		t.Error("one agent was refused")
	}
}

func TestALostNodeRestartsItsWork(t *testing.T) {
	t.Parallel()
	lost := []sim.NodeChange{{At: seconds(30), Node: 0}, {At: seconds(50), Node: 0, Ready: true}}
	r := run(t, sim.Config{Board: nodes(1, 4), Nodes: lost, RestartTime: seconds(5)}, job(0, 0, seconds(40)))
	near(t, "it ends", r.Records[0].Ended, seconds(50+5+40))
	if r.Counters.NodesLost != 1 || r.Records[0].Restarts != 1 {
		t.Errorf("%d lost, %d restarts", r.Counters.NodesLost, r.Records[0].Restarts)
	}
}

// Tasks are placed as there is room, and each ends by itself.
func TestTasksArePlacedInParts(t *testing.T) {
	t.Parallel()
	j := job(0, 0, seconds(10))
	j.App, j.Shape, j.Count = nil, sim.Tasks, 5
	r := run(t, sim.Config{Board: nodes(2, 1)}, j)
	near(t, "the last of five tasks on two cores ends", r.Records[0].Ended, seconds(30))
	if r.Records[0].Cores != 5 {
		t.Errorf("%v cores", r.Records[0].Cores)
	}
}

func TestLateBindingRunsOnce(t *testing.T) {
	t.Parallel()
	a, b, c := job(0, 0, seconds(10)), job(1, 0, seconds(20)), job(2, seconds(1), seconds(5))
	for _, j := range []*sim.Job{&a, &b, &c} {
		j.App = nil
	}
	r := run(t, sim.Config{Board: nodes(2, 1), Selector: firstFit{late: true}}, a, b, c)
	near(t, "it starts where room is first", r.Records[2].Started, seconds(10))
	near(t, "and ends once", r.Records[2].Ended, seconds(15))
	if r.Counters.Placements != 3 {
		t.Errorf("%d placements", r.Counters.Placements)
	}
}

// A service of target 5 gets 10 in isolation, 5 next to one and 10/3 next to two
// co-runners: two thirds of its load are served then.
func TestServicesServeTheirLoad(t *testing.T) {
	t.Parallel()
	s := job(0, 0, seconds(100))
	s.Shape, s.Target = sim.Service, 5
	r := run(t, sim.Config{}, s, job(1, seconds(0), seconds(1000)), job(2, seconds(50), seconds(1000)))
	got := r.Records[0]
	near(t, "its life ends", got.Ended, seconds(100))
	if want := (50 + 50*2.0/3) / 100; math.Abs(float64(got.Served)-want) > 1e-5 {
		t.Errorf("served %v, want %v", got.Served, want)
	}
	if math.Abs(float64(got.InBound)-0.5) > 1e-5 {
		t.Errorf("in bound %v, want a half", got.InBound)
	}
}

// A target makes the ideal: 10 allocations' worth of speed 20 reach target 40
// with four of them at 10 each.
func TestAGroupReachesItsTarget(t *testing.T) {
	t.Parallel()
	j := job(0, 0, seconds(100))
	j.Count, j.Target = 4, 40
	r := run(t, sim.Config{Board: nodes(4, 1), Selector: firstFit{spread: true}}, j)
	near(t, "it ends", r.Records[0].Ended, seconds(100))
}

type knows struct{}

func (knows) Know(*sim.Job, int, int) (sim.Estimate, error) { return sim.Estimate{Profiled: true}, nil }

// With one slot in the laboratory, profiles are made one after another.
func TestProfilingTakesTime(t *testing.T) {
	t.Parallel()
	c := sim.Config{Estimator: knows{}, ProfileTime: seconds(60), LabSlots: 1}
	r := run(t, c, job(0, 0, seconds(10)), job(1, 0, seconds(10)))
	near(t, "the first is ready", r.Records[0].Ready, seconds(60))
	near(t, "the second is ready", r.Records[1].Ready, seconds(120))
}

func TestTheLimitEndsARun(t *testing.T) {
	t.Parallel()
	r := run(t, sim.Config{Limit: seconds(50)}, job(0, 0, seconds(100)), job(1, seconds(60), seconds(1)))
	if len(r.Records) != 1 || r.Records[0].Outcome != sim.Unfinished || r.Records[0].Performance() != 0 {
		t.Errorf("%+v", r.Records)
	}
}

// once carries out fixed actions at the first window.
type once struct {
	actions []adapt.Action
	seen    []adapt.Observation
}

func (o *once) Step(_ adapt.Instant, _ *board.Board, w []adapt.Observation, _ *rand.Rand) []adapt.Action {
	if o.seen != nil {
		return nil
	}
	o.seen = append([]adapt.Observation{}, w...)
	return o.actions
}
func (*once) Forget(board.Handle) {}

func TestActionsAreCarriedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		actions []adapt.Action
		check   func(r *sim.Result) bool
	}{
		"move": {[]adapt.Action{{Kind: adapt.Move, Handle: 0}}, func(r *sim.Result) bool {
			// 10 s at half speed, 5 s of moving, the rest alone.
			return r.Counters.Moves == 1 && r.Records[0].Ended.Round(time.Millisecond) == seconds(10+5+95)
		}},
		"evict": {[]adapt.Action{{Kind: adapt.Evict, Handle: 1 << 20}}, func(r *sim.Result) bool {
			return r.Counters.Evictions == 1 && r.Records[1].Restarts == 1
		}},
		"resize": {[]adapt.Action{{Kind: adapt.Resize, Handle: 0, Size: cluster.Resources{Cores: 3, MemoryMB: 10}}}, func(r *sim.Result) bool {
			return r.Counters.Resizes == 1
		}},
		"resize beyond the node": {[]adapt.Action{{Kind: adapt.Resize, Handle: 0, Size: cluster.Resources{Cores: 30, MemoryMB: 10}}}, func(r *sim.Result) bool {
			return r.Counters.Resizes == 0
		}},
		"what is gone": {[]adapt.Action{{Kind: adapt.Evict, Handle: 77 << 1}, {Kind: adapt.Shrink, Handle: 0}}, func(r *sim.Result) bool {
			return r.Counters.Evictions == 0 && r.Counters.Shrunk == 0
		}},
		"close": {[]adapt.Action{{Kind: adapt.Close, Node: 1}}, func(r *sim.Result) bool { return r.Counters.Closed == 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &once{actions: c.actions}
			r := run(t, sim.Config{Board: nodes(2, 4), Adapter: a, MoveTime: seconds(5), Window: seconds(10)}, job(0, 0, seconds(100)), job(1, 0, seconds(100)))
			if !c.check(r) {
				t.Errorf("%+v\n%+v", r.Counters, r.Records)
			}
			if len(a.seen) != 2 || a.seen[0].Performance != 5 {
				t.Errorf("seen %+v", a.seen)
			}
		})
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	t.Parallel()
	make := func() *sim.Result {
		random := rand.New(rand.NewPCG(7, 7))
		var jobs []sim.Job
		at := time.Duration(0)
		for i := range 300 {
			at += time.Duration(random.Int64N(int64(3 * time.Second)))
			j := job(i, at, seconds(1+40*random.Float64()))
			if i%7 == 0 {
				j.Shape, j.Count = sim.Tasks, 1+random.IntN(4)
			}
			jobs = append(jobs, j)
		}
		lost := []sim.NodeChange{{At: seconds(100), Node: 2}, {At: seconds(200), Node: 2, Ready: true}}
		return run(t, sim.Config{Board: nodes(5, 4), Nodes: lost, Selector: timedFit{firstFit{takes: 100 * time.Millisecond}}, Agents: 3}, jobs...)
	}
	a, b := make(), make()
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
	for i, r := range a.Records {
		if r.Outcome != sim.Done || r.Performance() > 1+1e-6 {
			t.Errorf("job %d: %+v", i, r)
		}
	}
}

func TestBadRuns(t *testing.T) {
	t.Parallel()
	if _, err := sim.New(sim.Config{}); !errors.Is(err, sim.ErrConfig) {
		t.Errorf("an empty configuration: %v", err)
	}
	b := nodes(1, 1)
	c := sim.Config{Board: b, Selector: firstFit{}, Controller: &queue{out: map[board.Handle]bool{}}, Truth: shared{}}
	c.Jobs = &sim.List{Jobs: []sim.Job{job(0, seconds(5), 1), job(1, seconds(1), 1)}}
	w, err := sim.New(c)
	if err == nil {
		_, err = w.Run(context.Background())
	}
	if !errors.Is(err, sim.ErrOrder) {
		t.Errorf("jobs out of order: %v", err)
	}
	c.Jobs, c.Nodes = &sim.List{}, []sim.NodeChange{{Node: 9}}
	if _, err := sim.New(c); !errors.Is(err, sim.ErrConfig) {
		t.Errorf("a node that is not there: %v", err)
	}
}

// watched sees the board at every window, and has everything classified anew at the first.
type watched struct {
	once
	residents []board.Resident
}

func (w *watched) Step(now adapt.Instant, b *board.Board, windows []adapt.Observation, random *rand.Rand) []adapt.Action {
	for i := range b.Len() {
		w.residents = append(w.residents, b.Residents(board.Index(i))...)
	}
	return w.once.Step(now, b, windows, random)
}

// response is a learnt one that says nothing.
type response struct{}

func (response) Runtime([]float64) float64 { return 1 }
func (response) IOPS([]float64) float64    { return 1 }

type knowsResponses struct{}

func (knowsResponses) Know(*sim.Job, int, int) (sim.Estimate, error) {
	return sim.Estimate{Profiled: true, Response: response{}}, nil
}

// What the board knows of an allocation is there after it was classified anew, too.
func TestClassifiedAnew(t *testing.T) {
	t.Parallel()
	a := &watched{once: once{actions: []adapt.Action{{Kind: adapt.Reclassify, Handle: 0}}}}
	run(t, sim.Config{Adapter: a, Window: seconds(10), Estimator: knowsResponses{}}, job(0, 0, seconds(100)))
	if len(a.residents) < 2 {
		t.Fatalf("%d windows", len(a.residents))
	}
	for i, r := range a.residents {
		if r.Response == nil {
			t.Errorf("window %d: the response is gone", i)
		}
	}
}

// A job of tasks has done its work when each of them has: none is taken away while it runs, nor begun
// anew.
func TestTasksAreDoneOnce(t *testing.T) {
	t.Parallel()
	tasks := job(0, 0, seconds(100))
	tasks.Shape, tasks.Count = sim.Tasks, 3
	want := run(t, sim.Config{Board: nodes(3, 1)}, tasks).Records[0]
	for _, kind := range []adapt.Kind{adapt.Relaunch, adapt.Shrink, adapt.Move} {
		a := &once{actions: []adapt.Action{{Kind: kind, Handle: 0}}}
		r := run(t, sim.Config{Board: nodes(3, 1), Adapter: a, Window: seconds(10)}, tasks)
		if got := r.Records[0]; got.Ended != want.Ended || got.Outcome != sim.Done || r.Counters.Shrunk+r.Counters.Moves > 0 {
			t.Errorf("%s: %+v, and left alone %+v; %+v", kind, got, want, r.Counters)
		}
	}
}
