package whatif

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

const (
	// controller and selector are those that the scenarios of the chapter are run with.
	controller    = "hcloud"
	selector      = "quasar"
	configuration = "node" // of all nodes
	mhzPerCore    = 1000   // in which the simulated world counts CPU shares

	// The provider has so many nodes of each type per allocation that there was at once: idle ones are
	// kept for a while (chosen by us; the text knows of no provider that has no more).
	nodesPerAllocation = 3
	// The world ends so long after the time that is replayed, whatever still waits then (chosen by us).
	longestAfter = 7 * 24 * time.Hour

	streamAdmission = 0x776861746966 // of the seed's random numbers
	otherPrograms   = 60             // of other customers, to draw from, as many as in the scenarios
)

// otherClasses are what other customers run, as in the scenarios (§8.2.2: batch and latency-critical
// workloads).
var otherClasses = []string{"hadoop", "memcached"}

// Compare replays what is on record under each strategy. progress, which may be nil, is told the share
// that is done and the strategy.
func Compare(ctx context.Context, recorded Recorded, q provision.Question, progress func(share float64, what string)) (provision.Comparison, error) {
	asked := q.From
	if recorded.Since.After(q.From) {
		q.From = recorded.Since
	}
	if err := q.Check(); err != nil {
		if recorded.Since.After(asked) {
			err = fmt.Errorf("runs are on record from %s on: %w", recorded.Since.UTC().Format(time.RFC3339), err)
		}
		return provision.Comparison{}, err
	}
	r, err := newReplay(recorded, q)
	if err != nil {
		return provision.Comparison{}, err
	}
	out := provision.Comparison{
		From: q.From.UTC(), To: q.To.UTC(), Hours: q.To.Sub(q.From).Hours(), Seed: q.Seed, Mapping: q.Mapping, Owned: q.Prices.Owned,
		Runs: r.runs, Allocations: len(r.jobs), Unknown: r.unknown, Running: r.running, LeftOut: r.leftOut,
		Load: provision.LoadReport{MeanCores: r.load.meanCores, LeastCores: r.load.leastCores, MostCores: r.load.mostCores},
	}
	denied := 0
	for i, s := range provision.Strategies() {
		tell := func(share float64) {
			if progress != nil {
				progress((float64(i)+share)/float64(len(provision.Strategies())), string(s))
			}
		}
		report, sides, err := r.run(ctx, s, q, tell)
		if err != nil {
			return provision.Comparison{}, fmt.Errorf("strategy %s: %w", s, err)
		}
		denied += sides.Denied
		out.Strategies = append(out.Strategies, report)
	}
	out.PutCosts(q.Weeks)
	out.Notes = r.notes(q, recorded, asked, denied)
	return out, nil
}

// run replays everything under a strategy.
func (r *replay) run(ctx context.Context, s provision.Strategy, q provision.Question, tell func(float64)) (provision.StrategyReport, admission.SideReport, error) {
	config, owned, err := r.config(s, q)
	if err != nil {
		return provision.StrategyReport{}, admission.SideReport{}, err
	}
	config.Progress = func(ended, expected int, _ sim.Instant) { tell(float64(ended) / float64(max(1, expected))) }
	world, err := sim.New(config)
	if err != nil {
		return provision.StrategyReport{}, admission.SideReport{}, err
	}
	result, err := world.Run(ctx)
	if err != nil {
		return provision.StrategyReport{}, admission.SideReport{}, err
	}
	tell(1)
	report := reportOf(result, q)
	report.Strategy, report.OwnedNodes, report.OwnedPerHour = s, owned, float64(owned)*q.Prices.Owned.PricePerHour
	return report, result.Provision.Sides, nil
}

// config wires one run of the world.
func (r *replay) config(s provision.Strategy, q provision.Question) (sim.Config, int, error) {
	b := board.New(r.columns, []string{configuration})
	owned := r.ownedNodes(s, q.Prices.Owned)
	for range owned {
		add(b, "owned", q.Prices.Owned.Cores, q.Prices.Owned.MemoryMB)
	}
	rented, err := r.fleet(b, s, q)
	if err != nil {
		return sim.Config{}, 0, err
	}
	admit, err := admission.Lookup(controller)
	if err != nil {
		return sim.Config{}, 0, err
	}
	options := admission.Options{Rental: rented, Values: map[string]string{
		"strategy": string(s), "mapping": q.Mapping, "retention": strconv.FormatFloat(q.Retention, 'g', -1, 64), "known": "yes",
	}}
	if len(r.columns) == 0 {
		options.Values["known"] = "no" // of all that runs nothing is known
	}
	decides, err := admit.New(b, options, rand.New(rand.NewPCG(q.Seed, streamAdmission)))
	if err != nil {
		return sim.Config{}, 0, err
	}
	places, err := policy.LookupSelector(selector)
	if err != nil {
		return sim.Config{}, 0, err
	}
	return sim.Config{
		Board: b, Truth: r.model, Jobs: &sim.List{Jobs: r.jobs}, Expect: len(r.jobs), Estimator: r.known,
		Selector: places.New(b, policy.Options{}), Controller: decides, Instant: true, Fleet: rented, Seed: q.Seed,
		SampleEvery: max(time.Minute, q.To.Sub(q.From)/256), Limit: q.To.Sub(q.From) + longestAfter,
	}, owned, nil
}

