package sequence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// Streams of random numbers from one seed.
const (
	streamMachine = iota + 1
	streamTraining
	streamScene
	streamElsewhere
	streamNoise
)

// columns are the sources of the study: those that reach allocations with cores of their own.
// What is private to a core is left out: next to a measured row it is CPU time shared on one
// CPU, which the simulated nodes do not share.
var columns = []interference.Source{
	interference.MemoryBandwidth, interference.MemoryCapacity, interference.StorageBandwidth,
	interference.NetworkBandwidth, interference.LLCCapacity, interference.LLCBandwidth,
}

// machines are the configurations, the strongest first (chosen by us: what differs within
// one cluster).
var machines = []truth.Machine{
	{Name: "large", Cores: 16, GHz: 2.9, IPC: 1, LLCMB: 32, StreamGBs: 12, MemoryMB: 65536, Siblings: 1},
	{Name: "wide", Cores: 12, GHz: 2.4, IPC: 0.9, LLCMB: 24, StreamGBs: 9, MemoryMB: 49152, Siblings: 1},
	{Name: "middle", Cores: 8, GHz: 2.4, IPC: 0.8, LLCMB: 12, StreamGBs: 7, MemoryMB: 32768, Siblings: 1},
	{Name: "small", Cores: 4, GHz: 2.0, IPC: 0.7, LLCMB: 8, StreamGBs: 5, MemoryMB: 16384, Siblings: 1},
}

const (
	nodesEach  = 3    // of every configuration
	mhzPerCore = 1000 // of every node; how fast a core is, the truth knows
	runPool    = "default"
	bound      = 0.05
	// trainingSeconds is how long each score of a training row was measured.
	trainingSeconds = 120
)

// noPeaks is the share of applications that need more memory than they ask for: none, or who
// is killed would outweigh what scores can tell.
const noPeaks = 1e-9

// Sizes of a population.
const (
	residentsCount = 16
	trainingCount  = 40
	newcomersCount = 200
	folds          = 3 // of the measured programs
)

// population is where applications come from, with what was learnt of others.
type population struct {
	name      string
	model     *truth.Model
	residents []*truth.Application
	newcomers []*truth.Application
	learnt    []*learnt // by fold of newcomers
}

// learnt is what the training rows say, and what is known of the residents by it.
type learnt struct {
	models    classify.Models
	telling   classify.Telling
	residents []cluster.Knowledge
	rows      classify.Training
}

// drawn is a population of drawn applications.
func drawn(ctx context.Context, seed uint64) (*population, error) {
	m := truth.NewModel(columns, machines)
	spec := truth.Spec{
		Classes: []string{"ST", "MT", "MP", "IO", "single-node"}, Count: residentsCount + trainingCount + newcomersCount,
		MostCores: 4, Platforms: truth.Hardware, PeakShare: noPeaks,
	}
	all, err := truth.Population(m, spec, seed)
	if err != nil {
		return nil, err
	}
	p := &population{
		name: "drawn", model: m, residents: all[:residentsCount], newcomers: all[residentsCount+trainingCount:],
	}
	l, err := p.learn(ctx, all[residentsCount:residentsCount+trainingCount], seed)
	p.learnt = []*learnt{l}
	return p, err
}

// recorded is a population of the measured rows that are shipped. The rows of a newcomer's
// fold are in no training set.
func recorded(ctx context.Context, seed uint64) (*population, error) {
	rows, err := training.Load()
	if err != nil {
		return nil, err
	}
	m := truth.NewModel(columns, machines)
	all, err := truth.FromProfiles(m, rows, truth.Spec{Count: len(rows), Platforms: truth.Hardware}, seed)
	if err != nil {
		return nil, err
	}
	pairs, err := training.LoadPairs()
	if err != nil {
		return nil, err
	}
	m.FromPairs(pairs, all)
	p := &population{name: "recorded", model: m, newcomers: all}
	random := rand.New(rand.NewPCG(seed, streamScene))
	for _, i := range random.Perm(len(all))[:residentsCount] {
		p.residents = append(p.residents, all[i])
	}
	for fold := range folds {
		var others []*truth.Application
		for i, a := range all {
			if i%folds != fold {
				others = append(others, a)
			}
		}
		l, err := p.learn(ctx, others, seed)
		if err != nil {
			return nil, err
		}
		p.learnt = append(p.learnt, l)
	}
	return p, nil
}

