package provision

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func runOf(job string, change ...func(*Present)) Present {
	p := Present{
		Workload: cluster.WorkloadID{Namespace: "default", Job: job, Group: "main"}, Submitted: noon.Add(-time.Minute),
		Count: 2, Cores: 1.5, MemoryMB: 512, Program: "key-" + job,
		Scores: Scores{Tolerated: map[interference.Source]float64{"a": 40}, Caused: map[interference.Source]float64{"a": 10.5}},
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

// looks shows the log the same for a while, every two seconds, and returns the time after it.
func looks(l *RunLog, from time.Time, d time.Duration, present ...Present) time.Time {
	for at := from; at.Before(from.Add(d)); at = at.Add(2 * time.Second) {
		l.Observe(at, present)
	}
	return from.Add(d)
}

// A run begins when its workload is seen, ends when it was missed first, and a gap that is as short as
// one between two allocations ends nothing.
func TestARunHasABeginningAndAnEnd(t *testing.T) {
	t.Parallel()
	l := NewRunLog(noon, nil)
	now := looks(l, noon, time.Minute)
	began := now
	now = looks(l, now, time.Minute, runOf("web"))
	now = looks(l, now, absentFor-2*time.Second)
	now = looks(l, now, time.Minute, runOf("web"))
	ended := now
	looks(l, now, absentFor+4*time.Second)
	got := l.Runs()
	want := Run{
		Workload: runOf("web").Workload, Submitted: noon.Add(-time.Minute), Started: began, Ended: ended, Gone: true,
		Count: 2, Cores: 1.5, MemoryMB: 512, Program: "key-web",
	}
	if len(got.Runs) != 1 || !reflect.DeepEqual(got.Runs[0], want) {
		t.Errorf("%+v\nwant %+v", got.Runs, want)
	}
	if !got.Since.Equal(noon) || !reflect.DeepEqual(got.Programs["key-web"], runOf("web").Scores) {
		t.Errorf("since %s, programs %v", got.Since, got.Programs)
	}
}

// What goes on at another size is another run from then on, which nobody waited for.
func TestAnotherSizeIsAnotherRun(t *testing.T) {
	t.Parallel()
	l := NewRunLog(noon, nil)
	now := looks(l, noon, time.Minute, runOf("web"))
	now = looks(l, now, time.Minute, runOf("web", func(p *Present) { p.Cores = 1.51 })) // another mean clock
	looks(l, now, time.Minute, runOf("web", func(p *Present) { p.Count = 4 }))
	runs := l.Runs().Runs
	if len(runs) != 2 || !runs[0].Ended.Equal(now) || runs[1].Gone || !runs[1].Submitted.Equal(now) || !runs[1].Started.Equal(now) || runs[1].Count != 4 {
		t.Errorf("%+v", runs)
	}
}

// saved writes what is due, and returns it as a successor reads it.
func saved(t testing.TB, l *RunLog, now time.Time, store map[int]RunPage) {
	t.Helper()
	pages, deleted := l.Written(now)
	for _, p := range pages {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var read RunPage
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		if len(data) > 46<<10 {
			t.Fatalf("page %d has %d bytes", p.Number, len(data))
		}
		read.Number = p.Number
		store[p.Number] = read
	}
	for _, n := range deleted {
		delete(store, n)
	}
}

func pagesOf(store map[int]RunPage) []RunPage {
	var out []RunPage
	for _, p := range store {
		out = append(out, p)
	}
	return out
}

// A successor that looks soon knows when a run has ended; one that looks late does not, and says so.
func TestAnEndThatNobodySaw(t *testing.T) {
	t.Parallel()
	for away, known := range map[time.Duration]bool{15 * time.Second: true, time.Hour: false} {
		l, store := NewRunLog(noon, nil), map[int]RunPage{}
		now := looks(l, noon, time.Minute, runOf("gone"), runOf("stays"))
		saved(t, l, now, store)
		now = now.Add(away)
		next := NewRunLog(now, pagesOf(store))
		looks(next, now, 2*absentFor, runOf("stays"))
		runs := next.Runs().Runs
		if len(runs) != 2 || !runs[0].Gone || runs[0].Ended.IsZero() == known || runs[1].Gone {
			t.Errorf("away for %s: %+v", away, runs)
		}
		if known && runs[0].Ended.Sub(now) > 2*time.Second {
			t.Errorf("it ended at %s", runs[0].Ended)
		}
	}
}

// Page after page is filled, the oldest go, what still runs is kept, and it is said from when on all is
// there.
func TestOldRunsAreGivenUp(t *testing.T) {
	t.Parallel()
	l, store := NewRunLog(noon, nil), map[int]RunPage{}
	now, made := noon, 0
	for len(store) <= mostPages-1 || made < 20000 && l.whole.Equal(noon) {
		var present []Present
		present = append(present, runOf("service"))
		for range 100 {
			made++
			present = append(present, runOf(fmt.Sprint("job-", made)))
		}
		l.Observe(now, present)
		now = now.Add(2 * time.Minute)
		l.Observe(now, []Present{runOf("service")})
		now = now.Add(2 * time.Minute)
		l.Observe(now, []Present{runOf("service")})
		saved(t, l, now, store)
	}
	if len(store) > mostPages || !l.whole.After(noon) {
		t.Fatalf("%d pages, whole since %s, after %d runs", len(store), l.whole, made)
	}
	read := JoinRuns(pagesOf(store))
	services := 0
	for _, r := range read.Runs {
		if r.Workload.Job == "service" {
			services++
			if r.Gone || !r.Started.Equal(noon) {
				t.Errorf("%+v", r)
			}
		} else if r.Ended.Before(read.Since) && r.Started.Before(read.Since.Add(-time.Hour*24)) {
			t.Errorf("%+v, and all are there since %s", r, read.Since)
		}
	}
	if services != 1 {
		t.Errorf("the service is there %d times", services)
	}
}

// A page that could not be written is written next time.
func TestAPageThatWasNotWritten(t *testing.T) {
	t.Parallel()
	l := NewRunLog(noon, nil)
	l.Observe(noon, []Present{runOf("web")})
	pages, _ := l.Written(noon)
	if len(pages) != 1 {
		t.Fatalf("%d pages", len(pages))
	}
	if again, _ := l.Written(noon); len(again) != 0 {
		t.Error("what was written is written again")
	}
	l.NotWritten(pages[0].Number)
	if again, _ := l.Written(noon); len(again) != 1 {
		t.Error("what was not written is lost")
	}
}

// Of a workload of which all is assumed nothing is on record, and unknown scores are missing.
func TestScoresOnRecord(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{"a", "b"}
	s := interference.Sensitivity{
		Tolerated: interference.Scores{"a": {Score: interference.Percent(40.04), Origin: interference.Measured}},
		Caused:    interference.Scores{"a": {Score: interference.Percent(50), Origin: interference.Assumed}, "b": {}},
	}
	want := Scores{Tolerated: map[interference.Source]float64{"a": 40}, Caused: map[interference.Source]float64{"a": 50}}
	if got := NewScores(s, columns); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	s.Tolerated["a"] = interference.Estimate{Score: interference.Percent(50), Origin: interference.Assumed}
	if got := NewScores(s, columns); got.Known() {
		t.Errorf("%+v of what is assumed", got)
	}
}

// Whatever is seen: no two runs of a workload overlap, each that is seen now is open, and a successor
// has the same.
func TestRunsDoNotOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l, now, store := NewRunLog(noon, nil), noon, map[int]RunPage{}
		var present []Present
		for range rapid.IntRange(1, 60).Draw(rt, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(1, 60).Draw(rt, "seconds")) * time.Second)
			present = nil
			for _, job := range []string{"a", "b", "c"} {
				if rapid.Bool().Draw(rt, job) {
					present = append(present, runOf(job, func(p *Present) { p.Count = rapid.IntRange(1, 2).Draw(rt, "count") }))
				}
			}
			l.Observe(now, present)
			if rapid.IntRange(0, 5).Draw(rt, "succession") == 0 {
				saved(t, l, now, store)
				l = NewRunLog(now, pagesOf(store))
			}
		}
		last := map[cluster.WorkloadID]Run{}
		open := map[cluster.WorkloadID]bool{}
		for _, r := range l.Runs().Runs {
			if before, ok := last[r.Workload]; ok && (!before.Gone || r.Started.Before(before.Ended)) {
				rt.Fatalf("%+v\noverlaps %+v", r, before)
			}
			if r.Gone && r.Ended.Before(r.Started) {
				rt.Fatalf("%+v", r)
			}
			last[r.Workload] = r
			open[r.Workload] = !r.Gone
		}
		for _, p := range present {
			if !open[p.Workload] {
				rt.Fatalf("%s is there, and its run has ended", p.Workload)
			}
		}
	})
}
