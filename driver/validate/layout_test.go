package validate

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestLayout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cpus              int
		smt               bool
		from, to          interference.Source
		exerting          []int
		observing         []int
		placement, forOne string // of the pair; of from putting pressure on a workload
	}{
		"one CPU":           {1, false, interference.MemoryBandwidth, interference.L1Data, []int{0}, []int{0}, placementSame, placementSame},
		"two cores":         {2, false, interference.MemoryBandwidth, interference.L1Data, []int{0}, []int{1}, placementBeside, placementBeside},
		"two cores, core":   {2, false, interference.Integer, interference.L1Data, []int{0}, []int{1}, placementBeside, placementSame},
		"threads, core":     {4, true, interference.Integer, interference.L1Data, []int{2}, []int{3}, placementSibling, placementSame},
		"threads, wide":     {4, true, interference.MemoryBandwidth, interference.L1Data, []int{0}, []int{3}, placementBeside, placementBeside},
		"messages on two":   {2, false, interference.Interconnect, interference.Integer, []int{0, 1}, []int{1}, placementSame, placementSame},
		"messages on four":  {4, false, interference.Interconnect, interference.Integer, []int{0, 1, 2}, []int{3}, placementBeside, placementBeside},
		"watching messages": {4, false, interference.Integer, interference.Interconnect, []int{0}, []int{2, 3}, placementBeside, placementSame},
	} {
		l := fakeLayout(c.cpus, c.smt)
		exerting, observing := l.pair(c.from, c.to)
		slices.Sort(observing.CPUs)
		if !slices.Equal(exerting.CPUs, c.exerting) || !slices.Equal(observing.CPUs, c.observing) || exerting.Name != c.placement {
			t.Errorf("%s: %+v and %+v", name, exerting, observing)
		}
		if got := l.kernelPlace(c.from); got.Name != c.forOne || len(got.CPUs) == 0 {
			t.Errorf("%s: presses from %+v", name, got)
		}
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	for _, e := range exceptions() {
		if e.why == "" {
			t.Error("an exception without a reason")
		}
		for _, s := range slices.Concat(e.from, e.to) {
			if _, ok := interference.Info(s); !ok {
				t.Errorf("unknown source %q", s)
			}
		}
		for _, p := range e.where {
			if !slices.Contains([]string{placementSame, placementBeside, placementSibling}, p) {
				t.Errorf("unknown placement %q", p)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to  interference.Source
		placement string
		loss      Interval
		verdict   Verdict
		explained bool
	}{
		"within":            {interference.Integer, interference.L1Data, placementBeside, Interval{Center: 15, Low: 10, High: 20}, VerdictOK, false},
		"over":              {interference.Integer, interference.L1Data, placementBeside, Interval{Center: 30, Low: 25, High: 35}, VerdictMiss, false},
		"over, unsure":      {interference.Integer, interference.L1Data, placementBeside, Interval{Center: 30, Low: 5, High: 35}, VerdictMiss, true},
		"unavoidable":       {interference.MemoryBandwidth, interference.LLCCapacity, placementBeside, Interval{Center: 30, Low: 25, High: 35}, VerdictExpected, true},
		"not the other way": {interference.LLCCapacity, interference.MemoryBandwidth, placementBeside, Interval{Center: 30, Low: 25, High: 35}, VerdictMiss, false},
		"ports of a core":   {interference.Integer, interference.FloatingPoint, placementSibling, Interval{Center: 30, Low: 25, High: 35}, VerdictExpected, true},
		"one CPU":           {interference.TLB, interference.NetworkBandwidth, placementSame, Interval{Center: 90, Low: 85, High: 95}, VerdictExpected, true},
		"unknown":           {interference.TLB, interference.Integer, placementBeside, Interval{Center: unknown}, VerdictMiss, true},
	} {
		verdict, why := judge(c.from, c.to, c.placement, c.loss)
		if verdict != c.verdict || (why != "") != c.explained {
			t.Errorf("%s: %s, %q", name, verdict, why)
		}
	}
}

func TestEverySourceHasAVictim(t *testing.T) {
	t.Parallel()
	m, l := fakeMachine(2, false), fakeLayout(2, false)
	for _, info := range interference.Sources() {
		v, ok := victimOf(info.Source)
		if !ok {
			t.Errorf("%s has no victim", info.Source)
			continue
		}
		if s := v.spec(m, l); s.Kind == "" || len(s.CPUs) == 0 {
			t.Errorf("victim of %s: %+v", info.Source, s)
		}
	}
	for s, points := range published {
		if _, ok := interference.Info(s); !ok || len(points) != len(publishedAt) {
			t.Errorf("published points of %q: %v", s, points)
		}
	}
}
