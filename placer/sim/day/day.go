package day

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/predict/production"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The cluster and its day (chosen by us, before anything was run).
const (
	nodes        = 10
	slots        = 3 // allocations on a node
	applications = 24
	training     = 60 // applications that were measured whole
	measured     = 2  // scores of each kind in a profile
	leaves       = 0.35
	states       = 300
	candidates   = 5
	windowNoise  = 0.03 // of what is achieved in an hour
	speedNoise   = 0.02 // of the measured performance in isolation
	scoreError   = 5.0  // points, half an interval of a measured score
	seconds      = 60.0 // of a profiling run
	coresOfNode  = 16
	bound        = performance.DefaultSlowdownMaxPercent
)

// Trial takes a cause of regret away.
type Trial string

// The trials.
const (
	AsItIs      Trial = "as it is"
	NoNoise     Trial = "no noise in what is achieved"
	KnownCaused Trial = "caused scores known"
	AllKnown    Trial = "all scores known"
)

// Trials are all of them.
func Trials() []Trial { return []Trial{AsItIs, NoNoise, KnownCaused, AllKnown} }

// Result is one day.
type Result struct {
	Seed  uint64 `json:"seed"`
	Trial Trial  `json:"trial"`
	// Regret by hour, from 0: points of performance in isolation that a decision loses.
	Regret      []float64 `json:"regret_points"`
	Random      float64   `json:"random_points"` // of a node chosen by lot
	Experiments int       `json:"experiments"`
	Drifted     int       `json:"drifted"` // alarms: nothing drifts here
}

// Run is a day of so many hours.
func Run(ctx context.Context, hours int, seed uint64, trial Trial) (Result, error) {
	w, err := newWorld(seed, trial)
	if err != nil {
		return Result{}, err
	}
	out := Result{Seed: seed, Trial: trial, Regret: []float64{w.regret()}, Random: w.randomRegret()}
	for range hours {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		w.hour()
		out.Regret = append(out.Regret, w.regret())
	}
	out.Experiments, out.Drifted = w.experiments, w.drifted
	return out, nil
}

// workload is an application of the cluster, and what is known of it.
type workload struct {
	app       *truth.Application
	name      string
	isolated  float64           // as it was measured
	profile   cluster.Knowledge // without what production says
	said      profile.Production
	knowledge cluster.Knowledge
	curves    *predict.Curves
	caused    []float64
}

// state is a decision: who arrives, and what runs on each candidate.
type state struct {
	newcomer int
	nodes    [][]int
}

type world struct {
	trial       Trial
	model       *truth.Model
	columns     []interference.Source
	random      *rand.Rand
	workloads   []*workload
	on          [][]int // by node, workloads
	states      []state
	at          time.Time
	experiments int
	drifted     int
}

func newWorld(seed uint64, trial Trial) (*world, error) {
	columns := []interference.Source{
		interference.MemoryBandwidth, interference.LLCCapacity, interference.LLCBandwidth, interference.L2Capacity, interference.StorageBandwidth, interference.NetworkBandwidth,
	}
	machine := truth.Machine{Name: configuration, Cores: coresOfNode, GHz: 2.5, IPC: 1, LLCMB: 30, StreamGBs: 10, MemoryMB: 65536}
	w := &world{
		trial: trial, model: truth.NewModel(columns, []truth.Machine{machine}), columns: columns, random: rand.New(rand.NewPCG(seed, 1)),
		on: make([][]int, nodes), at: time.Unix(1e9, 0),
	}
	apps, err := truth.Population(w.model, truth.Spec{Classes: []string{"single-node", "IO"}, Count: training + applications, MostCores: coresOfNode / 4, PeakShare: -1}, seed)
	if err != nil {
		return nil, err
	}
	if err := w.know(apps, seed); err != nil {
		return nil, err
	}
	w.drawStates(rand.New(rand.NewPCG(seed, 2)))
	return w, nil
}

// configuration of all nodes.
const configuration = "machine"

