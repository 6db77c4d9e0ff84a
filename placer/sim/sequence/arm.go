package sequence

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Arm is one way to spend the seconds of a profile.
type Arm struct {
	Name    string `json:"name"`
	Seconds int    `json:"seconds"` // at most
	Sources int    `json:"sources"` // chosen before the run
	// Rule chooses while the run goes on; nil: nothing does.
	Rule        *worth.Options `json:"rule,omitempty"`
	LaterWeight float64        `json:"later_weight,omitempty"`
}

// The arms that are compared.
var (
	// Full is a profile of the two sources that tell most, in full.
	Full = Arm{Name: "full", Seconds: performance.DefaultProfileSeconds, Sources: 2}
	// Every gives each source an equal part of the same time.
	Every = Arm{Name: "every source", Seconds: performance.DefaultProfileSeconds, Sources: len(columns)}
)

// Advised is a profile that is told what to measure next while it goes on.
func Advised(leastPoints, laterWeight float64) Arm {
	o := worth.Default()
	o.LeastPoints = leastPoints
	return Arm{
		Name:    fmt.Sprintf("advised, at least %g, later %g", leastPoints, laterWeight),
		Seconds: performance.DefaultProfileSeconds, Sources: 2, Rule: &o, LaterWeight: laterWeight,
	}
}

// reviewer sees a run under way.
type reviewer = func(profile.SoFar) profile.Advice

// residentSigma is the noise under which the residents were profiled.
const residentSigma = 0.02

// profile carries out a profiling run of an application on the strongest configuration,
// and another in isolation on a second one, as the lab does.
func (p *population) profile(ctx context.Context, l *learnt, a *truth.Application, arm Arm, seed uint64, review reviewer) (profile.Profile, error) {
	return p.profileWith(ctx, l, a, arm, seed, residentSigma, review)
}

func (p *population) profileWith(ctx context.Context, l *learnt, a *truth.Application, arm Arm, seed uint64, sigma float64, review reviewer) (profile.Profile, error) {
	m := newMachine(a, columns, unitsPerSecond, sigma, seed)
	out, err := profiler.Measure(ctx, request(l, a, arm, seed), m, m, profiler.Options{Clock: m, Review: review})
	if err != nil {
		return out, err
	}
	scale := a.Isolated[0] / unitsPerSecond
	for c, v := range out.Isolated {
		out.Isolated[c] = profile.Measurement{Value: v.Value * scale, Low: v.Low * scale, High: v.High * scale, Unit: v.Unit, Windows: v.Windows}
	}
	p.elsewhere(&out, a, seed)
	return out, nil
}

// unitsPerSecond is the speed of every copy under profile: those of the truth differ by orders
// of magnitude.
const unitsPerSecond = 20000

// request is that of an arm. An arm with a rule may be told to measure every source.
func request(l *learnt, a *truth.Application, arm Arm, seed uint64) profiler.Request {
	r := profiler.Request{
		Format: profiler.RequestFormat, Key: a.Name, Workload: a.Name, Configuration: machines[0].Name, Task: "main",
		Target:  performance.Target{Kind: performance.Rate, Rate: unitsPerSecond},
		Probe:   &performance.ProbeSpec{Type: "log", Pattern: `units=(\d+)`},
		Seconds: arm.Seconds, SlowdownPercent: 100 * bound, Seed: seed, Sources: l.telling.Best(columns, arm.Sources),
	}
	if len(r.Sources) == 0 {
		r.Sources = columns[:arm.Sources] // no row tells
	}
	if arm.Rule != nil {
		r.Further = slices.DeleteFunc(slices.Clone(columns), func(s interference.Source) bool { return slices.Contains(r.Sources, s) })
	}
	return r
}

// elsewhere is the run in isolation on another configuration.
func (p *population) elsewhere(out *profile.Profile, a *truth.Application, seed uint64) {
	random := rand.New(rand.NewPCG(seed, streamElsewhere))
	i := 1 + random.IntN(len(machines)-1)
	const seconds = 8
	if v := p.model.Measure(a, a.Isolated[i], seconds, random); v > 0 {
		out.Isolated[machines[i].Name] = profile.Measurement{Value: v, Low: v * 0.97, High: v * 1.03, Unit: "units/s", Windows: 6}
	}
}

// Outcome is one arm under one seed.
type Outcome struct {
	Arm        string    `json:"arm"`
	Seed       uint64    `json:"seed"`
	Population string    `json:"population"`
	Robust     bool      `json:"robust"` // it tolerates almost everything, and presses on almost nothing
	Seconds    float64   `json:"seconds"`
	Sources    int       `json:"sources"`
	Regret     float64   `json:"regret"` // points, of the decision that it was profiled for
	Later      []float64 `json:"later"`  // of other decisions with the same profile
	Verdict    bool      `json:"verdict"`
}

// robustAt: an application is robust where it tolerates at least so much of every source,
// and causes at most the rest (chosen by us).
const robustAt = 80

func robust(a *truth.Application) bool {
	tolerated, caused := truth.TrueScores(a, 0, bound)
	for k := range tolerated {
		if tolerated[k] < robustAt || caused[k] > 100-robustAt {
			return false
		}
	}
	return true
}

// run one arm in a scene.
func (s *scene) run(ctx context.Context, arm Arm, seed uint64) (Outcome, error) {
	out := Outcome{Arm: arm.Name, Seed: seed, Population: s.population.name, Robust: robust(s.newcomer)}
	var review reviewer
	if arm.Rule != nil {
		review = s.advisor(*arm.Rule, arm.LaterWeight, seed).review
	}
	p, err := s.population.profileWith(ctx, s.learnt, s.newcomer, arm, seed, s.sigma, review)
	if err != nil {
		return out, err
	}
	out.Seconds = p.Duration.Seconds()
	for _, c := range columns {
		if p.Sensitivity.Tolerated[c].Score.Known() {
			out.Sources++
		}
	}
	known := s.learnt.know(&p)
	if out.Regret, out.Verdict, err = s.decide(s.now, &known, seed); err != nil {
		return out, err
	}
	for i, x := range s.later {
		regret, _, err := s.decide(x, &known, seed+uint64(i)+1)
		if err != nil {
			return out, err
		}
		out.Later = append(out.Later, regret)
	}
	return out, nil
}

// decide places the newcomer by the live policy, and says how much better the best node
// would have been, and whether the verdict on its target is right.
func (s *scene) decide(x placing, known *cluster.Knowledge, seed uint64) (regret float64, right bool, err error) {
	d, err := policy.Lookup("paragon")
	if err != nil {
		return 0, false, err
	}
	decision, err := d.New().Place(policy.Request{
		Workload: s.workload(), JobType: "batch", RunPool: runPool, Knowledge: known, Snapshot: x.snapshot, Columns: columns, Seed: seed, At: someTime,
	})
	if err != nil {
		return 0, false, err
	}
	best, chosen := math.Inf(-1), math.NaN()
	for _, n := range x.feasible {
		points, rate := s.outcome(x, n)
		best = max(best, points)
		if len(decision.Candidates) > 0 && n.ID == decision.Candidates[0].Node {
			chosen = points
			right = s.target == 0 || (decision.Candidates[0].Predicted.RatePerSec >= s.target) == (rate >= s.target)
		}
	}
	return best - chosen, right, nil
}
