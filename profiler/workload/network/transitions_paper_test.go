package network

import "testing"

// §C.5.2: "Comparing a flat and hierarchical model for a system with 100 racks
// reveals a 90% reduction in transition count". It is so for 10 groups of 10 racks,
// at the level of racks; other readings are next to it.
func TestHundredRacks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		groups, racks, servers int
		level                  Level
		hierarchical, flat     int
		strict                 int
		fewer                  float64
	}{
		{10, 10, 48, RackLevel, 1_100, 10_000, 1_090, 89},
		{4, 25, 48, RackLevel, 2_516, 10_000, 2_512, 74.84},
		{10, 10, 48, ServerLevel, 231_500, 23_040_000, 231_390, 98.995},
		{1, 1, 24, ServerLevel, 578, 576, 576, -0.347},
		{10, 10, 48, GroupLevel, 100, 100, 100, 0},
	} {
		top, err := Uniform(c.groups, c.racks, c.servers)
		if err != nil {
			t.Fatal(err)
		}
		hierarchical, flat := Transitions(top, c.level, false), FlatTransitions(top, c.level)
		if hierarchical != c.hierarchical || flat != c.flat {
			t.Errorf("%s, level %s: %d of %d transitions, want %d of %d", top, c.level, hierarchical, flat, c.hierarchical, c.flat)
		}
		if got := Transitions(top, c.level, true); got != c.strict {
			t.Errorf("%s, level %s: %d strictly, want %d", top, c.level, got, c.strict)
		}
		if got := float64(PercentOf(float64(flat-hierarchical), float64(flat))); got < c.fewer-0.01 || got > c.fewer+0.01 {
			t.Errorf("%s, level %s: %.3f %% fewer, want %.3f", top, c.level, got, c.fewer)
		}
	}
}

// §C.5.3: a subset has one additional state; it has one transition to and one from
// every server.
func TestCloudAddsOneState(t *testing.T) {
	t.Parallel()
	without, err := NewTopology([]int{1}, []int{24}, false)
	if err != nil {
		t.Fatal(err)
	}
	with, err := NewTopology([]int{1}, []int{24}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := with.Nodes() - without.Nodes(); got != 1 {
		t.Errorf("the cloud is %d states", got)
	}
	if got := Transitions(with, ServerLevel, false) - Transitions(without, ServerLevel, false); got != 48 {
		t.Errorf("the cloud adds %d transitions, want 48", got)
	}
}

// §C.5.3: "4 models from six hours periods of two different weekdays (2·4) and 2
// models for 12h periods of a day of the weekend".
func TestTenWindows(t *testing.T) {
	t.Parallel()
	windows := StudyWindows()
	if err := CheckWindows(windows); err != nil {
		t.Fatal(err)
	}
	six, twelve := 0, 0
	for _, w := range windows {
		switch w.End - w.Start {
		case day / 4:
			six++
		case day / 2:
			twelve++
		}
	}
	if six != 8 || twelve != 2 || len(windows) != 10 {
		t.Errorf("%d windows of six hours and %d of twelve, of %d", six, twelve, len(windows))
	}
	cal := newCalendar(Span{To: week, Bin: day / 288}, windows)
	for b, w := range cal.window {
		if w == noWindow {
			t.Fatalf("bin %d of the week is in no window", b)
		}
	}
}

// §C.5.2: "when there are separate models for each 12h period of a day, 50% of the
// time the generated workload complies with the first model".
func TestHalfOfTheTimeEach(t *testing.T) {
	t.Parallel()
	windows, err := ParseWindows("mon-sun 00-12,mon-sun 12-24")
	if err != nil {
		t.Fatal(err)
	}
	cal := newCalendar(Span{To: 3 * day, Bin: day / 288}, windows)
	if first, second := cal.time(0), cal.time(1); first != second || first != 3*day/2 {
		t.Errorf("the windows are active for %s and %s of three days", first, second)
	}
}
