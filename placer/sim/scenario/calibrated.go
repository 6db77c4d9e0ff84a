package scenario

import (
	"cmp"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/estimator"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// calibratedClassifier is the default in a calibrated world: that of the papers, with ratios of
// speeds in logarithms. In which of the two domains theirs works the texts do not say; a world that
// two entries of a row tell of exists in logarithms only (decision 0058).
const calibratedClassifier = "cf-log"

// calibrated reads the world that the file names.
func (c *checker) calibrated(s *Scenario) {
	f := c.file
	if f.In == "" {
		return
	}
	c.oneOf(f.In, truth.WorldNames(), "world")
	if !f.drawn() {
		c.fail(c.at("world"), "world = %q: it is one of drawn applications, and the scenario has none", f.In)
	}
	if len(c.problems) > 0 {
		return
	}
	world, err := truth.LookupWorld(f.In)
	if err != nil {
		c.fail(c.at("world"), "%s", err)
		return
	}
	s.world = &world.Parameters
}

// In is the same scenario in a world of other parameters.
func (s *Scenario) In(p truth.Parameters) *Scenario {
	out := *s
	out.world = &p
	return &out
}

// model is what really happens on machines.
func (s *Scenario) model(machines []truth.Machine) *truth.Model {
	if s.world == nil {
		return truth.NewModel(s.Columns, machines)
	}
	return truth.NewModelWith(s.Columns, machines, *s.world)
}

// classifier is the name of the one that completes what the papers' policies know.
func (s *Scenario) classifier() string {
	fallback := classify.Default
	if s.world != nil {
		fallback = calibratedClassifier
	}
	return cmp.Or(s.file.profiling().Classifier, fallback)
}

// Shape is the name of the cluster's shape; empty where it has none.
func (s *Scenario) Shape() string { return s.file.Cluster.Shape }

// Entries is how many cells of a new row are measured first.
func (s *Scenario) Entries() int { return cmp.Or(s.file.profiling().Entries, estimator.DefaultEntries) }

// Sample is who is asked under a seed by policies that know what the papers' do, and programs of
// those that are submitted.
type Sample struct {
	Model        *truth.Model
	Estimator    *estimator.Estimator
	Applications []*truth.Application
	Classifier   string
	Rows         int // of training
}

// Sample draws so many of the programs of each population, and learns from as many rows as runs
// do, of these matrices alone.
func (s *Scenario) Sample(seed uint64, count int, only estimator.Matrices) (*Sample, error) {
	if len(s.file.Populations) == 0 || s.usesMeasured() {
		return nil, fmt.Errorf("%w: %s: nothing of it is drawn", ErrScenario, s.Name)
	}
	h, err := s.hardware()
	if err != nil {
		return nil, err
	}
	out := &Sample{Model: s.model(h.machines), Classifier: s.classifier()}
	training, err := s.training(out.Model, nil, seed)
	if err != nil {
		return nil, err
	}
	o, err := s.learning(&policyBlock{Knowledge: "estimated"}).options(estimator.Options{Training: training, Only: only, Seed: seed})
	if err != nil {
		return nil, err
	}
	out.Rows = len(training)
	if out.Estimator, err = estimator.NewEstimator(out.Model, o); err != nil {
		return nil, err
	}
	for i := range s.file.Populations {
		p := &s.file.Populations[i]
		pool, err := truth.Population(out.Model, p.spec(), seed)
		if err != nil {
			return nil, fmt.Errorf("population %q: %w", p.Name, err)
		}
		out.Applications = append(out.Applications, p.some(pool, count)...)
	}
	return out, nil
}

// some are count of a pool, evenly spread over it, and over its classes where each is submitted as
// often as the others.
func (p *populationBlock) some(pool []*truth.Application, count int) []*truth.Application {
	groups := [][]*truth.Application{pool}
	if p.EqualClasses {
		groups = nil
		for _, class := range p.Classes {
			var of []*truth.Application
			for _, a := range pool {
				if a.Class == class {
					of = append(of, a)
				}
			}
			groups = append(groups, of)
		}
	}
	var out []*truth.Application
	for _, group := range groups {
		each := min(count/len(groups), len(group))
		for i := range each {
			out = append(out, group[i*len(group)/each])
		}
	}
	return out
}