// learn fits the models of the live engine to measured rows of applications, and profiles
// the residents in full.
func (p *population) learn(ctx context.Context, from []*truth.Application, seed uint64) (*learnt, error) {
	random := rand.New(rand.NewPCG(seed, streamTraining))
	var rows []profile.Profile
	for _, a := range from {
		rows = append(rows, p.row(a, random))
	}
	d, err := classify.Lookup(classifier)
	if err != nil {
		return nil, err
	}
	t := classify.TrainingFrom(rows)
	models, err := t.Fit(d.New(), seed)
	if err != nil {
		return nil, err
	}
	l := &learnt{models: models, rows: t, telling: classify.NewTelling(rows, t, models)}
	for i, a := range p.residents {
		out, err := p.profile(ctx, l, a, Full, seed+uint64(i), nil)
		if err != nil {
			return nil, err
		}
		l.residents = append(l.residents, l.know(&out))
	}
	return l, nil
}

// classifier is that of the live engine.
const classifier = "local"

// row is a training row: every cell measured, with its noise.
func (p *population) row(a *truth.Application, random *rand.Rand) profile.Profile {
	out := profile.Profile{
		Key: a.Name, Workload: a.Name, Isolated: map[string]profile.Measurement{},
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
	}
	for i, machine := range machines {
		if v := p.model.Measure(a, a.Isolated[i], trainingSeconds, random); v > 0 {
			out.Isolated[machine.Name] = profile.Measurement{Value: v, Low: v, High: v, Unit: "units/s", Windows: 1}
		}
	}
	for k, c := range columns {
		t, x := p.model.MeasureScores(a, 0, k, trainingSeconds, random)
		out.Sensitivity.Tolerated[c], out.Sensitivity.Caused[c] = measured(t), measured(x)
	}
	return out
}

func measured(percent float64) interference.Estimate {
	if math.IsNaN(percent) {
		return interference.Estimate{}
	}
	return interference.Estimate{Score: interference.Percent(percent), Origin: interference.Measured}
}

func (l *learnt) know(p *profile.Profile) cluster.Knowledge {
	return classify.Knowledge(p, l.models, columns, configurations())
}

func configurations() []string {
	var out []string
	for _, m := range machines {
		out = append(out, m.Name)
	}
	return out
}

// scene is a newcomer before a cluster, and some other clusters that it meets later.
type scene struct {
	population *population
	learnt     *learnt
	newcomer   *truth.Application
	sigma      float64 // noise of its windows
	target     float64 // rate; 0: as fast as can be
	now        placing
	later      []placing
}

// placing is a cluster in which the newcomer is to be placed.
type placing struct {
	snapshot *cluster.Snapshot
	on       map[cluster.NodeID][]int // residents by node
	feasible []*cluster.Node
}

// laterScenes is how many other clusters a profile is used in again.
const laterScenes = 4

var errNoRoom = errors.New("no scene with room was found")

// study holds populations, made once.
type study struct {
	mu sync.Mutex
	of map[string]*population
}

// populationsOf a hundred seeds are alike, and others than those of the next hundred.
const seedsOfAPopulation = 100

func (s *study) population(ctx context.Context, seed uint64) (*population, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, number := "drawn", seed/seedsOfAPopulation
	if seed%2 == 1 {
		kind = "recorded"
	}
	key := fmt.Sprintf("%s-%d", kind, number)
	if p, ok := s.of[key]; ok {
		return p, nil
	}
	made := drawn
	if kind == "recorded" {
		made = recorded
	}
	p, err := made(ctx, number+1)
	if err == nil {
		s.of[key] = p
	}
	return p, err
}

// scene draws what happens under a seed.
func (s *study) scene(ctx context.Context, seed uint64) (*scene, error) {
	p, err := s.population(ctx, seed)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, streamScene))
	i := random.IntN(len(p.newcomers))
	out := &scene{
		population: p, newcomer: p.newcomers[i], learnt: p.learnt[i%len(p.learnt)],
		sigma: 0.02 * math.Exp(0.5*random.NormFloat64()),
	}
	if random.IntN(2) == 0 {
		_, best := out.newcomer.Best(func(int) bool { return true })
		out.target = best * (0.5 + 0.45*random.Float64())
	}
	var all []placing
	for range 1000 {
		if x := out.draw(random); len(x.feasible) >= 3 {
			all = append(all, x)
		}
		if len(all) == 1+laterScenes {
			out.now, out.later = all[0], all[1:]
			return out, nil
		}
	}
	return nil, errNoRoom
}