// know profiles the applications of the cluster and predicts the rest of their scores from
// those that were measured whole.
func (w *world) know(apps []*truth.Application, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 3))
	var rows []profile.Profile
	for i, a := range apps[:training] {
		p := profile.Profile{Format: profile.Format, Key: fmt.Sprint("row", i), Workload: "shipped/row/row", SlowdownMax: bound, Sensitivity: w.scores(a, random, len(w.columns))}
		rows = append(rows, p)
	}
	descriptor, err := classify.Lookup("local")
	if err != nil {
		return err
	}
	models, err := classify.TrainingFrom(rows).Fit(descriptor.New(), seed)
	if err != nil {
		return err
	}
	for i, a := range apps[training:] {
		isolated := a.Isolated[0] * (1 + speedNoise*random.NormFloat64())
		key := fmt.Sprintf("app%02d", i)
		p := profile.Profile{Format: profile.Format, Key: key, Workload: "default/" + key + "/group", SlowdownMax: bound, Sensitivity: w.scores(a, random, measured)}
		x := &workload{app: a, name: key, isolated: isolated, profile: classify.Knowledge(&p, models, w.columns, nil)}
		w.reveal(x)
		x.said = profile.Production{Format: profile.ProductionFormat, Key: key, Workload: p.Workload, SlowdownMax: bound}
		w.workloads = append(w.workloads, x)
		w.fold(x)
	}
	return nil
}

// scores are those of so many sources, drawn by lot, as profiling runs measure them.
func (w *world) scores(a *truth.Application, random *rand.Rand, count int) interference.Sensitivity {
	s := interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
	for _, j := range random.Perm(len(w.columns))[:count] {
		t, c := w.model.MeasureScores(a, 0, j, seconds, random)
		for to, v := range map[*interference.Scores]float64{&s.Tolerated: t, &s.Caused: c} {
			if !math.IsNaN(v) {
				(*to)[w.columns[j]] = certain(v, scoreError)
			}
		}
	}
	return s
}

func certain(v, half float64) interference.Estimate {
	v = min(100, max(0, v))
	return interference.Estimate{
		Score: interference.Percent(v), Low: interference.Percent(max(0, v-half)), High: interference.Percent(min(100, v+half)), Origin: interference.Measured,
	}
}

// reveal is what a trial gives away.
func (w *world) reveal(x *workload) {
	tolerated, caused := truth.TrueScores(x.app, 0, bound/100)
	for j, s := range w.columns {
		if w.trial == KnownCaused || w.trial == AllKnown {
			x.profile.Sensitivity.Caused[s] = certain(caused[j], 1)
		}
		if w.trial == AllKnown {
			x.profile.Sensitivity.Tolerated[s] = certain(tolerated[j], 1)
		}
	}
}

// fold puts what production says in force.
func (w *world) fold(x *workload) {
	x.knowledge = production.Fold(x.profile, bound, &x.said)
	x.curves = predict.Prepare(&x.knowledge, w.columns, bound)
	x.caused = make([]float64, len(w.columns))
	for j, s := range w.columns {
		x.caused[j], _ = x.knowledge.Sensitivity.Caused[s].Score.Percent()
	}
}

func (w *world) drawStates(random *rand.Rand) {
	for range states {
		s := state{newcomer: random.IntN(len(w.workloads))}
		for range candidates {
			s.nodes = append(s.nodes, random.Perm(len(w.workloads))[:1+random.IntN(slots-1)])
		}
		w.states = append(w.states, s)
	}
}

// truly is the sum of the shares of its performance in isolation that each workload on a node
// keeps.
func (w *world) truly(on []int) float64 {
	sum := 0.0
	for _, s := range w.shares(on) {
		sum += s
	}
	return sum
}

func (w *world) shares(on []int) []float64 {
	placed := make([]truth.Placed, len(on))
	for i, n := range on {
		a := w.workloads[n].app
		placed[i] = truth.Placed{Application: a, Cores: a.Cores, MemoryMB: a.MemoryMB, Load: 1}
	}
	out := make([]float64, len(on))
	for i, s := range w.model.Speeds(0, placed, nil) {
		out[i] = s.Value / s.Isolated
	}
	return out
}

