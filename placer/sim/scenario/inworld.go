package scenario

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// MeasuredWorld is the name of the world of our own measured rows and pairs.
const MeasuredWorld = "measured"

// Worlds are those that a scenario can be put into: the fitted ones, and that of measured rows.
func Worlds() []string { return append(truth.WorldNames(), MeasuredWorld) }

// InWorld is the same scenario in another world: its jobs are other programs, on the same machines
// at the same times. ErrScenario where nothing of the scenario is drawn, or where its jobs need
// what the world does not know of programs.
func (s *Scenario) InWorld(name string) (*Scenario, error) {
	switch {
	case name == MeasuredWorld:
		return s.ofMeasuredRows()
	case !slices.Contains(truth.WorldNames(), name):
		return nil, fmt.Errorf("%w: world %q; known: %v", ErrScenario, name, Worlds())
	case s.file.In == name:
		return s, nil
	case !s.file.drawn() || s.usesMeasured():
		return nil, fmt.Errorf("%w: nothing of it is drawn", ErrScenario)
	}
	world, err := truth.LookupWorld(name)
	if err != nil {
		return nil, err
	}
	out := s.In(world.Parameters)
	out.file.In = name
	return out, nil
}

// drawn reports whether programs of the scenario are drawn.
func (f *file) drawn() bool {
	return f.Colocation == nil && f.JobClasses == nil && len(f.Deadlines) == 0 && (len(f.Traces) == 0 || len(f.Traces[0].Classes) > 0)
}

// ofMeasuredRows has every class replaced by the measured rows. They are of programs that end and
// have no targets.
func (s *Scenario) ofMeasuredRows() (*Scenario, error) {
	if !s.file.drawn() || s.file.Provision != nil {
		return nil, fmt.Errorf("%w: nothing of it is drawn", ErrScenario)
	}
	if s.targets() {
		return nil, fmt.Errorf("%w: its jobs have targets, and measured rows have none", ErrScenario)
	}
	out, measured := *s, []string{truth.MeasuredClass}
	out.file.Populations, out.file.Traces = slices.Clone(s.file.Populations), slices.Clone(s.file.Traces)
	for i := range out.file.Populations {
		p := &out.file.Populations[i]
		if slices.ContainsFunc(p.Classes, truth.Service) {
			return nil, fmt.Errorf("%w: population %q has services, and measured rows are of work that ends", ErrScenario, p.Name)
		}
		p.Classes, p.Weights, p.EqualClasses = measured, nil, false
	}
	for i := range out.file.Traces {
		out.file.Traces[i].Classes = measured
	}
	return &out, nil
}
