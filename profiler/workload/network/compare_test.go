package network

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func observe(t testing.TB, traffic Traffic, windows []Window) *Activity {
	t.Helper()
	a, err := Observe(t.Context(), traffic, windows, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func compare(t testing.TB, x, y *Activity, windows []Window) Deviation {
	t.Helper()
	d, err := Compare(x, y, windows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func percentIs(p Percent, want float64) bool { return math.Abs(float64(p)-want) < 1e-9 }

// The definitions of Deviation, on two servers and four bins.
func TestDeviationByHand(t *testing.T) {
	t.Parallel()
	top, span := topology(t, 1, 2, 2, false), Span{To: 4 * bin, Bin: bin}
	x := table(t, top, span, []Record{
		{At: 0, Source: 0, Destination: 1, Bytes: 100}, {At: bin, Source: 0, Destination: 1, Bytes: 300},
		{At: 2 * bin, Source: 2, Destination: 0, Bytes: 40},
	})
	y := table(t, top, span, []Record{
		{At: 0, Source: 0, Destination: 1, Bytes: 200}, {At: bin, Source: 0, Destination: 1, Bytes: 200},
		{At: 2 * bin, Source: 2, Destination: 0, Bytes: 20}, {At: 3 * bin, Source: 3, Destination: 0, Bytes: 10},
	})
	original, generated := observe(t, x, OneWindow()), observe(t, y, OneWindow())
	d := compare(t, original, generated.As(original), OneWindow())
	// Loads: server 0 has 440 and 430, server 1 400 and 400, server 2 40 and 20; server 3
	// has none in the original. Bins of server 0 are off by 100, 100, 20 and 10.
	if want := 100 * (10./440 + 0 + 20./40) / 3; !percentIs(d.Average.All(), want) || !percentIs(d.Fluctuation.All(), want) {
		t.Errorf("average %s and fluctuation %s, want %g", d.Average.All(), d.Fluctuation.All(), want)
	}
	if want := 100 * (230./440 + 200./400 + 20./40) / 3; !percentIs(d.FluctuationBins.All(), want) {
		t.Errorf("fluctuation of bins %s, want %g", d.FluctuationBins.All(), want)
	}
	// Pairs: 0 → 1 has 400 and 400, 2 → 0 has 40 and 20.
	if want := 100 * (20./440 + 0 + 20./40) / 3; !percentIs(d.Locality.All(), want) {
		t.Errorf("locality %s, want %g", d.Locality.All(), want)
	}
	for what, c := range map[string]struct {
		got  Percent
		want float64
	}{
		"pairs": {d.Pairs, 100 * 20. / 440}, "same rack": {d.PairsSameRack, 0}, "other rack": {d.PairsOtherRack, 50}, "unweighted": {d.PairsUnweighted, 25},
		"elsewhere": {d.Elsewhere, 100 * 10. / 430}, "total": {d.Total, -100 * 10. / 440}, "racks": {d.Racks, 100 * 10. / 440},
		"least loaded": {d.Average[1], 50}, "median": {d.Temporal.At(50), 100 * 10. / 440}, "worst": {d.Temporal.At(100), 50},
	} {
		if !percentIs(c.got, c.want) {
			t.Errorf("%s: %v, want %g", what, float64(c.got), c.want)
		}
	}
	if d.Average[0].Known() {
		t.Errorf("a quarter of three servers is none: %s", d.Average[0])
	}
	text, err := json.Marshal(d.Average)
	if err != nil || !strings.HasPrefix(string(text), "[null,50,") {
		t.Errorf("as JSON %s, %v", text, err)
	}
	var again Deviations
	if err := json.Unmarshal(text, &again); err != nil || again[0].Known() || again[1] != 50 {
		t.Errorf("read again %v, %v", again, err)
	}
}

// Replaying the trace is the upper bound: nothing deviates.
func TestPropertyTrafficDoesNotDeviateFromItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		traffic := randomTraffic(t, rapid.Bool().Draw(t, "cloud"))
		a, err := Observe(t.Context(), traffic, OneWindow(), 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Compare(a, a, OneWindow())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Percent{d.Average.All(), d.FluctuationBins.All(), d.Locality.All(), d.Pairs, d.Racks, d.Total} {
			if p.Known() && p != 0 {
				t.Fatalf("%+v", d)
			}
		}
		if len(traffic.Records()) > 0 && (!d.Pairs.Known() || d.Pairs != 0) {
			t.Fatalf("pairs %s", d.Pairs)
		}
	})
}

func TestActivityOfAnyNumberOfWorkersIsTheSame(t *testing.T) {
	t.Parallel()
	traffic, err := NewSynthetic(SyntheticOptions{Groups: 2, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: bin, Varying: 0.5, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Observe(t.Context(), traffic, StudyWindows(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	four, err := Observe(t.Context(), traffic, StudyWindows(), 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one.bins, four.bins) || !slices.Equal(one.moved, four.moved) || !slices.Equal(one.pairs, four.pairs) || !slices.Equal(one.racks, four.racks) {
		t.Error("four workers see other traffic than one")
	}
}

// Only what windows model is compared.
func TestWindowsSayWhatIsCompared(t *testing.T) {
	t.Parallel()
	top := topology(t, 1, 1, 2, false)
	x := table(t, top, Span{To: day, Bin: time.Hour}, []Record{{At: 0, Source: 0, Destination: 1, Bytes: 100}, {At: 12 * time.Hour, Source: 0, Destination: 1, Bytes: 7}})
	windows, err := ParseWindows("mon 12-24")
	if err != nil {
		t.Fatal(err)
	}
	if got := observe(t, x, windows).Total(); got != 7 {
		t.Errorf("%d bytes in the window, want 7", got)
	}
}

func TestActivitiesOfDifferentClustersAreNotCompared(t *testing.T) {
	t.Parallel()
	traffic := knownChain(t, day)
	a := observe(t, traffic, OneWindow())
	b := observe(t, Part(traffic, 0, day/2), OneWindow())
	if _, err := Compare(a, b, OneWindow()); !errors.Is(err, ErrTopology) {
		t.Errorf("half a day against a day: %v", err)
	}
	m := fit(t, traffic, oneWindow)
	c := observe(t, table(t, topology(t, 1, 1, 4, false), Span{To: day, Bin: bin}, []Record{{Source: 3, Destination: 1, Bytes: 1}}), OneWindow())
	if _, err := Regenerate(t.Context(), m, c, Generation{Seed: 1, Workers: 1}, nil); !errors.Is(err, ErrTopology) {
		t.Errorf("another cluster: %v", err)
	}
}

// §C.5.3, Fig. C.15: more levels are closer to the original. The levels that do not
// know servers cannot tell a busy one from an idle one.
func TestMoreLevelsAreCloser(t *testing.T) {
	t.Parallel()
	traffic, err := NewSynthetic(SyntheticOptions{Groups: 3, RacksPerGroup: 2, ServersPerRack: 8, Weeks: 1, Bin: bin, Varying: 0.5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	original := observe(t, traffic, StudyWindows())
	found := map[string]Percent{}
	for _, b := range Baselines() {
		m, err := b.Fit(t.Context(), traffic, DefaultFit())
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		made, err := Regenerate(t.Context(), m, original, Generation{Seed: 1, Workers: 2}, nil)
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		d := compare(t, original, made, StudyWindows())
		found[b.Name] = d.Average.All()
		t.Logf("%-16s average %s, fluctuation %s, locality %s", b.Name, d.Average.All(), d.Fluctuation.All(), d.Locality.All())
	}
	if !(found["level 3"] < found["level 2"] && found["level 2"] < found["level 1"]) {
		t.Errorf("three levels %s, two %s, one %s", found["level 3"], found["level 2"], found["level 1"])
	}
	if !(found["level 3"] < found["infinite source"] && found["level 3"] < found["per user"]) {
		t.Errorf("three levels %s, infinite source %s, per user %s", found["level 3"], found["infinite source"], found["per user"])
	}
}

func TestCharacter(t *testing.T) {
	t.Parallel()
	top, span := topology(t, 1, 4, 2, true), Span{From: 4 * day, To: 6 * day, Bin: time.Hour}
	var records []Record
	for at := span.From; at < span.To; at += time.Hour {
		bytes := int64(100)
		if at >= 5*day {
			bytes = 120
		}
		for _, to := range []int32{1, 2, 4, 8} { // rack, neighbour, other, cloud
			records = append(records, Record{At: at, Source: 0, Destination: to, Bytes: bytes})
		}
	}
	c := observe(t, table(t, top, span, records), OneWindow()).Character()
	if !percentIs(c.SameRack, 25) || !percentIs(c.NeighbourRack, 25) || !percentIs(c.OtherRack, 25) || !percentIs(c.Cloud, 25) {
		t.Errorf("%s %s %s %s", c.SameRack, c.NeighbourRack, c.OtherRack, c.Cloud)
	}
	if !percentIs(c.Weekend, 120) || !percentIs(c.Hours[3], 100) || c.Hot[0].Server != 0 || c.Talkers[0].Peers != 4 {
		t.Errorf("weekend %s, hour %s, hot %+v, talkers %+v", c.Weekend, c.Hours[3], c.Hot[0], c.Talkers[0])
	}
}

// §C.4: the maps of server pairs are symmetric, as both directions are in them.
func TestMaps(t *testing.T) {
	t.Parallel()
	top, span := topology(t, 1, 2, 2, false), Span{To: 2 * time.Hour, Bin: time.Hour}
	a := observe(t, table(t, top, span, []Record{{At: 0, Source: 0, Destination: 1, Bytes: 3600}, {At: 0, Source: 1, Destination: 0, Bytes: 3600}, {At: time.Hour, Source: 0, Destination: 3, Bytes: 1800}}), OneWindow())
	pairs := a.PairMap()
	if pairs.Cells[0][1] != pairs.Cells[1][0] || pairs.Cells[0][1] == 0 || pairs.Cells[0][3] != pairs.Cells[3][0] || pairs.Cells[2][3] != 0 {
		t.Errorf("pairs %+v", pairs)
	}
	if racks := a.RackMap(); len(racks.Cells) != 2 || racks.Cells[0][1] != racks.Cells[1][0] || racks.Cells[0][0] != 1 {
		t.Errorf("racks %+v", racks)
	}
	servers := a.ServerMap()
	if len(servers.Cells) != 4 || len(servers.Cells[0]) != 2 || servers.Cells[0][0] != 1 || servers.Cells[2][0] != 0 || servers.Range <= 0 {
		t.Errorf("servers %+v", servers)
	}
}
