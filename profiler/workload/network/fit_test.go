package network

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const bin = 5 * time.Minute

func topology(t testing.TB, groups, racks, servers int, cloud bool) Topology {
	t.Helper()
	top, err := NewTopology(slices.Repeat([]int{racks}, groups), slices.Repeat([]int{servers}, groups*racks), cloud)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func table(t testing.TB, top Topology, s Span, records []Record) *Table {
	t.Helper()
	out, err := NewTable(top, s, records)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fit(t testing.TB, traffic Traffic, change func(*FitOptions)) *Model {
	t.Helper()
	o := DefaultFit()
	o.DropBelow = 0
	if change != nil {
		change(&o)
	}
	m, err := Fit(t.Context(), traffic, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func oneWindow(o *FitOptions) { o.Windows = OneWindow() }

// knownChain is traffic of server 0 to its two peers: three quarters of its bytes
// to server 1 in messages of 1,000 bytes every 5 min, the rest to server 2 in
// messages of about 4,000 bytes every hour on average.
func knownChain(t testing.TB, span time.Duration) *Table {
	random := rand.New(rand.NewPCG(1, 1))
	var records []Record
	for at := time.Duration(0); at < span; at += bin {
		records = append(records, Record{At: at, Source: 0, Destination: 1, Bytes: 1000})
		if random.IntN(12) == 0 {
			records = append(records, Record{At: at, Source: 0, Destination: 2, Bytes: 3000 + random.Int64N(2001), Direction: Read})
		}
	}
	return table(t, topology(t, 1, 1, 3, false), Span{To: span, Bin: bin}, records)
}

func TestFitReturnsAKnownChain(t *testing.T) {
	t.Parallel()
	m := fit(t, knownChain(t, week), oneWindow)
	walk := m.Chains[0].Walk(ServerLevel, 0)
	sum := func(list []float64) float64 {
		total := 0.0
		for _, v := range list {
			total += v
		}
		return total
	}
	// 2,016 bins; one in 12 has a second message of 4,000 bytes in the mean.
	if got, want := sum(walk[1]), 0.75; math.Abs(got-want) > 0.03 {
		t.Errorf("share of server 1 is %.3f, want %.3f within the sampling error of 168 messages", got, want)
	}
	if got := sum(walk[1]) + sum(walk[2]); math.Abs(got-1) > 1e-12 {
		t.Errorf("the walk from a state sums to %g", got)
	}
	p := m.Chains[0].Pairs[0]
	if len(p.Features) != 1 || p.Features[0].GapSeconds != 300 || p.Features[0].Count != 2016 || p.Features[0].GapCV != 0 {
		t.Errorf("a message every five minutes is %+v", p.Features)
	}
	if got := m.Chains[0].Walk(ServerLevel, 1); len(got) != 0 {
		t.Errorf("a server that sends nothing has the transitions %v", got)
	}
}

// The fitted shares come closer to the chain as more is seen of it.
func TestMoreRecordsFitBetter(t *testing.T) {
	t.Parallel()
	away := func(days int) float64 {
		total := 0.0
		for seed := range uint64(8) {
			random := rand.New(rand.NewPCG(seed, 9))
			var records []Record
			for at := time.Duration(0); at < time.Duration(days)*day; at += bin {
				to := int32(1)
				if random.Float64() < 0.3 {
					to = 2
				}
				records = append(records, Record{At: at, Source: 0, Destination: to, Bytes: 1000})
			}
			m := fit(t, table(t, topology(t, 1, 1, 3, false), Span{To: time.Duration(days) * day, Bin: bin}, records), oneWindow)
			got := 0.0
			for _, v := range m.Chains[0].Walk(ServerLevel, 0)[2] {
				got += v
			}
			total += math.Abs(got - 0.3)
		}
		return total / 8
	}
	if few, many := away(1), away(49); many > few/3 {
		t.Errorf("mean error %.4f from a day, %.4f from seven weeks; seven times less is expected", few, many)
	}
}

// randomTraffic is any traffic of a small cluster.
func randomTraffic(t *rapid.T, cloud bool) *Table {
	racks := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "racks")
	total := 0
	for _, n := range racks {
		total += n
	}
	servers := rapid.SliceOfN(rapid.IntRange(2, 4), total, total).Draw(t, "servers")
	top, err := NewTopology(racks, servers, cloud)
	if err != nil {
		t.Fatal(err)
	}
	span := Span{To: time.Duration(rapid.IntRange(1, 300).Draw(t, "bins")) * bin, Bin: bin}
	var records []Record
	for range rapid.IntRange(1, 60).Draw(t, "records") {
		source := rapid.IntRange(0, top.Nodes()-1).Draw(t, "source")
		destination := (source + rapid.IntRange(1, top.Nodes()-1).Draw(t, "distance")) % top.Nodes()
		records = append(records, Record{
			At:     time.Duration(rapid.Int64Range(0, int64(span.To)-1).Draw(t, "at")),
			Source: int32(source), Destination: int32(destination),
			Bytes: rapid.Int64Range(1, 1<<40).Draw(t, "bytes"), Direction: Direction(rapid.IntRange(0, 1).Draw(t, "direction")),
		})
	}
	out, err := NewTable(top, span, records)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// §2.5 of the design: what every server sends and receives by the model, before any
// sampling, is what it sent and received. Rates and gaps agree with the window.
func TestPropertyExpectedIsTheOriginal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		traffic := randomTraffic(t, rapid.Bool().Draw(t, "cloud"))
		o := FitOptions{Windows: OneWindow(), Levels: ServerLevel, Workers: 1, TopPairs: rapid.IntRange(0, 3).Draw(t, "top")}
		m, err := Fit(t.Context(), traffic, o)
		if err != nil {
			t.Fatal(err)
		}
		sent, received := make([]float64, len(m.Topology.rackOf)+1), make([]float64, len(m.Topology.rackOf)+1)
		for _, r := range traffic.Records() {
			sent[r.Source] += float64(r.Bytes)
			received[r.Destination] += float64(r.Bytes)
		}
		gotSent, gotReceived := m.Expected()
		for node := range gotSent {
			if math.Abs(gotSent[node]-sent[node]) > 1e-9*sent[node]+1e-6 || math.Abs(gotReceived[node]-received[node]) > 1e-9*received[node]+1e-6 {
				t.Fatalf("node %d: %g sent and %g received, want %g and %g", node, gotSent[node], gotReceived[node], sent[node], received[node])
			}
		}
		for _, p := range m.Chains[0].Pairs {
			gaps := 0.0
			for _, f := range p.Features {
				gaps += f.Count * f.GapSeconds
			}
			if want := traffic.Span().To.Seconds(); math.Abs(gaps-want) > 1e-5*want {
				t.Fatalf("the gaps of a transition sum to %g s of %g", gaps, want)
			}
		}
		if limit := Transitions(m.Topology, ServerLevel, true) + o.TopPairs; m.Transitions() > limit {
			t.Fatalf("%d transitions, at most %d are possible", m.Transitions(), limit)
		}
	})
}

// The model and what it generates do not depend on how many work on it, and not on
// whether the model was written in between.
func TestSameBytesWhateverTheWorkers(t *testing.T) {
	t.Parallel()
	o := SyntheticOptions{Groups: 2, RacksPerGroup: 3, ServersPerRack: 6, Weeks: 1, Bin: bin, Varying: 0.5, Seed: 7}
	traffic, err := NewSynthetic(o)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(workers, top int) []byte {
		m := fit(t, traffic, func(f *FitOptions) { f.Workers, f.TopPairs = workers, top })
		out, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	one := encode(1, 5)
	for workers := range 4 {
		if !bytes.Equal(one, encode(workers+1, 5)) {
			t.Fatalf("%d workers fit another model", workers+1)
		}
	}
	m, err := ReadModel("model", bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	fitted := fit(t, traffic, func(f *FitOptions) { f.TopPairs = 5 })
	var first []Record
	for i, generate := range []*Model{fitted, m, m} {
		g, err := generate.Generate(t.Context(), Generation{Span: Span{To: 2 * day, Bin: bin}, Seed: 3, Workers: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = g.Records()
			continue
		}
		if !slices.Equal(first, g.Records()) {
			t.Fatalf("run %d generates other traffic", i)
		}
	}
	other, err := m.Generate(t.Context(), Generation{Span: Span{To: 2 * day, Bin: bin}, Seed: 4, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(first, other.Records()) {
		t.Error("another seed generates the same traffic")
	}
}

// A transition without variation is generated as often as it was seen, in bytes and
// in messages, whatever the seed.
func TestRegularTrafficComesOutExactly(t *testing.T) {
	t.Parallel()
	var records []Record
	for at := time.Duration(0); at < day; at += 2 * bin {
		records = append(records, Record{At: at, Source: 1, Destination: 0, Bytes: 777})
	}
	m := fit(t, table(t, topology(t, 1, 1, 2, false), Span{To: day, Bin: bin}, records), oneWindow)
	for seed := range uint64(20) {
		out, err := m.Generate(t.Context(), Generation{Span: Span{To: day, Bin: bin}, Seed: seed, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := out.Records()
		if len(got) != len(records) {
			t.Fatalf("seed %d: %d messages, want %d", seed, len(got), len(records))
		}
		for i, r := range got {
			if r.Bytes != 777 || r.Source != 1 || r.Destination != 0 || (i > 0 && (r.At-got[i-1].At-2*bin).Abs() > time.Millisecond) {
				t.Fatalf("seed %d: message %d is %+v", seed, i, r)
			}
		}
	}
}

// Irregular traffic comes out with the mean it had: over many seeds within the error
// of a mean.
// TestExactCounts: with exact counts a transition with bursts has as many records in its window as
// the original, and as many of each size, whatever the seed.
func TestExactCounts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	var records []Record
	small := 0
	for at := time.Duration(0); at < day; at += bin {
		switch { // an hour of two, in which most messages are small
		case at%(2*time.Hour) >= time.Hour:
		case random.IntN(4) == 0:
			records = append(records, Record{At: at, Source: 0, Destination: 1, Bytes: 500_000})
		default:
			small++
			records = append(records, Record{At: at, Source: 0, Destination: 1, Bytes: 1_000})
		}
	}
	span := Span{To: day, Bin: bin}
	m := fit(t, table(t, topology(t, 1, 1, 2, false), span, records), func(o *FitOptions) { o.Windows = []Window{{0, 0, 0, day}} })
	counts := map[bool][]int{}
	for _, exact := range []bool{true, false} {
		for seed := range uint64(20) {
			made, err := m.Generate(t.Context(), Generation{Span: span, Seed: seed, ExactCounts: exact, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, r := range made.Records() {
				if r.Bytes < 2_000 {
					n++
				}
			}
			counts[exact] = append(counts[exact], n)
			if all := len(made.Records()); exact && (all < len(records)-1 || all > len(records)+1) {
				t.Errorf("seed %d: %d records, the original has %d", seed, all, len(records))
			}
		}
	}
	if least, most := slices.Min(counts[true]), slices.Max(counts[true]); least < small-1 || most > small+1 {
		t.Errorf("%d to %d small messages with exact counts, the original has %d", least, most, small)
	}
	if slices.Max(counts[false])-slices.Min(counts[false]) < 10 {
		t.Errorf("small messages without exact counts: %v; the original has %d: the test is of no use", counts[false], small)
	}
}

func TestMeanOverSeedsIsTheOriginal(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	top := topology(t, 2, 2, 3, true)
	var records []Record
	for at := time.Duration(0); at < day; at += bin {
		for range 3 {
			r := Record{At: at, Source: random.Int32N(13), Destination: random.Int32N(13), Bytes: 1 + random.Int64N(100_000)}
			if r.Source != r.Destination && random.IntN(3) > 0 {
				records = append(records, r)
			}
		}
	}
	original := table(t, top, Span{To: day, Bin: bin}, records)
	m := fit(t, original, oneWindow)
	want, messages := 0.0, float64(len(records))
	for _, r := range records {
		want += float64(r.Bytes)
	}
	const seeds = 60
	var sums, counts []float64
	for seed := range uint64(seeds) {
		out, err := m.Generate(t.Context(), Generation{Span: original.Span(), Seed: seed, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, r := range out.Records() {
			sum += float64(r.Bytes)
		}
		sums, counts = append(sums, sum), append(counts, float64(len(out.Records())))
	}
	near := func(what string, list []float64, want float64) {
		mean, square := meanOf(list), 0.0
		for _, v := range list {
			square += (v - mean) * (v - mean)
		}
		// Four standard errors: one seed in 16,000 would fail by chance.
		if limit := 4*math.Sqrt(square/seeds/seeds) + 1e-6*want; math.Abs(mean-want) > limit {
			t.Errorf("mean %s over %d seeds is %.0f, want %.0f ± %.0f", what, seeds, mean, want, limit)
		}
	}
	near("bytes", sums, want)
	near("messages", counts, messages)
}

// The sums of what is sent and what is received are equal, as nothing is lost.
func TestPropertyGeneratedTrafficIsConserved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		traffic := randomTraffic(t, true)
		m, err := Fit(t.Context(), traffic, FitOptions{Windows: OneWindow(), Levels: Level(rapid.IntRange(1, 3).Draw(t, "levels")), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Generate(t.Context(), Generation{Span: traffic.Span(), Seed: rapid.Uint64().Draw(t, "seed"), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		a, err := Observe(t.Context(), out, OneWindow(), 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		var total, pairs int64
		for _, r := range out.Records() {
			total += r.Bytes
		}
		for _, v := range a.moved {
			pairs += v
		}
		if total != pairs || total != a.Total() {
			t.Fatalf("%d bytes were generated, %d counted by pair, %d in all", total, pairs, a.Total())
		}
	})
}

// §C.5.3: with the cloud, the loads of a subset's servers are those that they have in
// the whole.
func TestCloudKeepsTheLoadOfEveryServer(t *testing.T) {
	t.Parallel()
	whole, err := NewSynthetic(SyntheticOptions{Groups: 2, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: time.Hour, Varying: 0.5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sub, err := NewSubset(whole.Topology(), []int{2})
	if err != nil {
		t.Fatal(err)
	}
	tables, err := Extract(t.Context(), whole, []Subset{sub}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Observe(t.Context(), whole, StudyWindows(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	part, err := Observe(t.Context(), tables[0], StudyWindows(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	from, _ := whole.Topology().ServersOf(2)
	for s, bytes := range part.serverTotals() {
		if want := all.serverTotals()[from+s]; bytes != want || bytes == 0 {
			t.Errorf("server %d has %d bytes, want %d", s, bytes, want)
		}
	}
	if _, cloud := fit(t, tables[0], nil).Topology.Cloud(); !cloud {
		t.Error("the subset's model has no cloud")
	}
}

func TestTooSmallTransitionsAreDroppedAndCounted(t *testing.T) {
	t.Parallel()
	top := topology(t, 1, 1, 3, false)
	records := []Record{{At: 0, Source: 0, Destination: 1, Bytes: 1 << 30}, {At: bin, Source: 1, Destination: 2, Bytes: 100}}
	m := fit(t, table(t, top, Span{To: day, Bin: bin}, records), func(o *FitOptions) { oneWindow(o); o.DropBelow = DefaultDropBelow })
	c := m.Chains[0]
	if len(c.Pairs) != 1 || c.DroppedBytes != 100 || c.Bytes != 1<<30+100 || c.LargestLoss != 1 {
		t.Errorf("%d transitions, %g of %g bytes dropped, largest loss %g", len(c.Pairs), c.DroppedBytes, c.Bytes, c.LargestLoss)
	}
}

// Time that was not captured is neither time without traffic nor a gap.
func TestMissingBinsAreNoTime(t *testing.T) {
	t.Parallel()
	span := Span{To: 10 * bin, Bin: bin, Missing: []int{3, 4, 5, 6}}
	var records []Record
	for b := range 10 {
		if !span.missing(b) {
			records = append(records, Record{At: time.Duration(b) * bin, Source: 0, Destination: 1, Bytes: 50})
		}
	}
	top := topology(t, 1, 1, 2, false)
	m := fit(t, table(t, top, span, records), oneWindow)
	c := m.Chains[0]
	if c.Time != 6*bin || len(c.Pairs[0].Features) != 1 || c.Pairs[0].Features[0].GapSeconds != bin.Seconds() {
		t.Errorf("%s captured, %+v", c.Time, c.Pairs[0].Features)
	}
	out, err := m.Generate(t.Context(), Generation{Span: span, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Records()) != 6 {
		t.Errorf("%d messages, want 6", len(out.Records()))
	}
	if _, err := NewTable(top, span, []Record{{At: 3 * bin, Source: 0, Destination: 1, Bytes: 1}}); !errors.Is(err, ErrRecord) {
		t.Errorf("a record of a missing bin: %v", err)
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	traffic := knownChain(t, day)
	for name, c := range map[string]struct {
		change func(*FitOptions)
		want   string
	}{
		"a window without traffic": {func(o *FitOptions) { o.Windows = StudyWindows() }, "nothing was captured in the window thu-fri 00-06"},
		"overlapping windows":      {func(o *FitOptions) { o.Windows = append(OneWindow(), OneWindow()...) }, "overlap"},
		"no windows":               {func(o *FitOptions) { o.Windows = nil }, "there are none"},
		"levels":                   {func(o *FitOptions) { oneWindow(o); o.Levels = 4 }, "levels 4"},
		"exact pairs of racks":     {func(o *FitOptions) { oneWindow(o); o.Levels, o.TopPairs = RackLevel, 3 }, "exact pairs"},
		"all is dropped":           {func(o *FitOptions) { oneWindow(o); o.DropBelow = math.NaN() }, "drop below"},
	} {
		o := DefaultFit()
		c.change(&o)
		if _, err := Fit(t.Context(), traffic, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
