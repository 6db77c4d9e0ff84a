package sim_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// cloud is a world with owned nodes of 16 cores and a provider.
type cloud struct {
	owned     int
	admission string // hcloud
	options   map[string]string
	takes     time.Duration // each spin-up; 0: as published
	whole     int           // whole machines that the provider has; 0: many
	others    float64       // percent of each resource that other customers press, each on a core
	limit     time.Duration
	seed      uint64
	tolerates func(number int) float64 // percent of each resource; nil: 90
}

const spinUp = 20 * time.Second

// tolerated is an estimator that knows what jobs tolerate, and that they cause a little.
type tolerated func(number int) float64

func (f tolerated) Know(j *sim.Job, _, _ int) (sim.Estimate, error) {
	t := f(j.Number)
	return sim.Estimate{Tolerated: []float64{t, t}, Caused: []float64{1, 1}}, nil
}

func (c cloud) run(t *testing.T, jobs ...sim.Job) *sim.Result {
	t.Helper()
	b := board.New([]interference.Source{"a", "b"}, []string{"one"})
	add := func(cores int) board.Index {
		return b.Add(board.Node{CoreMHz: 1000, Total: cluster.Resources{CPUMHz: cores * 1000, Cores: cores, MemoryMB: cores * 1000}})
	}
	for range c.owned {
		add(16)
	}
	types := provision.Catalogue{
		{Name: "small", Cores: 2, MemoryMB: 2000, PricePerHour: 2, SpinUp: spinUp}, {Name: "whole", Cores: 16, MemoryMB: 16000, PricePerHour: 16, SpinUp: spinUp},
	}
	nodes := map[string][]board.Index{}
	for _, rented := range types {
		n := 50
		if rented.Name == "whole" && c.whole > 0 {
			n = c.whole
		}
		for range n {
			i := add(rented.Cores)
			b.SetReady(i, false)
			nodes[rented.Name] = append(nodes[rented.Name], i)
		}
	}
	f, err := fleet.New(c.fleet(types, nodes))
	if err != nil {
		t.Fatal(err)
	}
	if c.admission == "" {
		c.admission = "hcloud"
	}
	d, err := admission.Lookup(c.admission)
	if err != nil {
		t.Fatal(err)
	}
	controller, err := d.New(b, admission.Options{Values: c.options, Rental: f}, rand.New(rand.NewPCG(c.seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if c.tolerates == nil {
		c.tolerates = func(int) float64 { return 90 }
	}
	w, err := sim.New(sim.Config{
		Board: b, Jobs: &sim.List{Jobs: jobs}, Estimator: tolerated(c.tolerates), Selector: firstFit{}, Controller: controller, Fleet: f, Seed: c.seed, Limit: c.limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := w.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c cloud) fleet(types provision.Catalogue, nodes map[string][]board.Index) fleet.Config {
	out := fleet.Config{Types: types, Nodes: nodes, MachineCores: 16, Columns: 2, SpinUp: fleet.DefaultSpinUp(), Outside: fleet.DefaultOutside(), Seed: c.seed}
	if c.takes > 0 {
		out.SpinUp = fleet.SpinUp{Smallest: c.takes, Largest: c.takes}
	}
	if c.others > 0 {
		out.Others = []*truth.Application{{Name: "other", Cores: 1, Phases: []truth.Phase{{Share: 1, Pressure: []float64{c.others, c.others}}}}}
	}
	return out
}

// fixed is a job that takes its time wherever it is.
func fixed(number int, at, duration time.Duration, cores int) sim.Job {
	return sim.Job{Number: number, At: at, Duration: duration, Count: 1, Size: cluster.Resources{CPUMHz: cores * 1000, MemoryMB: 10}}
}

// P2 sends who demands more than 80 of a resource to the base, and others to rented nodes
// (Delimitrou 2015, §8.4.2).
func TestJobsGoWhereTheMappingSays(t *testing.T) {
	t.Parallel()
	c := cloud{owned: 1, options: map[string]string{"strategy": "HM", "mapping": "P2"}, takes: spinUp, tolerates: func(number int) float64 { return []float64{10, 70}[number] }}
	r := c.run(t, fixed(0, 0, time.Minute, 2), fixed(1, time.Second, time.Minute, 2))
	near(t, "the demanding job starts on the base", r.Records[0].Started, 0)
	near(t, "the tolerant one when its node has come", r.Records[1].Started, time.Second+spinUp)
	if r.Records[0].Rented || !r.Records[1].Rented {
		t.Errorf("rented: %v and %v", r.Records[0].Rented, r.Records[1].Rented)
	}
	if s := r.Provision.Sides; s.Base != 1 || s.Rented != 1 || len(r.Provision.Rented) != 1 || r.Provision.Rented[0].Type != "small" {
		t.Errorf("%+v of %+v", s, r.Provision.Rented)
	}
}

// A job that finds no room in the base waits for it, and what the wait was thought to be is held
// against what it was.
func TestJobsWaitForTheBase(t *testing.T) {
	t.Parallel()
	c := cloud{owned: 1, options: map[string]string{"strategy": "HM", "mapping": "P2"}, takes: spinUp, tolerates: func(int) float64 { return 10 }}
	var jobs []sim.Job
	for i := range 6 {
		jobs = append(jobs, fixed(i, time.Duration(i)*time.Second, time.Minute, 16))
	}
	r := c.run(t, jobs...)
	for i := range jobs {
		near(t, "each starts when the one in front of it has ended", r.Records[i].Started, time.Duration(i)*time.Minute)
	}
	s := r.Provision.Sides
	if s.Base != 6 || s.Queued != 5 || len(r.Provision.Rented) != 0 {
		t.Errorf("%+v, %d nodes rented", s, len(r.Provision.Rented))
	}
}

// An idle node is kept for ten times its spin-up, and who comes until then does not wait for
// another one (§8.3.2).
func TestIdleNodesAreKept(t *testing.T) {
	t.Parallel()
	free := spinUp + time.Minute // the first job has ended
	for after, want := range map[time.Duration]struct {
		wait  time.Duration
		nodes int
	}{10*spinUp - time.Second: {0, 1}, 10*spinUp + time.Second: {spinUp, 2}} {
		r := cloud{options: map[string]string{"strategy": "OdF"}, takes: spinUp}.run(t, fixed(0, 0, time.Minute, 4), fixed(1, free+after, time.Minute, 4))
		near(t, "the second waits", r.Records[1].Wait(), want.wait)
		rented := r.Provision.Rented
		if len(rented) != want.nodes {
			t.Fatalf("%s later: %d nodes were rented, want %d", after, len(rented), want.nodes)
		}
		if want.nodes == 2 {
			near(t, "the first node is given back", rented[0].Returned, free+10*spinUp)
		}
	}
}

// A node that was not good enough for its job goes when that ends; a good one is kept (§8.3.2).
func TestABadNodeIsReleasedWhenItsJobEnds(t *testing.T) {
	t.Parallel()
	for tolerates, kept := range map[float64]time.Duration{5: 0, 95: 10 * spinUp} {
		c := cloud{options: map[string]string{"strategy": "OdM"}, takes: spinUp, others: 20, tolerates: func(int) float64 { return tolerates }}
		r := c.run(t, fixed(0, 0, time.Minute, 2), fixed(1, time.Hour, time.Minute, 2))
		near(t, "its node is given back", r.Provision.Rented[0].Returned, spinUp+time.Minute+kept)
		if got, want := r.Provision.Sides.ReleasedAtOnce, map[bool]int{true: 2, false: 0}[kept == 0]; got != want {
			t.Errorf("%d nodes were released at once, want %d", got, want)
		}
	}
}

// Jobs share a whole rented machine by room, as they share owned ones (§8.3.3); a slice, and where
// the operator says so any node, where they leave each other alone.
func TestJobsShareARentedNode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy, sharing string
		tolerates         float64 // each causes 1
		want              int
	}{
		{"OdF", "room", 50, 1},
		{"OdF", "room", 0.5, 1},
		{"OdF", "tolerated", 50, 1},
		{"OdF", "tolerated", 0.5, 2},
		{"OdM", "room", 50, 1},
		{"OdM", "room", 0.5, 2},
	} {
		cores := map[string]int{"OdF": 4, "OdM": 1}[c.strategy]
		world := cloud{options: map[string]string{"strategy": c.strategy, "sharing": c.sharing}, takes: spinUp, tolerates: func(int) float64 { return c.tolerates }}
		r := world.run(t, fixed(0, 0, time.Minute, cores), fixed(1, time.Second, time.Minute, cores))
		if got := len(r.Provision.Rented); got != c.want {
			t.Errorf("%s, shared by %s: who tolerate %g share %d nodes, want %d", c.strategy, c.sharing, c.tolerates, got, c.want)
		}
	}
}

// Of whole machines with room one is taken where all tolerate each other.
func TestAMachineWhereAllTolerateEachOtherComesFirst(t *testing.T) {
	t.Parallel()
	c := cloud{options: map[string]string{"strategy": "OdF"}, takes: spinUp, tolerates: func(i int) float64 { return map[int]float64{0: 0.5, 1: 50, 2: 50}[i] }}
	// The first two do not fit together; the third has room on both machines, and the first does not tolerate it.
	r := c.run(t, fixed(0, 0, time.Hour, 9), fixed(1, time.Second, 20*time.Minute, 9), fixed(2, 10*time.Minute, 30*time.Minute, 4))
	if len(r.Provision.Rented) != 2 {
		t.Fatalf("%d machines are rented", len(r.Provision.Rented))
	}
	near(t, "the second machine has the third job", r.Provision.Rented[1].Returned, 40*time.Minute+10*spinUp)
}

func TestANodeThatNeverComes(t *testing.T) {
	t.Parallel()
	r := cloud{options: map[string]string{"strategy": "OdF"}, takes: 1000 * time.Hour, limit: time.Hour}.run(t, fixed(0, 0, time.Minute, 4))
	if r.Records[0].Outcome != sim.Unfinished || r.Records[0].Started != sim.Never {
		t.Errorf("%+v", r.Records[0])
	}
	if got := fleet.MeanCores(r.Provision.Rented, time.Hour, time.Minute); len(r.Provision.Rented) != 1 || got != 0 {
		t.Errorf("%g cores are billed for %+v", got, r.Provision.Rented)
	}
}

// Where the provider has no more, a job waits for a node to be free.
func TestTheProviderHasNoMore(t *testing.T) {
	t.Parallel()
	r := cloud{options: map[string]string{"strategy": "OdF"}, takes: spinUp, whole: 1}.run(t, fixed(0, 0, time.Minute, 16), fixed(1, time.Second, time.Minute, 16))
	near(t, "the second starts when the first has ended", r.Records[1].Started, spinUp+time.Minute)
	if r.Provision.Sides.Denied != 1 || len(r.Provision.Rented) != 1 {
		t.Errorf("%+v, %d nodes", r.Provision.Sides, len(r.Provision.Rented))
	}
}

// A run ends with its last job, whatever is still rented; and one in which a job waits for what
// never comes ends too, although the controller looks at its nodes all the time.
func TestRunsEnd(t *testing.T) {
	t.Parallel()
	options := map[string]string{"strategy": "HM"}
	r := cloud{owned: 1, options: options, takes: spinUp, tolerates: func(int) float64 { return 50 }}.run(t, fixed(0, 0, time.Minute, 14), fixed(1, 0, time.Minute, 2))
	if r.Provision.Rented[0].Returned != fleet.Never {
		t.Errorf("the node was given back at %s, the run ends at %s", r.Provision.Rented[0].Returned, r.End)
	}
	near(t, "the run ends", r.End, spinUp+time.Minute)
	r = cloud{owned: 1, options: options, takes: spinUp}.run(t, fixed(0, 0, time.Minute, 14), fixed(1, 0, time.Minute, 2), fixed(2, time.Second, time.Minute, 32))
	if r.Records[2].Outcome != sim.Unfinished || r.Records[1].Outcome != sim.Done {
		t.Errorf("%+v", r.Records)
	}
	if at := r.Provision.Rented[0].Returned; at == fleet.Never {
		t.Error("the rented node is kept for ever")
	}
}

// many are jobs of all sizes that come for half an hour.
func many(seed uint64) []sim.Job {
	random := rand.New(rand.NewPCG(seed, 5))
	var out []sim.Job
	for i := range 200 {
		out = append(out, fixed(i, time.Duration(i)*9*time.Second, time.Duration(1+random.IntN(300))*time.Second, 1+random.IntN(4)))
	}
	return out
}

func crowd(seed uint64) cloud {
	return cloud{
		owned: 2, options: map[string]string{"strategy": "HM", "soft": "0.3", "hard": "0.6"}, others: 20, seed: seed,
		tolerates: func(number int) float64 { return float64(number * 37 % 100) },
	}
}

// Every job on a rented node is paid for, and so is what is kept idle; what is paid for is what the
// provider has noted, at the price of its type.
func TestBillsAddUp(t *testing.T) {
	t.Parallel()
	r := crowd(1).run(t, many(1)...)
	used, paid := 0.0, 0.0
	for _, rec := range r.Records {
		if rec.Outcome != sim.Done {
			t.Fatalf("%+v", rec)
		}
		if rec.Rented {
			used += float64(rec.Cores) * (rec.Ended - rec.Started).Hours()
		}
	}
	for _, n := range r.Provision.Rented {
		until := n.Returned
		if until == fleet.Never {
			until = r.End
		}
		if n.Ready < n.Asked || until < n.Ready {
			t.Errorf("%+v", n)
		}
		paid += n.PricePerHour * (until - n.Ready).Hours()
	}
	if got := fleet.MeanCores(r.Provision.Rented, r.End, 0) * r.End.Hours(); math.Abs(got-paid) > 1e-6*paid {
		t.Errorf("%g core hours are billed, %g are paid for", got, paid)
	}
	if used <= 0 || used >= paid {
		t.Errorf("%g core hours are used, %g paid for", used, paid)
	}
	s := r.Provision.Sides
	if s.Base+s.Rented != len(r.Records) || s.Base == 0 || s.Released == 0 || s.ReleasedAtOnce == 0 || s.ReleasedAtOnce == s.Released {
		t.Errorf("%+v", s)
	}
	for i := range r.Samples {
		if s := r.Samples[i]; s.OwnedAllocated > 32 || s.OwnedAllocated > s.Allocated || s.RentedNodes > len(r.Provision.Rented) {
			t.Errorf("%+v", s)
		}
	}
}

func TestTheSameSeedRentsTheSameNodes(t *testing.T) {
	t.Parallel()
	first, again, other := crowd(1).run(t, many(1)...), crowd(1).run(t, many(1)...), crowd(2).run(t, many(1)...)
	if !reflect.DeepEqual(first, again) {
		t.Error("two runs of a seed differ")
	}
	if reflect.DeepEqual(first.Provision, other.Provision) {
		t.Error("another seed changes nothing")
	}
}

// The autoscaler rents as many nodes as the share that is allocated says: with one that is full it
// is 1 / 0.7, rounded up; and gives back what is empty.
func TestTargetValue(t *testing.T) {
	t.Parallel()
	options := map[string]string{"cooldown": "10s"}
	r := cloud{admission: "target-value", options: options, takes: spinUp}.run(t, fixed(0, 0, 10*time.Minute, 16), fixed(1, time.Second, time.Minute, 16), fixed(2, time.Hour, time.Minute, 16))
	near(t, "the first node is there", r.Records[0].Started, spinUp)
	near(t, "the second is rented when the first is full, 10 s later", r.Records[1].Started, spinUp+10*time.Second+spinUp)
	near(t, "the last finds the node that is always there", r.Records[2].Wait(), 0)
	if rented := r.Provision.Rented; len(rented) < 2 || rented[1].Returned == fleet.Never {
		t.Errorf("%+v", rented)
	}
	// What is too large waits for ever, and the run ends.
	r = cloud{admission: "target-value", options: options, takes: spinUp}.run(t, fixed(0, 0, time.Minute, 16), fixed(1, 0, time.Minute, 32))
	if r.Records[0].Outcome != sim.Done || r.Records[1].Outcome != sim.Unfinished {
		t.Errorf("%+v", r.Records)
	}
}
