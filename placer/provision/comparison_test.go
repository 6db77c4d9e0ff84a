package provision_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

func question() provision.Question {
	to := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	return provision.Question{
		From: to.AddDate(0, 0, -7), To: to, Mapping: "P8", Retention: 10, Outside: 0.25, Weeks: []float64{1, 52, 53}, Seed: 1,
		Prices: provision.PriceList{
			Owned: provision.OwnedNode{Cores: 16, MemoryMB: 64000, PricePerHour: 1, TermWeeks: 52},
			Types: provision.Catalogue{{Name: "whole", Cores: 16, MemoryMB: 64000, PricePerHour: 2.74}},
		},
	}
}

func TestQuestionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	if err := question().Check(); err != nil {
		t.Fatal(err)
	}
	none := 0
	for want, change := range map[string]func(*provision.Question){
		"it begins":                  func(q *provision.Question) { q.From = q.To },
		"an owned node has 0 cores":  func(q *provision.Question) { q.Prices.Owned.Cores = 0 },
		"paid for 0 weeks":           func(q *provision.Question) { q.Prices.Owned.TermWeeks = 0 },
		"the hybrids own 0 nodes":    func(q *provision.Question) { q.Prices.Owned.Nodes = &none },
		"costs -1 per hour":          func(q *provision.Question) { q.Prices.Owned.PricePerHour = -1 },
		"costs NaN per hour":         func(q *provision.Question) { q.Prices.Owned.PricePerHour = math.NaN() },
		"others keep 2":              func(q *provision.Question) { q.Outside = 2 },
		"it has no horizon":          func(q *provision.Question) { q.Weeks = nil },
		"a horizon of 0 weeks":       func(q *provision.Question) { q.Weeks = []float64{0} },
		"there are P1 to P8":         func(q *provision.Question) { q.Mapping = "P9" },
		"no type of node":            func(q *provision.Question) { q.Prices.Types = nil },
		"whole costs -2 per hour":    func(q *provision.Question) { q.Prices.Types[0].PricePerHour = -2 },
		"kept -1 times their spin-u": func(q *provision.Question) { q.Retention = -1 },
	} {
		q := question()
		change(&q)
		if err := q.Check(); !errors.Is(err, provision.ErrQuestion) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Each saving is over a stated horizon: owned nodes are paid for whole terms, so that the same load is
// cheaper or dearer by how long it goes on (§3.1 of the specification, with its numbers).
func TestSavingsHaveAHorizon(t *testing.T) {
	t.Parallel()
	const base, sr, ratio, load = 210, 1410, 2.74, 500
	c := provision.Comparison{
		Owned: provision.OwnedNode{TermWeeks: 52},
		Strategies: []provision.StrategyReport{
			{Strategy: provision.StaticReserved, OwnedPerHour: sr / ratio},
			{Strategy: provision.OnDemandMixed, RentedPerHour: 2 * load},
			{Strategy: provision.HybridMixed, OwnedPerHour: base / ratio, RentedPerHour: load - base},
			{Strategy: provision.HybridFull, OwnedPerHour: 2 * sr / ratio, RentedPerHour: 1},
		},
	}
	c.PutCosts([]float64{1, 36, 52, 53})
	if c.Strategies[0].Horizons[0].Saved != nil || c.Strategies[0].SRCheaperAfter != nil {
		t.Errorf("SR against itself: %+v", c.Strategies[0])
	}
	hm := c.Strategies[2].Horizons
	near(t, "HM against SR in 36 weeks, load 500, in percent", *hm[1].Saved, 46, 1)
	if !(*hm[0].Saved > *hm[1].Saved && *hm[1].Saved > *hm[2].Saved) {
		t.Errorf("the saving does not fall with the horizon: %g, %g, %g", *hm[0].Saved, *hm[1].Saved, *hm[2].Saved)
	}
	near(t, "SR in 53 weeks, of 52", c.Strategies[0].Horizons[3].Cost/c.Strategies[0].Horizons[2].Cost, 2, 1e-9)
	near(t, "weeks until SR costs less than OdM", *c.Strategies[1].SRCheaperAfter, 52*sr/ratio/(2*load), 1e-9)
	near(t, "weeks until SR costs less than what owns more than it", *c.Strategies[3].SRCheaperAfter, 0, 0)
	for i, want := range []string{"", "than OdM from week 26.8 on", "", "than HF from the first week on"} {
		if text := c.Strategies[i].CheaperText(); !strings.Contains(text, want) || (i == 0) != (text == "") {
			t.Errorf("%s: %q", c.Strategies[i].Strategy, text)
		}
	}
}

func TestNothingToReplayIsNamed(t *testing.T) {
	t.Parallel()
	err := provision.NothingToReplay(map[string]int{"nobody saw when they ended": 3})
	if !errors.Is(err, provision.ErrNoRuns) || !strings.Contains(err.Error(), "3 left out: nobody saw when they ended") {
		t.Error(err)
	}
	if err := provision.NothingToReplay(nil); !errors.Is(err, provision.ErrNoRuns) {
		t.Error(err)
	}
}
