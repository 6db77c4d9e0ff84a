package scenario

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// measuredRows are the rows of the training set as applications of a scenario
// need them.
type measuredRows struct {
	submitted, teaching []profile.Profile
}

// minMeasuredRows: fewer teach and compare nothing.
const minMeasuredRows = 9

// teachEvery: every third row, in the order of keys, teaches the classifiers and
// is never submitted, so that no classifier has seen what it is asked for.
const teachEvery = 3

// measured splits rows.
func measured(rows []profile.Profile) (measuredRows, error) {
	var out measuredRows
	if len(rows) < minMeasuredRows {
		return out, fmt.Errorf("%w: class %q: the training set has %d measured rows, %d are needed; \"make training\" measures them", ErrScenario, truth.MeasuredClass, len(rows), minMeasuredRows)
	}
	for i := range rows {
		if i%teachEvery == 0 {
			out.teaching = append(out.teaching, rows[i])
		} else {
			out.submitted = append(out.submitted, rows[i])
		}
	}
	return out, nil
}

// loadMeasured gives the model the measured pairs and returns the rows, where the
// scenario has applications of measured rows.
func (s *Scenario) loadMeasured(m *truth.Model) (measuredRows, error) {
	var split measuredRows
	if !s.usesMeasured() {
		return split, nil
	}
	rows, err := training.Load()
	if err != nil {
		return split, fmt.Errorf("measured rows: %w", err)
	}
	if split, err = measured(rows); err != nil {
		return split, err
	}
	pairs, err := training.LoadPairs()
	if err != nil {
		return split, fmt.Errorf("measured pairs: %w", err)
	}
	all, err := truth.FromProfiles(m, rows, truth.Spec{Count: len(rows)}, 0)
	if err != nil {
		return split, err
	}
	m.FromPairs(pairs, all)
	return split, nil
}

func (s *Scenario) usesMeasured() bool {
	for i := range s.file.Populations {
		if isMeasured(s.file.Populations[i].Classes) {
			return true
		}
	}
	return slices.ContainsFunc(s.file.Traces, func(t traceBlock) bool { return isMeasured(t.Classes) })
}

func isMeasured(classes []string) bool { return slices.Contains(classes, truth.MeasuredClass) }

// applications are drawn, or made of rows.
func applications(m *truth.Model, rows []profile.Profile, spec truth.Spec, seed uint64) ([]*truth.Application, error) {
	if isMeasured(spec.Classes) {
		return truth.FromProfiles(m, rows, spec, seed)
	}
	return truth.Population(m, spec, seed)
}
