package provision_test

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %.4g, want %g", what, got, want)
	}
}

// What the numbers of §8.5 say of one another (our reading, §3.1 of the specification).
func TestArithmeticOfTheCostClaims(t *testing.T) {
	t.Parallel()
	p := provision.DefaultPrices()
	const base, sr = 210, 1410 // cores of the high variability scenario; 1226 × 1.15
	hm := func(load float64) provision.Load { return provision.Load{Owned: base, Rented: load - base} }
	odm := func(load float64) provision.Load { return provision.Load{Rented: load} }
	static := provision.Load{Owned: provision.StaticReserved.OwnedCores(854, 854)}

	weeks, ok := p.BreakEven(hm(500), odm(500))
	near(t, "weeks until HM costs less than OdM", weeks, 52/2.74, 1e-9)
	weeks, _ = p.BreakEven(static, odm(854))
	near(t, "weeks until SR costs less than OdM, static", weeks, 21.8, 0.05)
	if !ok {
		t.Error("HM never costs less than OdM")
	}
	if _, ok := p.BreakEven(provision.Load{Owned: sr}, hm(411)); ok {
		t.Error("SR costs less than HM within a year")
	}
	for load, want := range map[float64]float64{411: 0.54, 500: 0.71, 610: 0.93} {
		near(t, "HM per hour, of SR", p.PerHour(hm(load))/p.PerHour(provision.Load{Owned: sr}), want, 0.005)
	}
	near(t, "HF per hour, of SR", p.PerHour(provision.Load{Owned: base, Rented: 34 * 16})/p.PerHour(provision.Load{Owned: sr}), 1.21, 0.005)
	near(t, "ratio at which SR costs as much as HM, load 610", provision.Crossover(provision.Load{Owned: sr}, hm(610)), 3.0, 0.005)
	near(t, "ratio at which SR costs as much as HM, load 411", provision.Crossover(provision.Load{Owned: sr}, hm(411)), 6, 0.05)
	near(t, "ratio at which SR costs as much as HF", provision.Crossover(provision.Load{Owned: sr}, provision.Load{Owned: base, Rented: 34 * 16}), 2.2, 0.01)
	for load, weeks := range map[float64]float64{411: 52, 500: 36, 610: 26} {
		saved := 1 - p.Absolute(hm(load), weeks)/p.Absolute(provision.Load{Owned: sr}, weeks)
		near(t, "saving of HM over SR", saved, 0.46, 0.01)
	}
	near(t, "SR after 53 weeks, of 52", p.Absolute(static, 53)/p.Absolute(static, 52), 2, 1e-9)
}

func TestBilling(t *testing.T) {
	t.Parallel()
	near(t, "two seconds at a minimum of a minute", provision.Billed(2, 60), 1.0/60, 1e-9)
	near(t, "an hour", provision.Billed(3600, 60), 1, 1e-9)
	steps := []provision.Discount{{0.25, 0.8}, {0.5, 0.6}, {0.75, 0.4}}
	near(t, "a quarter of the month", provision.Sustained(0.25, steps), 1, 1e-9)
	near(t, "a whole month", provision.Sustained(1, steps), 0.7, 1e-9)
	near(t, "nothing", provision.Sustained(0, steps), 1, 0)
}
