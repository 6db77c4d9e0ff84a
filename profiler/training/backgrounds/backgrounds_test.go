package backgrounds_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// The protocol has five levels of three knobs (Chiang and Huang 2011, §3.1).
func TestThereAre125Backgrounds(t *testing.T) {
	t.Parallel()
	seen := map[backgrounds.Level]bool{}
	for _, l := range backgrounds.All() {
		seen[l] = true
	}
	if len(seen) != 125 || !seen[backgrounds.Level{}] || !seen[backgrounds.Level{CPU: 100, Read: 100, Write: 100}] {
		t.Errorf("%d backgrounds", len(seen))
	}
}

// What ships with pairs is whole: every application next to all backgrounds, and next to every
// application.
func TestShippedTablesAreComplete(t *testing.T) {
	t.Parallel()
	environments, err := backgrounds.Environments()
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, name := range environments {
		s, err := backgrounds.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Pairs) > 0 {
			whole++
			complete(t, s)
		}
	}
	if whole == 0 {
		t.Errorf("none of %v has pairs", environments)
	}
}

func complete(t *testing.T, s *backgrounds.Set) {
	t.Helper()
	apps := s.Applications()
	if len(apps) != 8 {
		t.Fatalf("%s: only %v", s.Environment, apps)
	}
	if _, err := s.Background(); err != nil {
		t.Error(err)
	}
	pairs := map[[2]string]int{}
	for _, p := range s.Pairs {
		pairs[[2]string{p.Application, p.CoRunner}]++
	}
	for _, a := range apps {
		own, err := s.Isolated(a)
		if err != nil || own.CPULocal+own.CPUGlobal <= 0 {
			t.Errorf("%s, %s alone: %+v, %v", s.Environment, a, own, err)
		}
		levels := map[backgrounds.Level]bool{}
		for _, r := range s.Rows[a] {
			if r.Sweep == 1 && r.RatePerSec > 0 {
				levels[r.Level] = true
			}
		}
		if len(levels) != 125 {
			t.Errorf("%s, %s: %d backgrounds", s.Environment, a, len(levels))
		}
		for _, b := range apps {
			if pairs[[2]string{a, b}] < 2 {
				t.Errorf("%s, %s next to %s: %d times", s.Environment, a, b, pairs[[2]string{a, b}])
			}
		}
	}
}

func TestLinesAreReadBack(t *testing.T) {
	t.Parallel()
	want := backgrounds.Row{
		Sweep: 1, Level: backgrounds.Level{CPU: 25, Write: 100}, RatePerSec: 12.5,
		Own: backgrounds.Characteristics{ReadsPerSec: 1, WritesPerSec: 2, ReadMBps: 3, WriteMBps: 4, CPULocal: 0.5, CPUGlobal: 0.25},
	}
	unknown := want
	unknown.RatePerSec = math.NaN()
	rows, err := backgrounds.ReadRows(strings.NewReader("# note\n" + backgrounds.RowHeader() + "\n" + want.Line() + "\n" + unknown.Line() + "\n"))
	if err != nil || len(rows) != 2 || rows[0] != want || !math.IsNaN(rows[1].RatePerSec) {
		t.Errorf("%+v, %v", rows, err)
	}
	pair := backgrounds.Pair{Application: "a", CoRunner: "b", Repeat: 2, RatePerSec: 3}
	pairs, err := backgrounds.ReadPairs(strings.NewReader(backgrounds.PairHeader() + "\n" + pair.Line() + "\n"))
	if err != nil || len(pairs) != 1 || pairs[0] != pair {
		t.Errorf("%+v, %v", pairs, err)
	}
}

func TestBadTablesAreRefused(t *testing.T) {
	t.Parallel()
	good := backgrounds.Row{RatePerSec: 1}.Line()
	for name, text := range map[string]string{
		"no header": good + "\n",
		"short":     backgrounds.RowHeader() + "\n1,2,3\n",
		"negative":  backgrounds.RowHeader() + "\n" + strings.Replace(good, "0,0,0,0,0,", "0,0,0,0,-1,", 1) + "\n",
		"words":     backgrounds.RowHeader() + "\nx" + good + "\n",
	} {
		if _, err := backgrounds.ReadRows(strings.NewReader(text)); !errors.Is(err, backgrounds.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := backgrounds.Load("cloud"); err == nil || !strings.Contains(err.Error(), "known: local, remote") {
		t.Errorf("unknown environment: %v", err)
	}
	s := backgrounds.Set{}
	if _, err := s.Isolated("x"); !errors.Is(err, backgrounds.ErrMissing) {
		t.Error(err)
	}
	if _, err := s.Background(); !errors.Is(err, backgrounds.ErrMissing) {
		t.Error(err)
	}
}
