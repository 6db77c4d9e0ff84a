package scenario

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The classifiers of knowledge that has its own: that of the live engine (decision 0009), and
// that of the LSH paper.
const (
	plannedClassifier = "local"
	hashedClassifier  = "lsh"
)

// profiling is the block, empty where the file has none.
func (f *file) profiling() profilingBlock {
	if f.Profiling == nil {
		return profilingBlock{}
	}
	return *f.Profiling
}

// knows reports whether a policy has that knowledge: "estimated" is what the papers
// give it; "planned" what the live engine would know, its cells chosen by how
// informative they are; "hashed" what the LSH paper would, from the sources whose
// scores bear least error; "useless" what was planned and measured of another application.
func (s *Scenario) knows(knowledge string) bool {
	return slices.ContainsFunc(s.file.Policies, func(p policyBlock) bool { return p.Knowledge == knowledge })
}

// learning is how a policy comes to know jobs. Policies that do it alike share an estimator.
type learning struct {
	knowledge, classifier, sources string
	entries                        int
}

// learning of a policy: what its block says goes over what the scenario profiles.
func (s *Scenario) learning(p *policyBlock) learning {
	of := s.file.profiling()
	out := learning{knowledge: p.Knowledge, classifier: p.Classifier, entries: cmp.Or(p.Entries, of.Entries)}
	switch p.Knowledge {
	case "oracle":
		return learning{knowledge: p.Knowledge}
	case "hashed":
		out.classifier = cmp.Or(out.classifier, hashedClassifier)
		out.sources = strings.Join(of.Sources, " ")
		if len(p.Sources) > 0 {
			out.sources = strings.Join(p.Sources, " ")
		}
	case "planned", "useless":
		out.classifier = cmp.Or(out.classifier, plannedClassifier)
	default:
		out.classifier = cmp.Or(out.classifier, s.classifier())
	}
	return out
}

// estimators are what policies may know of the jobs of a seed, by how they come to know it. Each
// is made when a policy needs it: that one cannot be is not the others' trouble.
type estimators struct {
	mutex sync.Mutex
	made  map[learning]func() (sim.Estimator, error)
}

func (e *estimators) of(l learning, estimator func() (sim.Estimator, error)) (sim.Estimator, error) {
	e.mutex.Lock()
	if e.made == nil {
		e.made = map[learning]func() (sim.Estimator, error){}
	}
	if e.made[l] == nil {
		e.made[l] = sync.OnceValues(estimator)
	}
	once := e.made[l]
	e.mutex.Unlock()
	return once()
}

func (r *runs) estimatorOptions(training []*truth.Application, seed uint64) estimator.Options {
	o := estimator.Options{Training: training, Seed: seed}
	if r.scenario.targets() {
		o.Cores, o.MemoryMB, o.Nodes = coresOf(r.hardware), memoryBlocksMB, numbersOfNodes
	}
	return o
}

// estimator of so many applications that teach.
func (r *runs) estimator(l learning, o estimator.Options) (sim.Estimator, error) {
	if l.knowledge == "oracle" {
		return estimator.NewOracle(r.model, o), nil
	}
	o, err := l.options(o)
	if err != nil {
		return nil, err
	}
	if l.knowledge == "useless" {
		return estimator.NewUseless(r.model, o)
	}
	return estimator.NewEstimator(r.model, o)
}

// options are those of an estimator, with what this says.
func (l learning) options(o estimator.Options) (estimator.Options, error) {
	d, err := classify.Lookup(l.classifier)
	if err != nil {
		return o, err
	}
	o.Classifier, o.Entries, o.Planned = d.New(), l.entries, l.knowledge == "planned" || l.knowledge == "useless"
	for _, source := range strings.Fields(l.sources) {
		o.Sources = append(o.Sources, interference.Source(source))
	}
	return o, nil
}

// know sets what the policy may know, and what that costs.
func (r *runs) know(c *sim.Config, t task, shared *submitted) (err error) {
	if t.policy.Knowledge == "none" {
		return nil
	}
	l := r.scenario.learning(t.policy)
	c.Estimator, err = shared.estimators.of(l, func() (sim.Estimator, error) {
		return r.estimator(l, r.estimatorOptions(shared.training, c.Seed))
	})
	if err != nil {
		return err
	}
	if exact, ignored := t.policy.Exact, t.policy.Ignored; len(exact)+len(ignored) > 0 {
		oracle := estimator.NewOracle(r.model, r.estimatorOptions(nil, c.Seed))
		c.Estimator = estimator.NewAblated(c.Estimator, oracle, parts(exact), parts(ignored))
	}
	if t.policy.Knowledge != "oracle" {
		p := r.scenario.file.profiling()
		c.ProfileTime, c.LabSlots = orElse(p.Time, defaultProfileTime), p.LabSlots
		c.StartBelow, c.Recurring = t.policy.StartBelow, p.Recurring
		if t.policy.FreeProfile {
			c.ProfileTime = 0
		}
	}
	if r.between != nil {
		c.Estimator = r.between(c.Estimator)
	}
	return nil
}

func parts(names []string) []estimator.Part {
	var out []estimator.Part
	for _, name := range names {
		out = append(out, estimator.Part(name))
	}
	return out
}

// targets reports whether any job has a target.
func (s *Scenario) targets() bool {
	return slices.ContainsFunc(s.file.Populations, func(p populationBlock) bool { return p.Targets })
}

// largest is the number of applications of the largest population: those for
// training are numbered from there on.
func (s *Scenario) largest() int {
	n := defaultApplications
	for i := range s.file.Populations {
		n = max(n, s.file.Populations[i].pool())
	}
	for i := range s.file.Traces {
		n = max(n, s.file.Traces[i].Applications)
	}
	return n
}

// training draws the applications that were measured in every cell: other ones
// than those submitted.
func (s *Scenario) training(m *truth.Model, rows []profile.Profile, seed uint64) ([]*truth.Application, error) {
	first, count := s.largest(), cmp.Or(s.file.profiling().Training, defaultTraining)
	var spec truth.Spec
	for _, p := range s.file.Populations {
		spec.Classes, spec.Platforms, spec.CausedScale = append(spec.Classes, p.Classes...), truth.Platforms(p.Platforms), p.Pressure
		spec.MostCores = float64(p.MostCores)
	}
	for _, t := range s.file.Traces {
		spec.Classes, spec.Platforms = append(spec.Classes, t.Classes...), truth.Platforms(t.Platforms)
	}
	spec.Count = first + count
	all, err := applications(m, rows, spec, seed)
	if err != nil {
		return nil, err
	}
	return all[first:], nil
}
