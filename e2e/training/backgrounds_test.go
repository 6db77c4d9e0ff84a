package main

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// A pause after an iteration makes the iteration the asked part of the time.
func TestPausesOfTheGenerator(t *testing.T) {
	t.Parallel()
	for percent, want := range map[int]time.Duration{100: 0, 75: 50 * time.Millisecond / 3, 50: 50 * time.Millisecond, 25: 150 * time.Millisecond} {
		if got := idleFor(50*time.Millisecond, percent); got.Round(time.Microsecond) != want.Round(time.Microsecond) {
			t.Errorf("%d %%: %v and not %v", percent, got, want)
		}
	}
}

func TestLevelsOfTheGenerator(t *testing.T) {
	t.Parallel()
	got := make(chan [3]int32, 2)
	if err := readLevels(t.Context(), strings.NewReader("0 25 100\n75 0 0\n"), got); err != nil {
		t.Fatal(err)
	}
	if first, second := <-got, <-got; first != [3]int32{0, 25, 100} || second != [3]int32{75, 0, 0} {
		t.Errorf("%v, %v", first, second)
	}
	for _, text := range []string{"", "1 2", "a b c"} {
		if err := readLevels(t.Context(), strings.NewReader(text+"\n"), got); err == nil {
			t.Errorf("%q is taken for intensities", text)
		}
	}
}

func TestRepeatsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rates []float64
		want  bool
	}{
		{[]float64{10, 10, 10}, true},
		{[]float64{10, 10.5, 9.5}, true},   // 2.9 % of the mean
		{[]float64{10, 11.5, 8.5}, false},  // 8.7 %
		{[]float64{10, math.NaN()}, false}, // no work at all
		{[]float64{0, 0, 0}, false},
	} {
		if agree(c.rates) != c.want {
			t.Errorf("%v agree: %v", c.rates, !c.want)
		}
	}
}

// A pair is measured until the speeds of both agree, and no more often than mostPairs.
func TestPairsLeft(t *testing.T) {
	t.Parallel()
	apps := []catalogue.Application{{ID: "a"}, {ID: "b"}}
	var known []backgrounds.Pair
	add := func(a, b string, repeat int, rate float64) {
		known = append(known, backgrounds.Pair{Application: a, CoRunner: b, Repeat: repeat, RatePerSec: rate})
	}
	for repeat := 1; repeat <= leastPairs; repeat++ {
		add("a", "a", repeat, 5)
		add("a", "b", repeat, 5)
		add("b", "a", repeat, float64(repeat)) // these do not agree
	}
	for repeat := 1; repeat <= mostPairs; repeat++ {
		add("b", "b", repeat, float64(repeat))
	}
	if left := newPairTable(known).left(apps); len(left) != 1 || left[0] != [2]int{0, 1} {
		t.Errorf("%v are left", left)
	}
	once := []backgrounds.Pair{{Application: "a", CoRunner: "a", Repeat: 1, RatePerSec: 1}}
	if left := newPairTable(once).left(apps); len(left) != 2 {
		t.Errorf("after one pair %v are next", left)
	}
	if left := newPairTable(nil).left(apps); len(left) != 3 {
		t.Errorf("of nothing %v are left", left)
	}
}

func TestWhatASlotDid(t *testing.T) {
	t.Parallel()
	begun := time.Unix(100, 0)
	before := reading{at: begun, loops: true, loop: sample{units: 10, ticks: 5, at: begun.Add(-time.Second)}, served: disk.Served{Reads: 10, Bytes: 1e6, ReadBytes: 1e6}}
	after := reading{
		at: begun.Add(4 * time.Second), loops: true, loop: sample{units: 30, ticks: 9, at: begun.Add(3 * time.Second)},
		time: cpuTime{user: 2 * time.Second, system: time.Second}, served: disk.Served{Reads: 50, Writes: 8, Bytes: 13e6, ReadBytes: 5e6},
	}
	got := after.since(before)
	want := backgrounds.Characteristics{ReadsPerSec: 10, WritesPerSec: 2, ReadMBps: 1, WriteMBps: 2, CPULocal: 0.5, CPUGlobal: 0.25}
	if got.characteristics != want || got.rate != 5 || got.steps != 4 {
		t.Errorf("%+v", got)
	}
	if idle := before.since(before); !math.IsNaN(idle.rate) {
		t.Errorf("without a unit of work it is known to do %v", idle.rate)
	}
}

// What was measured is not measured again.
func TestMissingRows(t *testing.T) {
	t.Parallel()
	s := settings{folder: t.TempDir(), environment: backgrounds.Local, sweeps: 2}
	apps := []catalogue.Application{{ID: "a"}}
	if err := os.MkdirAll(s.tables(), 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := s.todo(apps)
	if err != nil || before.rows != 3*125 || len(before.apps) != 1 {
		t.Fatalf("%+v, %v", before, err)
	}
	for _, name := range []string{"", "a"} {
		for sweep := 1; sweep <= 2; sweep++ {
			for _, l := range backgrounds.All()[2:] {
				if err := s.add(s.table(name), backgrounds.RowHeader(), backgrounds.Row{Sweep: sweep, Level: l, RatePerSec: 1}.Line()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if after, err := s.todo(apps); err != nil || after.rows != 3*2 {
		t.Errorf("%+v, %v", after, err)
	}
	s.environment = backgrounds.Remote
	if remote, err := s.todo(apps); err != nil || remote.rows != 2*125 {
		t.Errorf("of the remote disk %+v, %v", remote, err)
	}
}

func TestUnknownEnvironment(t *testing.T) {
	t.Parallel()
	err := measureBackgrounds(t.Context(), nil, settings{folder: t.TempDir(), environment: "cloud"})
	if err == nil || !strings.Contains(err.Error(), "want local or remote") {
		t.Error(err)
	}
}