// expected is the same by what is known.
func (w *world) expected(on []int) float64 {
	sum := 0.0
	pressure := make([]float64, len(w.columns))
	for i, n := range on {
		clear(pressure)
		for j, other := range on {
			if i == j {
				continue
			}
			for k, c := range w.workloads[other].caused {
				pressure[k] += c
			}
		}
		sum += w.workloads[n].curves.Share(pressure).Value
	}
	return sum
}

// choose is the node that loses least by what is known.
func (w *world) choose(newcomer int, nodes [][]int, by func([]int) float64) (best int, value float64) {
	value = math.Inf(-1)
	for i, on := range nodes {
		if slices.Contains(on, newcomer) || len(on) >= slots {
			continue
		}
		if v := by(append(slices.Clone(on), newcomer)) - by(on); v > value {
			best, value = i, v
		}
	}
	return best, value
}

// regret is the mean over the states, in points.
func (w *world) regret() float64 {
	sum := 0.0
	for _, s := range w.states {
		chosen, _ := w.choose(s.newcomer, s.nodes, w.expected)
		sum += w.loss(s, chosen)
	}
	return 100 * sum / float64(len(w.states))
}

func (w *world) randomRegret() float64 {
	sum, n := 0.0, 0
	for _, s := range w.states {
		for i, on := range s.nodes {
			if !slices.Contains(on, s.newcomer) {
				sum += w.loss(s, i)
				n++
			}
		}
	}
	return 100 * sum / float64(n)
}

func (w *world) loss(s state, chosen int) float64 {
	_, best := w.choose(s.newcomer, s.nodes, w.truly)
	on := s.nodes[chosen]
	return best - (w.truly(append(slices.Clone(on), s.newcomer)) - w.truly(on))
}

// hour lets some jobs end, others arrive, and what runs teach.
func (w *world) hour() {
	for n := range w.on {
		w.on[n] = slices.DeleteFunc(w.on[n], func(int) bool { return w.random.Float64() < leaves })
	}
	running := map[int]bool{}
	for _, on := range w.on {
		for _, i := range on {
			running[i] = true
		}
	}
	for _, i := range w.random.Perm(len(w.workloads)) {
		if len(running) >= nodes*slots*2/3 {
			break
		}
		if running[i] {
			continue
		}
		n, value := w.choose(i, w.on, w.expected)
		if math.IsInf(value, -1) {
			continue // no room
		}
		w.on[n], running[i] = append(w.on[n], i), true
	}
	w.at = w.at.Add(time.Hour)
	for _, on := range w.on {
		for i, share := range w.shares(on) {
			w.teach(on, i, share)
		}
	}
	for _, x := range w.workloads {
		w.fold(x)
	}
}

// teach makes an experiment of what one allocation achieved in an hour.
func (w *world) teach(on []int, i int, share float64) {
	x := w.workloads[on[i]]
	noise := windowNoise
	if w.trial == NoNoise {
		noise = 0.005
	}
	achieved := share * x.app.Isolated[0] * (1 + noise*w.random.NormFloat64())
	e := production.Evidence{Ratio: max(0, achieved/x.isolated), Noise: noise, Isolated: speedNoise, Configuration: configuration}
	var all []production.CoRunner
	var others []int
	var names []string
	for j, n := range on {
		if j == i {
			continue
		}
		o := w.workloads[n]
		all = append(all, production.CoRunner{Caused: o.profile.Sensitivity.Caused, Known: true, Allocations: 1, Activity: &production.Activity{Least: 1, Most: 1}, Said: &o.said})
		others, names = append(others, n), append(names, o.name)
	}
	slices.Sort(names)
	situation := strings.Join(names, ",")
	e.Before, e.Earlier = production.SeenIn(&x.said, situation)
	f := production.Learn(w.columns, production.Subject{Knowledge: &x.profile, SlowdownPercent: bound, Said: &x.said}, all, e)
	w.experiments++
	aside, reason := production.Suspect(&x.said, f, e, names, w.at)
	production.Note(&x.said, situation, e, f, !aside, w.at)
	switch {
	case reason != "":
		w.drifted++
		production.SetAside(&x.said, reason, w.at)
	case !aside:
		production.AddTolerated(&x.said, w.columns, f, e, production.Own)
		for j, n := range others {
			production.AddCaused(&w.workloads[n].said, w.columns, f, j, production.Own)
		}
	}
}
