package worldstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// recorder is between the simulated world and policy and admission: it deals
// every decision its own random numbers, makes every attempt the last, and notes
// what was started where.
type recorder struct {
	admission.Controller
	selector board.Selector
	board    *board.Board
	seeds    []uint64 // by job

	jobs    map[board.Handle]int
	plans   []plan // by job
	choices []board.Choice
	current int
}

func (r *recorder) Arrive(now admission.Instant, it admission.Item) {
	r.jobs[it.Ask.Handle] = len(r.plans)
	r.plans, r.choices = append(r.plans, plan{}), append(r.choices, board.Choice{})
	r.Controller.Arrive(now, it)
}

func (r *recorder) Next(now admission.Instant) (admission.Attempt, bool) {
	a, ok := r.Controller.Next(now)
	a.Forced = true
	return a, ok
}

func (r *recorder) Started(now admission.Instant, n board.Index, ref board.Handle) {
	r.plans[r.current][r.board.Node(n).ID]++
	r.Controller.Started(now, n, ref)
}

// Select implements board.Selector.
func (r *recorder) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	r.current = r.jobs[a.Handle]
	if a.Tolerances != nil {
		a.RequiredFraction = leastNeeds(a.Tolerances)
	}
	c := r.selector.Select(b, a, policy.Draws(r.seeds[r.current]))
	r.choices[r.current] = c
	return c
}

// leastNeeds is the share needed where it is least; nil where none is known.
func leastNeeds(all []board.Tolerance) *float64 {
	var least *float64
	for _, s := range all {
		if s.RequiredFraction != nil && (least == nil || *s.RequiredFraction < *least) {
			least = s.RequiredFraction
		}
	}
	return least
}

// tolerance is what a job tolerates by its target on nodes of a class, as a policy has it on
// a live cluster.
func (s scene) tolerance(j submission, class string, atBound []float64) board.Tolerance {
	out := board.Tolerance{Tolerated: atBound}
	switch v, known := j.speed[class]; {
	case j.target <= 0:
		out.RequiredFraction = new(float64)
	case known:
		share := min(1, j.target/float64(j.count)/v)
		out.RequiredFraction = &share
	default:
		return out
	}
	k := cluster.Knowledge{Sensitivity: s.profile(j, "").Sensitivity}
	for c, source := range s.columns {
		if math.IsNaN(j.tolerated[c]) {
			k.Sensitivity.Tolerated[source] = measuredScore(cluster.AssumedToleratedPercent)
		}
	}
	atTarget := predict.ToleranceAtTarget(&k, s.columns, performance.DefaultSlowdownMaxPercent, out.RequiredFraction, 0)
	out.Tolerated = slices.Clone(atBound)
	for c, source := range s.columns {
		if v, ok := atTarget[source].Score.Percent(); ok {
			out.Tolerated[c] = v
		}
	}
	return out
}

// Know implements sim.Knower: what the profile says, and of the rest what is
// assumed.
func (s scene) Know(j *sim.Job, _, _ int) (sim.Estimate, error) {
	of := s.jobs[j.Number]
	e := sim.Estimate{Tolerated: slices.Clone(of.tolerated), Caused: slices.Clone(of.caused)}
	for k := range s.columns {
		if math.IsNaN(e.Tolerated[k]) {
			e.Tolerated[k], e.Caused[k] = cluster.AssumedToleratedPercent, cluster.AssumedCausedPercent
		}
	}
	e.AtBound = e.Tolerated
	fastest := 0.0
	for _, class := range s.classes {
		v, ok := of.speed[class]
		if !ok {
			v = math.NaN()
		}
		e.Speed = append(e.Speed, v)
		e.Tolerances = append(e.Tolerances, s.tolerance(of, class, e.AtBound))
		if v > fastest {
			fastest, e.Tolerated = v, e.Tolerances[len(e.Tolerances)-1].Tolerated
		}
	}
	return e, nil
}

// simulate runs the scenario under a selector; seeds are those of the decisions.
func (s scene) simulate(t *testing.T, d policy.SelectorDescriptor, seeds []uint64) *recorder {
	t.Helper()
	b := board.New(s.columns, s.classes)
	var absent board.Index
	for _, n := range s.nodes {
		i := b.Add(board.Node{
			ID: n.id, Configuration: slices.Index(s.classes, n.class), CoreMHz: coreMHz,
			Total: cluster.Resources{CPUMHz: n.cores * coreMHz, Cores: n.cores, MemoryMB: n.memoryMB, DiskMB: diskMB},
		})
		if n.id == s.absent {
			absent = i
		}
	}
	none, err := admission.Lookup("none")
	if err != nil {
		t.Fatal(err)
	}
	controller, err := none.New(b, admission.Options{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{Controller: controller, selector: policy.Whole(d.New(b, policy.Live()), nil), board: b, seeds: seeds, jobs: map[board.Handle]int{}}
	world, err := sim.New(sim.Config{
		Board: b, Jobs: &sim.List{Jobs: s.simulated()}, Estimator: s, Selector: r, Controller: r, Seed: 1,
		Nodes: []sim.NodeChange{
			{At: 0, Node: absent, Ready: false},
			{At: step*sim.Instant(s.returns()+1) - step/4, Node: absent, Ready: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// simulated jobs run for a fixed time and end between two submissions.
func (s scene) simulated() []sim.Job {
	var out []sim.Job
	for i, j := range s.jobs {
		out = append(out, sim.Job{
			Number: i, At: step * sim.Instant(i+1), Shape: sim.Batch, Duration: step*sim.Instant(j.lives) + step/2,
			Size: j.size, Count: j.count, Target: j.target,
		})
	}
	return out
}
