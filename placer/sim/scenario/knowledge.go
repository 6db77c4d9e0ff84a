package scenario

import (
	"cmp"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// plannedClassifier is that of the live engine (decision 0009).
const plannedClassifier = "local"

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

// estimators are what policies may know of the jobs of a seed, by knowledge.
func (r *runs) estimators(training []*truth.Application, seed uint64) (map[string]sim.Estimator, error) {
	s := r.scenario
	o := estimator.Options{Training: training, Entries: s.file.profiling().Entries, Seed: seed}
	if s.targets() {
		o.Cores, o.MemoryMB, o.Nodes = coresOf(r.hardware), memoryBlocksMB, numbersOfNodes
	}
	out := map[string]sim.Estimator{"oracle": estimator.NewOracle(r.model, o)}
	for _, knowledge := range []string{"estimated", "hashed", "planned"} {
		if !s.knows(knowledge) {
			continue
		}
		own, err := s.classified(o, knowledge)
		if err != nil {
			return nil, err
		}
		if out[knowledge], err = estimator.NewEstimator(r.model, own); err != nil {
			return nil, err
		}
	}
	if s.knows("useless") {
		own, err := s.classified(o, "planned")
		if err != nil {
			return nil, err
		}
		if out["useless"], err = estimator.NewUseless(r.model, own); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// classified are options with the classifier of a knowledge.
func (s *Scenario) classified(o estimator.Options, knowledge string) (estimator.Options, error) {
	name := s.classifier()
	switch knowledge {
	case "hashed":
		o.Classifier = classify.NewLSH(classify.LSHOptions{})
		for _, source := range s.file.profiling().Sources {
			o.Sources = append(o.Sources, interference.Source(source))
		}
		return o, nil
	case "planned":
		name, o.Planned = plannedClassifier, true
	}
	d, err := classify.Lookup(name)
	if err != nil {
		return o, err
	}
	o.Classifier = d.New()
	return o, nil
}

// know sets what the policy may know, and what that costs.
func (r *runs) know(c *sim.Config, t task, shared *submitted) {
	if t.policy.Knowledge == "none" {
		return
	}
	c.Estimator = shared.estimators[t.policy.Knowledge]
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
