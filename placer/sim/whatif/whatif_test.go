package whatif_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/whatif"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var end = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func question(hours int) provision.Question {
	return provision.Question{
		From: end.Add(-time.Duration(hours) * time.Hour), To: end, Mapping: "P8", Retention: 10, Outside: provision.DefaultOutside, Weeks: provision.DefaultWeeks(), Seed: 1,
		Prices: provision.PriceList{
			Owned: provision.OwnedNode{Cores: 16, MemoryMB: 64000, PricePerHour: 16 / provision.PublishedRatio, TermWeeks: 52},
			Types: provision.Catalogue{
				{Name: "small", Cores: 4, MemoryMB: 16000, PricePerHour: 4, SpinUp: 15 * time.Second},
				{Name: "whole", Cores: 16, MemoryMB: 64000, PricePerHour: 16, SpinUp: 12 * time.Second},
			},
		},
	}
}

// run of a job that ran for a while, from some time before the end.
func run(job string, before, took time.Duration, cores float64, change ...func(*provision.Run)) provision.Run {
	r := provision.Run{
		Workload: cluster.WorkloadID{Namespace: "default", Job: job, Group: "main"}, Submitted: end.Add(-before - 5*time.Second), Started: end.Add(-before), Ended: end.Add(took - before),
		Gone: true, Count: 1, Cores: cores, MemoryMB: 1000, Program: "tolerant",
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

var programs = map[string]provision.Scores{
	"tolerant":  {Tolerated: map[interference.Source]float64{interference.LLCCapacity: 90, interference.MemoryBandwidth: 85}, Caused: map[interference.Source]float64{interference.LLCCapacity: 5, interference.MemoryBandwidth: 5}},
	"sensitive": {Tolerated: map[interference.Source]float64{interference.LLCCapacity: 10, interference.MemoryBandwidth: 20}, Caused: map[interference.Source]float64{interference.LLCCapacity: 40}},
}

func recorded(runs ...provision.Run) whatif.Recorded {
	return whatif.Recorded{Runs: provision.Runs{Since: end.AddDate(0, 0, -30), Programs: programs, Runs: runs}}
}

// day is many jobs of all sizes on a night and a day.
func day(seed uint64, hours int) whatif.Recorded {
	random := rand.New(rand.NewPCG(seed, 9))
	var runs []provision.Run
	for i := range 12 * hours {
		before := time.Duration(random.IntN(hours*3600)) * time.Second
		took := time.Duration(60+random.IntN(1800)) * time.Second
		took = min(took, before)
		if took == 0 {
			continue
		}
		runs = append(runs, run(fmt.Sprint("job-", i), before, took, float64(1+random.IntN(4)), func(r *provision.Run) {
			r.Service = random.IntN(5) == 0
			r.Program = []string{"tolerant", "sensitive", "unheard of"}[random.IntN(3)]
			r.Count = 1 + random.IntN(2)
		}))
	}
	runs = append(runs, run("base", time.Duration(hours+1)*time.Hour, 0, 3, func(r *provision.Run) { r.Gone, r.Ended, r.Service = false, time.Time{}, true }))
	return recorded(runs...)
}

func compare(t testing.TB, on whatif.Recorded, q provision.Question) provision.Comparison {
	t.Helper()
	c, err := whatif.Compare(context.Background(), on, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func of(c provision.Comparison, s provision.Strategy) provision.StrategyReport {
	for _, r := range c.Strategies {
		if r.Strategy == s {
			return r
		}
	}
	return provision.StrategyReport{}
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s is %.5g, want %g", what, got, want)
	}
}

// One job of an hour, alone: what is paid can be worked out by hand.
func TestOneJob(t *testing.T) {
	t.Parallel()
	q := question(10)
	q.Prices.MinimumBilled = time.Minute
	c := compare(t, recorded(run("only", 5*time.Hour, time.Hour, 2)), q)
	if c.Runs != 1 || c.Allocations != 1 || c.Hours != 10 || len(c.LeftOut) != 0 {
		t.Fatalf("%+v", c)
	}
	near(t, "the mean load", c.Load.MeanCores, 0.2, 1e-9)
	near(t, "the most", c.Load.MostCores, 2, 1e-9)
	near(t, "the least", c.Load.LeastCores, 0, 1e-9)
	sr, odf, odm := of(c, provision.StaticReserved), of(c, provision.OnDemandFull), of(c, provision.OnDemandMixed)
	if sr.OwnedNodes != 1 || sr.RentedNodes != 0 || sr.Unfinished != 0 || of(c, provision.HybridMixed).OwnedNodes != 1 {
		t.Errorf("%+v", c.Strategies)
	}
	near(t, "performance on a node of its own", sr.Performance, 100, 0.1)
	// The 2 cores fit into the base, so the hybrids rent nothing.
	for _, s := range []provision.Strategy{provision.HybridFull, provision.HybridMixed} {
		if of(c, s).RentedNodes != 0 {
			t.Errorf("%+v", of(c, s))
		}
	}
	// The world ends with the job: an hour of the one, and of the other, and what it lost to others.
	near(t, "a whole machine, per hour of ten", odf.RentedPerHour, 1.6, 0.01)
	if odm.RentedNodes != 1 || !(odm.RentedPerHour >= 0.4 && odm.RentedPerHour < 1) || !(odm.WaitSeconds > 5) {
		t.Errorf("%+v", odm)
	}
	if h := odf.Horizons; len(h) != 6 || h[0].Weeks != 1 || h[0].Saved == nil || !(*h[0].Saved > *h[4].Saved) {
		t.Errorf("%+v", h)
	}
	near(t, "SR in a year", sr.Horizons[4].Cost, 52*168*16/provision.PublishedRatio, 1e-6)
	near(t, "OdF in a year", odf.Horizons[4].Cost, 52*168*odf.RentedPerHour, 1e-6)
}

// The same records, question and seed give the same bytes, in whatever order they are read; another seed
// gives others.
func TestTheSameBytes(t *testing.T) {
	t.Parallel()
	for i, mapping := range provision.MappingNames() { // a comparison takes too long for hundreds of them
		q, on := question(4), day(uint64(i)+1, 4)
		q.Seed, q.Mapping = uint64(i)+1, mapping
		first := asText(t, compare(t, on, q))
		slices.Reverse(on.Runs.Runs)
		on.Programs = map[string]provision.Scores{"sensitive": programs["sensitive"], "tolerant": programs["tolerant"]}
		if again := asText(t, compare(t, on, q)); first != again {
			t.Errorf("%s: two comparisons of the same differ:\n%s\n%s", mapping, first, again)
		}
	}
	on := day(1, 4)
	q, other := question(4), question(4)
	other.Seed = 2
	c, d := compare(t, on, q), compare(t, on, other)
	d.Seed = c.Seed
	if asText(t, c) == asText(t, d) {
		t.Error("another seed changes nothing")
	}
}

func asText(t *testing.T, c provision.Comparison) string {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What holds of every comparison: all are replayed under each strategy, performance is a share, SR rents
// nothing, on-demand strategies own nothing, and what is paid is what the horizon says.
func TestEveryComparison(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		c := compare(t, day(seed+1, 12), question(12))
		if len(c.Strategies) != 5 || c.Runs == 0 || c.Allocations < c.Runs || c.Running != 1 || c.Unknown == 0 {
			t.Fatalf("%+v", c)
		}
		for _, s := range c.Strategies {
			if !(s.Performance > 0 && s.Performance <= 100) || !(s.Worst >= 0 && s.Worst <= 100) || s.WaitSeconds < 0 || s.Unfinished != 0 {
				t.Errorf("seed %d: %+v", seed+1, s)
			}
			if s.Strategy.Rents() != (s.RentedNodes > 0) && s.Strategy != provision.HybridFull && s.Strategy != provision.HybridMixed {
				t.Errorf("%s rents %d nodes", s.Strategy, s.RentedNodes)
			}
			if s.Strategy.Owns() != (s.OwnedNodes > 0) {
				t.Errorf("%s owns %d nodes", s.Strategy, s.OwnedNodes)
			}
			for _, h := range s.Horizons {
				want := math.Ceil(h.Weeks/52)*52*168*s.OwnedPerHour + 168*h.Weeks*s.RentedPerHour
				if math.Abs(h.Cost-want) > 1e-6*max(1, want) {
					t.Errorf("%s in %g weeks: %g, want %g", s.Strategy, h.Weeks, h.Cost, want)
				}
			}
		}
		sr := of(c, provision.StaticReserved)
		if cores := float64(16 * sr.OwnedNodes); cores < 1.15*c.Load.MostCores-1e-9 {
			t.Errorf("SR owns %g cores, at most %g are needed", cores, c.Load.MostCores)
		}
		notes := strings.Join(c.Notes, "\n")
		for _, want := range []string{"12 hours that were replayed", "terms of 52 weeks", "25 % of the cores", "nothing is known", "1 run had not ended"} {
			if !strings.Contains(notes, want) {
				t.Errorf("the notes do not say %q:\n%s", want, notes)
			}
		}
	}
}

// Records without ends are an error with a name, which says what is missing; a few of them are left out
// and counted, and never replayed as if they had taken no time.
func TestRunsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	endless := func(r *provision.Run) { r.Ended = time.Time{} }
	on := recorded(run("a", 2*time.Hour, 0, 1, endless), run("b", time.Hour, 0, 1, endless))
	_, err := whatif.Compare(t.Context(), on, question(10), nil)
	if !errors.Is(err, provision.ErrNoRuns) || !strings.Contains(err.Error(), "2 left out: runs whose end nobody saw") {
		t.Error(err)
	}
	on = recorded(run("a", 2*time.Hour, 0, 1, endless), run("whole", 2*time.Hour, time.Hour, 2))
	c := compare(t, on, question(10))
	if c.Runs != 1 || c.LeftOut["runs whose end nobody saw"] != 1 {
		t.Errorf("%+v", c)
	}
	near(t, "the mean load is that of the other", c.Load.MeanCores, 0.2, 1e-9)
}

// Decisions of before ends were recorded stay readable, are counted, and are replayed as nothing.
func TestRecordsOfBefore(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/decision-of-before.json")
	if err != nil {
		t.Fatal(err)
	}
	var old cluster.Decision
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	if !old.SubmittedAt.IsZero() || old.JobType != "" {
		t.Fatalf("it is not of before: %+v", old)
	}
	on := whatif.Recorded{Decisions: []cluster.Decision{old}}
	_, err = whatif.Compare(t.Context(), on, question(10), nil)
	if !errors.Is(err, provision.ErrNoRuns) || !strings.Contains(err.Error(), "1 left out: groups that were placed, and of which no run is on record") {
		t.Error(err)
	}
	on = recorded(run("whole", 2*time.Hour, time.Hour, 2))
	on.Decisions = []cluster.Decision{old}
	if c := compare(t, on, question(10)); c.Runs != 1 || len(c.LeftOutTexts()) != 1 {
		t.Errorf("%+v", c.LeftOut)
	}
	if c := compare(t, on, question(3)); len(c.LeftOut) != 0 {
		t.Errorf("it is of another time: %+v", c.LeftOut)
	}
}

// Whatever somebody wrote into a record, it is an error or left out.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*provision.Run){
		"runs whose size makes no sense": func(r *provision.Run) { r.Cores = math.Inf(1) },
		"makes no sense":                 func(r *provision.Run) { r.Count = -3 },
		"size makes":                     func(r *provision.Run) { r.MemoryMB = 0 },
		"times make":                     func(r *provision.Run) { r.Ended = r.Started },
		"larger than an owned node":      func(r *provision.Run) { r.Cores = 1e12 },
		"or than the largest type":       func(r *provision.Run) { r.MemoryMB = 1 << 40 },
		"beginning nobody saw":           func(r *provision.Run) { r.Started = time.Time{} },
		"choose a shorter time":          func(r *provision.Run) { r.Count = math.MaxInt },
		"there is none of that time":     func(r *provision.Run) { r.Started, r.Ended = end.Add(time.Hour), end.Add(2*time.Hour) },
	} {
		_, err := whatif.Compare(t.Context(), recorded(run("a", 2*time.Hour, time.Hour, 1, change)), question(10), nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	on := recorded(run("a", 2*time.Hour, time.Hour, 1))
	on.Programs = map[string]provision.Scores{"tolerant": {
		Tolerated: map[interference.Source]float64{"magic": 3, interference.TLB: math.NaN(), interference.Integer: 1e9}, Caused: map[interference.Source]float64{interference.TLB: -1},
	}}
	if c := compare(t, on, question(10)); c.Runs != 1 {
		t.Errorf("%+v", c)
	}
}

// A part of a run that is within the time counts with that part, and nobody waits for longer than for what
// it submitted.
func TestPartsOfRuns(t *testing.T) {
	t.Parallel()
	service := func(r *provision.Run) { r.Service = true }
	c := compare(t, recorded(
		run("before", 12*time.Hour, 3*time.Hour, 2, service), // one hour of three is within
		run("long ago", 40*time.Hour, time.Hour, 16),
		run("again", 2*time.Hour, time.Hour, 4, func(r *provision.Run) { r.Submitted = end.AddDate(0, -2, 0) }),
	), question(10))
	if c.Runs != 2 || len(c.LeftOut) != 0 {
		t.Errorf("%+v", c)
	}
	near(t, "the mean load", c.Load.MeanCores, (2+4)/10.0, 1e-9)
	if s := of(c, provision.StaticReserved); s.Unfinished != 0 || s.WaitSeconds != 0 {
		t.Errorf("%+v", s)
	}
	q := question(24 * 60)
	late := compare(t, recorded(run("a", 2*time.Hour, time.Hour, 1)), q)
	if !late.From.Equal(end.AddDate(0, 0, -30)) || !strings.Contains(strings.Join(late.Notes, " "), "Runs are on record from 2026-02-12T12:00:00Z on") {
		t.Errorf("from %s: %v", late.From, late.Notes)
	}
}

func TestAComparisonEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := whatif.Compare(ctx, day(1, 4), question(4), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	last := 0.0
	if _, err := whatif.Compare(t.Context(), day(1, 4), question(4), func(share float64, what string) {
		if share < last || share > 1 || what == "" {
			t.Errorf("%g after %g of %q", share, last, what)
		}
		last = share
	}); err != nil || last != 1 {
		t.Errorf("%v, at %g", err, last)
	}
}

// BenchmarkWeek replays a week of a small cluster.
func BenchmarkWeek(b *testing.B) {
	on, q := day(1, 168), question(168)
	for b.Loop() {
		c := compare(b, on, q)
		b.ReportMetric(float64(c.Allocations), "allocations")
	}
}