// ownedNodes is how many nodes a strategy owns: what the load needs of cores, or of memory.
func (r *replay) ownedNodes(s provision.Strategy, node provision.OwnedNode) int {
	if !s.Owns() {
		return 0
	}
	if s != provision.StaticReserved && node.Nodes != nil {
		return *node.Nodes
	}
	byCores := s.OwnedCores(r.load.leastCores, r.load.mostCores) / float64(node.Cores)
	byMemory := s.OwnedCores(r.load.leastMB, r.load.mostMB) / float64(node.MemoryMB)
	return max(1, int(math.Ceil(max(byCores, byMemory)-1e-9)))
}

// fleet is the provider, with its nodes on the board.
func (r *replay) fleet(b *board.Board, s provision.Strategy, q provision.Question) (*fleet.Fleet, error) {
	types, nodes := s.Uses(q.Prices.Types), map[string][]board.Index{}
	for _, t := range types {
		for range min(len(r.jobs), nodesPerAllocation*r.load.most) {
			n := add(b, t.Name, t.Cores, t.MemoryMB)
			b.SetReady(n, false)
			nodes[t.Name] = append(nodes[t.Name], n)
		}
	}
	outside := fleet.DefaultOutside()
	outside.Mean = q.Outside
	others, err := r.others(q.Seed)
	if err != nil {
		return nil, err
	}
	return fleet.New(fleet.Config{
		Types: types, Nodes: nodes, MachineCores: mostCores(q.Prices.Types), Columns: len(r.columns), SpinUp: spinUpOf(q.Prices.Types), Outside: outside, Others: others, Seed: q.Seed,
	})
}

func add(b *board.Board, kind string, cores, memoryMB int) board.Index {
	return b.Add(board.Node{
		ID: cluster.NodeID(fmt.Sprintf("%s-%05d", kind, b.Len())), CoreMHz: mhzPerCore,
		Total: cluster.Resources{CPUMHz: cores * mhzPerCore, Cores: cores, MemoryMB: memoryMB, DiskMB: 1 << 30},
	})
}

// mostCores is the size of a provider's machines: that of its largest type.
func mostCores(types provision.Catalogue) int {
	most := 0
	for _, t := range types {
		most = max(most, t.Cores)
	}
	return most
}

// spinUpOf types is as published (§8.3.2), around what their smallest and their largest take; those in
// between take something in between.
func spinUpOf(types provision.Catalogue) fleet.SpinUp {
	smallest := slices.MinFunc(types, func(a, b provision.Type) int { return a.Cores - b.Cores })
	largest := slices.MaxFunc(types, func(a, b provision.Type) int { return a.Cores - b.Cores })
	published := fleet.DefaultSpinUp()
	out := published.Times(largest.SpinUp.Seconds() / published.Largest.Seconds())
	out.Smallest = smallest.SpinUp
	return out
}

// others are programs of other customers, with a core each.
func (r *replay) others(seed uint64) ([]*truth.Application, error) {
	drawn, err := truth.Population(r.model, truth.Spec{Classes: otherClasses, Count: otherPrograms, PeakShare: -1}, seed)
	if err != nil {
		return nil, err
	}
	var out []*truth.Application
	for _, a := range drawn {
		one := a.Resized(1)
		one.Phases[0].MemoryMB = 0 // it takes that of its own slice
		out = append(out, one)
	}
	return out, nil
}

// reportOf what became of the jobs, and what was rented for them. What is paid is by hour of the time that
// was replayed, also where the jobs take longer.
func reportOf(result *sim.Result, q provision.Question) provision.StrategyReport {
	var out provision.StrategyReport
	values := make([]float64, 0, len(result.Records))
	sum, waited, ran := 0.0, 0.0, 0
	for i := range result.Records {
		record := &result.Records[i]
		relative := 100 * record.Relative()
		values, sum = append(values, relative), sum+relative
		if record.Outcome != sim.Done {
			out.Unfinished++
		}
		if record.Started >= 0 {
			waited, ran = waited+record.Wait().Seconds(), ran+1
		}
	}
	slices.Sort(values)
	out.Performance, out.Worst = sum/float64(len(values)), values[len(values)/20]
	out.WaitSeconds = waited / float64(max(1, ran))
	rented, minimum, end, hours := result.Provision.Rented, q.Prices.MinimumBilled, result.End, q.To.Sub(q.From).Hours()
	if out.Unfinished > 0 {
		end = max(end, q.To.Sub(q.From)) // somebody was still there
	}
	out.RentedNodes = len(rented)
	out.RentedMean = fleet.MeanCores(rented, end, minimum) * end.Hours() / hours
	out.RentedPerHour = fleet.Spent(rented, end, minimum) / hours
	return out
}