// draw a cluster with residents.
func (s *scene) draw(random *rand.Rand) placing {
	x := placing{on: map[cluster.NodeID][]int{}, snapshot: &cluster.Snapshot{
		Allocations: map[cluster.NodeID][]cluster.Allocation{}, Known: map[cluster.WorkloadID]interference.Sensitivity{},
		Reserved: map[cluster.NodeID][]cluster.Allocation{},
	}}
	total, used := 0.0, 0.0
	for c := range machines {
		for i := range nodesEach {
			m := &machines[c]
			total += m.Cores
			id := fmt.Sprintf("%s-%d", m.Name, i)
			x.snapshot.Nodes = append(x.snapshot.Nodes, &cluster.Node{
				ID: cluster.NodeID(id), Name: id, Datacenter: "dc1", Pool: runPool, Class: m.Name, Configuration: m.Name,
				Total:   cluster.Resources{CPUMHz: int(m.Cores) * mhzPerCore, Cores: int(m.Cores), MemoryMB: int(m.MemoryMB), DiskMB: 1 << 20},
				CoreMHz: mhzPerCore, Ready: true, Kernels: true, Attributes: cluster.NewAttributes(map[string]string{"driver.exec": "1"}), Meta: map[string]string{},
			})
		}
	}
	slices.SortFunc(x.snapshot.Nodes, func(a, b *cluster.Node) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	load := 0.3 + 0.45*random.Float64()
	for try := 0; used < load*total && try < 1000; try++ {
		i, n := random.IntN(len(s.population.residents)), x.snapshot.Nodes[random.IntN(len(x.snapshot.Nodes))]
		a := s.population.residents[i]
		w := workloadOf(a)
		if a.Name == s.newcomer.Name || slices.Contains(x.on[n.ID], i) || cluster.Room(n, x.snapshot.Host(n).UsedByOthers(w.ID), w.Ask, 1) == 0 {
			continue
		}
		x.on[n.ID] = append(x.on[n.ID], i)
		x.snapshot.Allocations[n.ID] = append(x.snapshot.Allocations[n.ID], cluster.Allocation{
			ID: fmt.Sprintf("%s-%d", a.Name, len(x.on[n.ID])), Workload: w.ID, Node: n.ID, Resources: w.Ask,
		})
		x.snapshot.Known[w.ID] = s.learnt.residents[i].Sensitivity
		used += a.Cores
	}
	w := workloadOf(s.newcomer)
	x.feasible, _, _ = cluster.Feasible(x.snapshot, w, runPool)
	return x
}

func workloadOf(a *truth.Application) *cluster.Workload {
	return &cluster.Workload{
		ID: cluster.WorkloadID{Namespace: "default", Job: a.Name, Group: "main"}, ProfileKey: a.Name, Count: 1,
		Spec:    performance.Spec{Target: performance.Target{Kind: performance.FinishWithin}, SlowdownMaxPercent: 100 * bound},
		Ask:     cluster.Resources{CPUMHz: int(a.Cores * mhzPerCore), MemoryMB: int(a.MemoryMB), DiskMB: 300},
		Drivers: []string{"exec"}, Datacenters: []string{"*"},
	}
}

func (s *scene) workload() *cluster.Workload {
	w := workloadOf(s.newcomer)
	if s.target > 0 {
		w.Spec.Target = performance.Target{Kind: performance.Rate, Rate: s.target}
	}
	return w
}

// outcome is what really happens if the newcomer is placed on a node: its share of what its
// target needs, or of its best performance where it has none, and what its residents lose, in
// points.
func (s *scene) outcome(x placing, n *cluster.Node) (points, rate float64) {
	c := slices.IndexFunc(machines, func(m truth.Machine) bool { return m.Name == n.Configuration })
	var before []truth.Placed
	for _, i := range x.on[n.ID] {
		before = append(before, placed(s.population.residents[i]))
	}
	after := append(slices.Clone(before), placed(s.newcomer))
	without, with := s.population.model.Speeds(c, before, nil), s.population.model.Speeds(c, after, nil)
	rate = with[len(with)-1].Value
	points = 100 * min(1, rate/s.wanted())
	for i := range without {
		if without[i].Isolated > 0 {
			points += 100 * (with[i].Value - without[i].Value) / without[i].Isolated
		}
	}
	return points, rate
}

// wanted is the rate beyond which more is worth nothing.
func (s *scene) wanted() float64 {
	if s.target > 0 {
		return s.target
	}
	_, best := s.newcomer.Best(func(int) bool { return true })
	return best
}

func placed(a *truth.Application) truth.Placed {
	return truth.Placed{Application: a, Cores: a.Cores, MemoryMB: a.MemoryMB, Load: 1}
}

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
