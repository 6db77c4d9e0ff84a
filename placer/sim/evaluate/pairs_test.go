package evaluate_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// plantedPairs are of applications that work a planted part of their time: on one CPU, who
// always works gets what the other leaves, less a twentieth; on two, each keeps nine tenths.
func plantedPairs(noise float64) ([]profile.Pair, []profile.Profile) {
	random := rand.New(rand.NewPCG(7, 7))
	var profiles []profile.Profile
	duty := map[string]float64{}
	for i := range 12 {
		name := fmt.Sprintf("app-%02d", i)
		duty[name] = []float64{1, 1, 0.25}[i%3]
		profiles = append(profiles, profile.Profile{CPUsIsolated: duty[name], Provenance: &profile.Provenance{Application: name}})
	}
	side := func(name string, ratio float64) profile.PairSide {
		ratio *= math.Exp(noise * random.NormFloat64())
		return profile.PairSide{Application: name, Ratio: ratio, Low: ratio * math.Exp(-3*noise), High: ratio * math.Exp(3*noise)}
	}
	var pairs []profile.Pair
	for i, a := range profiles {
		for _, b := range profiles[i+1:] {
			nameA, nameB := a.Provenance.Application, b.Provenance.Application
			u, v := duty[nameA], duty[nameB]
			share := func(u, v float64) float64 { return min(1, max(0.5, 1-v)/u) }
			pairs = append(pairs,
				profile.Pair{Placement: "same", A: side(nameA, 0.95*share(u, v)), B: side(nameB, 0.95*share(v, u))},
				profile.Pair{Placement: "beside", A: side(nameA, 0.9), B: side(nameB, 0.9)})
		}
	}
	return pairs, profiles
}

func pairOptions(t *testing.T) evaluate.PairOptions {
	t.Helper()
	d, err := classify.Lookup(evaluate.PairClassifier)
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.PairOptions{Classifier: d, Seed: 1}
}

// Where sharing of CPU time explains most, the rules that compute it are right within the
// noise, averages are not, and intervals hold what they say.
func TestPairs(t *testing.T) {
	t.Parallel()
	pairs, profiles := plantedPairs(0.02)
	r, err := evaluate.Pairs(t.Context(), pairs, profiles, pairOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.Pairs != len(pairs) || r.Known != len(pairs) || r.Applications != 12 {
		t.Errorf("%d pairs, %d known, %d applications", r.Pairs, r.Known, r.Applications)
	}
	wrong := map[string]float64{}
	for _, l := range r.Lines {
		wrong[l.Predictor] = l.Figures["same"].MeanError
		if l.Figures["same"].Sides+l.Figures["beside"].Sides != l.Figures["known"].Sides {
			t.Errorf("%s: %v", l.Predictor, l.Figures)
		}
	}
	if !(wrong["constant"] < 2 && wrong["constant"] < wrong["time"] && wrong["time"] < wrong["mean"]) || wrong["mean"] < 10 {
		t.Errorf("errors %v", wrong)
	}
	for _, l := range r.Lines {
		if l.Predictor != r.Chosen {
			continue
		}
		if held := l.Figures["known"].Holds["95"]; held < 90 || held > 98.5 {
			t.Errorf("95 %% intervals of %s hold %g", l.Predictor, held)
		}
	}
}

func TestPairsAreDeterministic(t *testing.T) {
	t.Parallel()
	pairs, profiles := plantedPairs(0.1)
	var before evaluate.PairReport
	for i := range 2 {
		r, err := evaluate.Pairs(t.Context(), pairs, profiles, pairOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && !reflect.DeepEqual(before, r) {
			t.Errorf("%+v, then %+v", before, r)
		}
		before = r
	}
}

func TestPairsTooFew(t *testing.T) {
	t.Parallel()
	pairs, profiles := plantedPairs(0.1)
	for name, c := range map[string]struct {
		pairs    []profile.Pair
		profiles []profile.Profile
	}{"no pair": {nil, profiles}, "no profile": {pairs, nil}} {
		if _, err := evaluate.Pairs(t.Context(), c.pairs, c.profiles, pairOptions(t)); !errors.Is(err, evaluate.ErrPairs) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is shipped is read: most pairs are of applications that were measured before, and
// those that wait for a disk have their CPU time.
func TestPairProfiles(t *testing.T) {
	t.Parallel()
	profiles, err := evaluate.PairProfiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range profiles {
		if p.Provenance.Application == "fio-seqwrite" && p.CPUsIsolated > 0 && p.CPUsIsolated < 0.5 {
			return
		}
	}
	t.Error("the CPU time of fio-seqwrite is not known")
}
