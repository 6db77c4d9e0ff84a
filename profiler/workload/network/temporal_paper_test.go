package network

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// webmailCurve is a day like that of §C.3's Webmail server: three Gaussians, an
// exponential and a constant, and noise of so many percent of the constant.
func webmailCurve(noise float64, seed uint64) Curve {
	terms := []Term{
		{Shape: Constant, To: 288, Amplitude: 400},
		{Shape: Gaussian, To: 288, Amplitude: 900, Location: 110, Scale: 9},
		{Shape: Gaussian, To: 288, Amplitude: 1200, Location: 170, Scale: 12},
		{Shape: Gaussian, To: 288, Amplitude: 700, Location: 240, Scale: 8},
		{Shape: ExponentialDecay, To: 60, Amplitude: 600, Scale: 14},
	}
	c := Curve{Step: bin, Values: Superposition{Steps: 288, Terms: terms}.curve()}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range c.Values {
		c.Values[i] = max(0, c.Values[i]+noise*4*random.NormFloat64())
	}
	return c
}

// §C.3: "The deviation between original and generated load is less than 4.9% on
// average"; the model has "three Gaussian, one exponential and one constant
// distribution". The bound here is the one at which fitting stops.
func TestWebmailCurve(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		s, err := FitCurve(webmailCurve(5, seed))
		if err != nil {
			t.Fatal(err)
		}
		if !(s.Deviation < enoughDeviation) {
			t.Errorf("seed %d: deviation %s with %d terms", seed, s.Deviation, len(s.Terms))
		}
		t.Logf("seed %d: deviation %s, of the steps %s; %+v; noise %+v", seed, s.Deviation, s.DeviationSteps, s.Terms, *s.Noise)
		if s.Terms[0].Shape != Constant || len(s.Terms) > 8 {
			t.Errorf("seed %d: %d terms, the first a %s", seed, len(s.Terms), s.Terms[0].Shape)
		}
	}
}

// Eq. C.1: the curve is the sum of the terms, each on its interval only.
func TestSuperposition(t *testing.T) {
	t.Parallel()
	s := Superposition{Steps: 6, Terms: []Term{
		{Shape: Constant, To: 6, Amplitude: 2},
		{Shape: Gaussian, From: 1, To: 4, Amplitude: 10, Location: 2, Scale: 1},
		{Shape: ExponentialRise, From: 4, To: 6, Amplitude: 5, Scale: 1},
		{Shape: Zipf, From: 0, To: 2, Amplitude: 4, Scale: 2},
	}}
	want := []float64{2 + 4, 2 + 10*math.Exp(-0.5) + 1, 12, 2 + 10*math.Exp(-0.5), 2 + 5*math.Exp(-1), 7}
	for i, v := range s.curve() {
		if math.Abs(v-want[i]) > 1e-12 {
			t.Errorf("step %d is %g, want %g", i, v, want[i])
		}
	}
	poisson := Term{Shape: Poisson, To: 40, Location: 9, Scale: 5}
	highest := 0
	for i := range 40 {
		if poisson.value(i) > poisson.value(highest) {
			highest = i
		}
	}
	if math.Abs(float64(highest)-9) > 1 || poisson.value(highest) > 1.05 {
		t.Errorf("the Poisson has its peak, %g, at step %d, want 1 at 9", poisson.value(highest), highest)
	}
}

// Each shape is found again in a curve that is made of it.
func TestShapesAreFound(t *testing.T) {
	t.Parallel()
	for _, want := range []Term{
		{Shape: Gaussian, To: 120, Amplitude: 1000, Location: 60, Scale: 10},
		{Shape: ExponentialDecay, To: 120, Amplitude: 1000, Scale: 20},
		{Shape: ExponentialRise, To: 120, Amplitude: 1000, Scale: 25},
	} {
		c := Curve{Step: time.Hour, Values: Superposition{Steps: 120, Terms: []Term{{Shape: Constant, To: 120, Amplitude: 10}, want}}.curve()}
		s, err := FitCurve(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Terms) < 2 || s.Terms[1].Shape != want.Shape || math.Abs(s.Terms[1].Scale/want.Scale-1) > 0.15 || !(s.Deviation < enoughDeviation) {
			t.Errorf("%+v is found as %+v, deviation %s", want, s.Terms, s.Deviation)
		}
	}
}

func TestCurvesAtTheEdge(t *testing.T) {
	t.Parallel()
	idle, err := FitCurve(Curve{Step: bin, Values: make([]float64, 12)})
	if err != nil || idle.Deviation.Known() || len(idle.Terms) != 1 {
		t.Errorf("a server without traffic: %+v, %v", idle, err)
	}
	if out := idle.Generate(rand.New(rand.NewPCG(1, 1))); meanOf(out.Values) != 0 {
		t.Errorf("it generates %v", out.Values)
	}
	flat, err := FitCurve(Curve{Step: bin, Values: []float64{5, 5, 5, 5}})
	if err != nil || flat.Deviation != 0 || len(flat.Terms) != 1 || flat.Noise != nil {
		t.Errorf("a constant: %+v, %v", flat, err)
	}
	for name, values := range map[string][]float64{"none": nil, "one": {1}, "negative": {1, -1}, "no number": {1, math.NaN()}} {
		if _, err := FitCurve(Curve{Step: bin, Values: values}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What is generated deviates by the noise that was fitted, and has the same mean.
func TestGeneratedCurves(t *testing.T) {
	t.Parallel()
	c := webmailCurve(5, 1)
	s, err := FitCurve(c)
	if err != nil {
		t.Fatal(err)
	}
	made := s.Generate(rand.New(rand.NewPCG(1, 2)))
	if got := meanOf(made.Values) / meanOf(c.Values); math.Abs(got-1) > 0.03 {
		t.Errorf("the mean is %.3f of the original's", got)
	}
	if got := deviationOf(made.smoothed(), c.smoothed()); got > 2*enoughDeviation {
		t.Errorf("smoothed, it deviates by %s %%", got)
	}
}

func TestServersAreFittedTheSameByAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	traffic, err := NewSynthetic(SyntheticOptions{Groups: 1, RacksPerGroup: 2, ServersPerRack: 3, Weeks: 1, Bin: bin, Varying: 0.5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := observe(t, Part(traffic, 0, day), StudyWindows())
	var first []byte
	for workers := range 3 {
		fitted, err := FitServers(t.Context(), a, workers+1, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(fitted)
		if err != nil {
			t.Fatal(err)
		}
		if workers == 0 {
			first = text
		} else if !bytes.Equal(first, text) {
			t.Errorf("%d workers fit other terms", workers+1)
		}
	}
}
