package network

import (
	"slices"
	"testing"
	"time"
)

// The declared cluster has the statistics that it was declared with.
func TestSyntheticHasThePublishedStatistics(t *testing.T) {
	t.Parallel()
	o := DefaultSynthetic(1)
	o.Groups, o.RacksPerGroup, o.Weeks, o.Bin = 6, 5, 1, time.Hour
	s, err := NewSynthetic(o)
	if err != nil {
		t.Fatal(err)
	}
	a := observe(t, s, StudyWindows())
	c := a.Character()
	for what, q := range map[string]struct {
		got  Percent
		want float64
		off  float64
	}{
		// Those that talk to all also talk to their own and neighbouring racks.
		"same rack": {c.SameRack, 90, 1}, "neighbour": {c.NeighbourRack, 7, 1}, "other": {c.OtherRack, 3, 1},
		"weekend": {c.Weekend, 116.5, 2},
	} {
		if float64(q.got) < q.want-q.off || float64(q.got) > q.want+q.off {
			t.Errorf("%s: %s %%, want %g ± %g", what, q.got, q.want, q.off)
		}
	}
	// Every server talks to those that talk to all, and these to every server.
	if got := c.Talkers[talkers-1].Peers; got < s.Topology().Servers()-2 {
		t.Errorf("the %d. talker has %d peers of %d servers", talkers, got, s.Topology().Servers())
	}
	if got := c.Talkers[talkers].Peers; got > s.Topology().Servers()/4 {
		t.Errorf("the server with the next most peers has %d", got)
	}
	if low, high := slices.Min(c.Hours[:]), slices.Max(c.Hours[:]); low/high > 0.6 || c.Hours[4] != low && c.Hours[5] != low && c.Hours[6] != low {
		t.Errorf("hours from %s to %s %% of the mean: %v", low, high, c.Hours)
	}
	high := 0
	for _, bytes := range a.serverTotals() {
		if float64(bytes)/2/week.Seconds() > highBytesPerSecond { // sent and received, about equal
			high++
		}
	}
	if share := float64(high) / float64(s.Topology().Servers()); share > 0.01 {
		t.Errorf("%.2f %% of the servers are above the range of the study's maps", 100*share)
	}
}

// Any part of the time reads as it does within the whole.
func TestSyntheticIsTheSameInParts(t *testing.T) {
	t.Parallel()
	s, err := NewSynthetic(SyntheticOptions{Groups: 2, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: 10 * time.Minute, Varying: 1, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	collect := func(from, to time.Duration) []Record {
		var out []Record
		for r, err := range s.Between(from, to) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		return out
	}
	whole := collect(0, 3*day)
	var parts []Record
	for from := time.Duration(0); from < 3*day; from += 5 * time.Hour {
		parts = append(parts, collect(from, min(from+5*time.Hour, 3*day))...)
	}
	if len(whole) == 0 || !slices.Equal(whole, parts) {
		t.Errorf("%d records in one, %d in parts", len(whole), len(parts))
	}
	other, err := NewSynthetic(SyntheticOptions{Groups: 2, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: 10 * time.Minute, Varying: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	s = other
	if slices.Equal(whole, collect(0, 3*day)) {
		t.Error("another seed gives the same traffic")
	}
}

func TestSyntheticSubsets(t *testing.T) {
	t.Parallel()
	s, err := NewSynthetic(SyntheticOptions{Groups: 5, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: time.Hour, Varying: 0.5, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	names, racks, err := s.Subsets()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 4 || s.VaryingRack(racks[0]) || !s.VaryingRack(racks[1]) || s.VaryingRack(racks[2]) || !s.VaryingRack(racks[3]) {
		t.Errorf("%v are racks %v", names, racks)
	}
	varying := 0
	for rack := range 10 {
		if s.VaryingRack(rack) {
			varying++
		}
	}
	if varying != 5 {
		t.Errorf("%d of ten racks vary", varying)
	}
}

func TestSyntheticRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*SyntheticOptions){
		"no weeks": func(o *SyntheticOptions) { o.Weeks = 0 }, "bins": func(o *SyntheticOptions) { o.Bin = 7 * time.Minute },
		"one server": func(o *SyntheticOptions) { o.ServersPerRack = 1 }, "no racks": func(o *SyntheticOptions) { o.RacksPerGroup = 0 },
		"varying": func(o *SyntheticOptions) { o.Varying = 2 }, "too many": func(o *SyntheticOptions) { o.Groups = 1 << 40 },
	} {
		o := DefaultSynthetic(1)
		change(&o)
		if _, err := NewSynthetic(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
