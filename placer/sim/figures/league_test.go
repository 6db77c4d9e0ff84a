package figures_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

const crowd = `
title = "A crowd"
seeds = [1, 2]

cluster {
  shape = "homogeneous-4x8x32GiB"
}

population "p" {
  classes = ["ST", "MP"]
  jobs    = 12

  arrivals "constant" {
    every = "10s"
  }

  duration "fixed" {
    value = "2m"
  }
}

policy "least-loaded" {}
`

const replay = `
title = "A trace that is not here"
seeds = [1]

cluster {
  shape = "homogeneous-4x8x32GiB"
}

trace "philly" {
  path = "no/such/data"
}

policy "least-loaded" {}
`

const pairs = `
title = "Pairs on one disk"
seeds = [1]

cluster {}

colocation {
  machines = 2
  mix      = "light"
  runtime  = "1m"
}

policy "mios" {
  admission = "none"
}
`

// Every entrant can play where responses are learnt next to background workloads.
func TestLeagueOfMeasuredPairs(t *testing.T) {
	t.Parallel()
	o := figures.LeagueOptions{Options: figures.Options{Folder: "nowhere"}}
	o.Now = func() time.Time { return time.Unix(0, 0) }
	o.Scenarios = fstest.MapFS{"pairs-one.hcl": {Data: []byte(pairs)}}
	l, err := figures.RunLeague(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Games[0].Scores) != len(l.Entrants) {
		t.Errorf("%d of %d", len(l.Games[0].Scores), len(l.Entrants))
	}
	for name, s := range l.Games[0].Scores {
		if s.Failed != "" || !(s.WithWait > 0) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A league is in the world that is asked for, says so, and leaves out what cannot be in it.
func TestLeagueInAWorld(t *testing.T) {
	t.Parallel()
	o := figures.LeagueOptions{Options: figures.Options{Folder: "nowhere"}, Only: []string{"expected", "nomad-spread", "paragon"}}
	o.Now = func() time.Time { return time.Unix(0, 0) }
	o.World = "measured"
	o.Scenarios = fstest.MapFS{"crowd-one.hcl": {Data: []byte(crowd)}, "pairs-one.hcl": {Data: []byte(pairs)}}
	l, err := figures.RunLeague(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if l.Games[0].Absent != "" || !strings.Contains(l.Games[1].Absent, "nothing of it is drawn") {
		t.Errorf("%q, %q", l.Games[0].Absent, l.Games[1].Absent)
	}
	page := l.Markdown()
	for _, want := range []string{"those of the measured rows", "## `expected`, which no paper has", "points over `nomad-spread` on average"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	o.World = "mesured"
	if _, err := figures.RunLeague(context.Background(), o); !errors.Is(err, figures.ErrWorld) {
		t.Error(err)
	}
}

func league(t *testing.T, o figures.Options, except ...string) *figures.League {
	t.Helper()
	o.Now = func() time.Time { return time.Unix(0, 0) }
	o.Folder = "nowhere"
	o.Scenarios = fstest.MapFS{"crowd-one.hcl": {Data: []byte(crowd)}, "trace-none.hcl": {Data: []byte(replay)}}
	l, err := figures.RunLeague(context.Background(), figures.LeagueOptions{Options: o, Except: except})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The headroom of a scenario: each step plays, and the page has them all.
func TestHeadroom(t *testing.T) {
	t.Parallel()
	o := figures.LeagueOptions{Options: figures.Options{Folder: "nowhere"}}
	o.Now = func() time.Time { return time.Unix(0, 0) }
	o.Folder = "nowhere"
	o.Scenarios = fstest.MapFS{"crowd-one.hcl": {Data: []byte(crowd)}, "trace-none.hcl": {Data: []byte(replay)}}
	h, err := figures.RunHeadroom(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	scores := h.Games[0].Scores
	for name, s := range scores {
		if s.Failed != "" || !(s.WithWait > 0) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if free, planned := scores["free"].WithWait, scores["moves"].WithWait; free <= planned {
		t.Errorf("a profile that takes no time: %g, else %g", free, planned)
	}
	page := h.Markdown()
	for _, part := range []string{"| waits | it waits for a better node | waiting |", "| crowd-one | ", "trace-none was not run", "| profiling | +"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
}

func TestLeagueOfSome(t *testing.T) {
	t.Parallel()
	o := figures.LeagueOptions{Options: figures.Options{Folder: "nowhere"}, Only: []string{"expected", "arq"}}
	o.Now = func() time.Time { return time.Unix(0, 0) }
	o.Scenarios = fstest.MapFS{"crowd-one.hcl": {Data: []byte(crowd)}}
	l, err := figures.RunLeague(context.Background(), o)
	if err != nil || len(l.Table) != 2 || len(l.Entrants) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	o.Only = []string{"expected", "nobody"}
	if _, err := figures.RunLeague(context.Background(), o); !errors.Is(err, figures.ErrEntrant) {
		t.Errorf("error %v", err)
	}
}

// Every policy plays, and the table does not depend on how many run at once, nor
// on what was kept.
func TestLeague(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	l := league(t, figures.Options{Work: work, Parallel: 1})
	if len(l.Games) != 2 || len(l.Games[0].Scores) != len(policy.Selectors())+1 {
		t.Fatalf("%d games, %d scores", len(l.Games), len(l.Games[0].Scores))
	}
	if l.Games[1].Absent == "" || l.Games[1].Scores != nil {
		t.Errorf("a trace that is not here was played: %+v", l.Games[1])
	}
	ranks, first := 0.0, 0.0
	for name, s := range l.Games[0].Scores {
		if s.Failed != "" || s.WithWait <= 0 || s.WithWait > 100 || s.Performance < s.WithWait-1e-9 {
			t.Errorf("%s: %+v", name, s)
		}
		ranks += s.Rank
	}
	for _, p := range l.Table {
		first += p.Wins
	}
	n := float64(len(l.Games[0].Scores))
	if ranks != n*(n+1)/2 || first < 1-1e-9 || first > 1+1e-9 {
		t.Errorf("ranks sum up to %g, first places to %g", ranks, first)
	}
	kept := 0
	again := league(t, figures.Options{Work: work, Parallel: 3, Progress: func(p figures.Progress) { kept = p.Kept }})
	if a, b := encoded(t, l), encoded(t, again); !bytes.Equal(a, b) || kept != int(n) {
		t.Errorf("%d kept; with them:\n%s\nwithout:\n%s", kept, b, a)
	}
}

func encoded(t *testing.T, l *figures.League) []byte {
	t.Helper()
	out, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is left out is said to be.
func TestLeagueExcept(t *testing.T) {
	t.Parallel()
	l := league(t, figures.Options{}, "crowd-one")
	if g := l.Games[0]; g.Absent != "left out" || g.Scores != nil || len(l.Table) != 0 {
		t.Errorf("%+v, table of %d", g, len(l.Table))
	}
	if page := l.Markdown(); !strings.Contains(page, "crowd-one was not run: left out") {
		t.Errorf("not said:\n%s", page)
	}
}

// The page has a row for everyone, and says what was not run.
func TestLeaguePage(t *testing.T) {
	t.Parallel()
	page := league(t, figures.Options{}).Markdown()
	for _, s := range policy.Selectors() {
		if !strings.Contains(page, "| "+s.Name+" |") {
			t.Errorf("%s is not in:\n%s", s.Name, page)
		}
	}
	for _, want := range []string{"trace-none was not run: the data is not here: no/such/data", "## Scenarios crowd", "**"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in:\n%s", want, page)
		}
	}
}
