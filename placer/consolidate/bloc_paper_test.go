package consolidate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

// The applications of the examples: websearch meets 5 ms up to 30 % of the rated bandwidth,
// webmail up to 70 % (§B.4.1).
const (
	websearch = iota
	webmail
)

const (
	ratedMB    = 400.
	megabyte   = 1e6
	gigabyte   = 1e9
	capacityGB = 1000.
)

// scene has some instances of both applications, an object each, and nodes of one type.
func scene(nodes int, instances ...int) *consolidate.Scene {
	s := &consolidate.Scene{
		Types: []consolidate.NodeType{{Name: "disk", BandwidthBytesPerSec: ratedMB * megabyte, CapacityBytes: capacityGB * gigabyte, Power: consolidate.AssumedPower(200, 4)}},
		Nodes: make([]int, nodes),
		Applications: []consolidate.Application{
			{Name: "websearch", MostBandwidth: []float64{0.30}, MostCapacity: []float64{0.9}},
			{Name: "webmail", MostBandwidth: []float64{0.70}, MostCapacity: []float64{0.9}},
		},
		Loss: [][][]float64{{{0.04, 0.02}, {0.03, 0.01}}},
	}
	for i, a := range instances {
		s.Instances = append(s.Instances, consolidate.Instance{Application: a})
		s.Objects = append(s.Objects, consolidate.Object{Instance: i, Share: 1})
	}
	return s
}

// demand gives all objects megabytes per second and gigabytes, in turns.
func demand(of ...[2]float64) []consolidate.Demand {
	var out []consolidate.Demand
	for _, d := range of {
		out = append(out, consolidate.Demand{BandwidthBytesPerSec: d[0] * megabyte, Bytes: d[1] * gigabyte})
	}
	return out
}

func nodesOf(p consolidate.Placement) int {
	on := map[int]bool{}
	for _, n := range p {
		on[n] = true
	}
	return len(on)
}

// §B.4.1, eq. B.1: the bin shrinks with its content. Webmail alone has 280 of 400 MB/s;
// websearch makes 120 of them, which are fewer than webmail uses: it needs a new node.
func TestPaperBinShrinks(t *testing.T) {
	t.Parallel()
	s := scene(2, webmail, websearch)
	d := demand([2]float64{150, 10}, [2]float64{20, 10})
	b := s.NewBin(0, d)
	b.Add(0)
	if most, _ := b.Most(); most != 280*megabyte {
		t.Errorf("webmail has %g MB/s", most/megabyte)
	}
	if got := b.Refuses(1, consolidate.PaperRules()); got != consolidate.Bandwidth {
		t.Errorf("websearch is refused for %q", got)
	}
	b.Add(1)
	if most, _ := b.Most(); most != 120*megabyte {
		t.Errorf("both have %g MB/s", most/megabyte)
	}
	b.Remove(1)
	if most, _ := b.Most(); most != 280*megabyte || b.Bandwidth != 150*megabyte {
		t.Errorf("webmail has %g MB/s again, of which %g are used", most/megabyte, b.Bandwidth/megabyte)
	}
	p, unplaced := s.Pack(d, nil, consolidate.PaperRules())
	if len(unplaced) != 0 || p[0] == p[1] {
		t.Errorf("placed at %v, not placed %v", p, unplaced)
	}
}

// §B.4.2, line 4: what is left after Δ_B, 2 % of the rated bandwidth, is strictly more.
func TestPaperMargin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		megabytes float64
		want      consolidate.Refusal
	}{{111, consolidate.Fits}, {112, consolidate.Bandwidth}, {121, consolidate.Bandwidth}} {
		s := scene(1, websearch, websearch)
		d := demand([2]float64{60, 1}, [2]float64{c.megabytes - 60, 1})
		b := s.NewBin(0, d)
		b.Add(0)
		if got := b.Refuses(1, consolidate.PaperRules()); got != c.want { // 120 − 8 MB/s
			t.Errorf("%g MB/s: %q, want %q", c.megabytes, got, c.want)
		}
	}
}

// §B.4.2, line 5: the same of capacity, without a margin; and line 6 of interference, after
// the object is on the node.
func TestPaperOtherConditions(t *testing.T) {
	t.Parallel()
	r := consolidate.PaperRules()
	s := scene(1, webmail, webmail)
	b := s.NewBin(0, demand([2]float64{1, 500}, [2]float64{1, 400}))
	b.Add(0)
	if got := b.Refuses(1, r); got != consolidate.Capacity {
		t.Errorf("900 of 900 GB: %q", got)
	}
	// Three websearch lose 2·4 % each, four 3·4 %.
	s = scene(1, websearch, websearch, websearch, websearch)
	b = s.NewBin(0, demand([2]float64{1, 1}, [2]float64{1, 1}, [2]float64{1, 1}, [2]float64{1, 1}))
	for o := range 3 {
		if got := b.Refuses(o, r); got != consolidate.Fits {
			t.Errorf("object %d: %q", o, got)
		}
		b.Add(o)
	}
	if got := b.WorstLoss(); got != 0.08 {
		t.Errorf("three lose %g", got)
	}
	if got := b.Refuses(3, r); got != consolidate.Interference {
		t.Errorf("the fourth: %q", got)
	}
	// As printed, the three pairs sum to 12 % already.
	r.SumOfMeans = true
	b.Remove(2)
	if got := b.Refuses(2, r); got != consolidate.Interference {
		t.Errorf("the sum of means of three: %q", got)
	}
	r.NoInterference = true
	if got := b.Refuses(2, r); got != consolidate.Fits {
		t.Errorf("without interference: %q", got)
	}
}

// The loop ends: an object with more demand than its limit is alone on a node, and one with
// more data than a node has is nowhere.
func TestOversizedObjects(t *testing.T) {
	t.Parallel()
	s := scene(3, websearch, websearch, webmail)
	p, unplaced := s.Pack(demand([2]float64{115, 1}, [2]float64{390, 1}, [2]float64{1, 2000}), nil, consolidate.PaperRules())
	if p[0] == p[1] || p[0] == consolidate.Nowhere || p[1] == consolidate.Nowhere {
		t.Errorf("placed at %v", p)
	}
	if !slices.Equal(unplaced, []int{2}) || p[2] != consolidate.Nowhere {
		t.Errorf("not placed %v", unplaced)
	}
}

// §B.3.1: pairs that no node supports are dropped, and the others sorted by what both lose.
// Support is that of the more random application.
func TestPaperPairs(t *testing.T) {
	t.Parallel()
	s := scene(4, websearch, webmail, webmail, websearch)
	d := demand([2]float64{70, 1}, [2]float64{40, 1}, [2]float64{60, 1}, [2]float64{60, 1})
	pairs, total := s.Pairs(d)
	if total != 6 {
		t.Errorf("%d pairs", total)
	}
	var got [][2]int
	for _, p := range pairs {
		got = append(got, [2]int{p.A, p.B})
	}
	// 0 and 2 need 130 of 120 MB/s, as 0 and 3; webmail with webmail loses 1 %, with
	// websearch 2.5 %.
	if want := [][2]int{{1, 2}, {0, 1}, {1, 3}, {2, 3}}; !slices.Equal(got, want) {
		t.Errorf("pairs %v, want %v", got, want)
	}
	if pairs[1].Interference != 0.025 {
		t.Errorf("websearch with webmail: %g", pairs[1].Interference)
	}
	if got, want := s.Order(d), []int{1, 2, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// Algorithm 1 never goes back to a node that refused; first-fit does.
func TestPaperNextFit(t *testing.T) {
	t.Parallel()
	s := scene(3, webmail, webmail, webmail)
	d := demand([2]float64{200, 1}, [2]float64{200, 1}, [2]float64{10, 1})
	for name, c := range map[string]struct {
		firstFit bool
		want     int
	}{"next-fit": {false, 1}, "first-fit": {true, 0}} {
		r := consolidate.PaperRules()
		r.FirstFit = c.firstFit
		bins := s.Bins(s.NewPlacement(), d)
		if unplaced := consolidate.Consolidate([]int{0, 1, 2}, bins, r); len(unplaced) != 0 {
			t.Errorf("%s: not placed %v", name, unplaced)
		}
		if !slices.Contains(bins[c.want].Objects, 2) {
			t.Errorf("%s: the third is not on node %d", name, c.want)
		}
	}
}

// Chunks of one instance are that instance: they lose nothing by one another. Chunks of
// another cause loss by their share, and suffer all of it.
func TestChunksLoseByShares(t *testing.T) {
	t.Parallel()
	s := scene(1, websearch, webmail)
	s.Objects = nil
	for i := range 2 {
		for range 4 {
			s.Objects = append(s.Objects, consolidate.Object{Instance: i, Share: 0.25})
		}
	}
	b := s.NewBin(0, make([]consolidate.Demand, 8))
	for o := range 4 {
		b.Add(o)
	}
	if got := b.WorstLoss(); got != 0 {
		t.Errorf("an instance loses %g by itself", got)
	}
	b.Add(4)
	if got := b.WorstLoss(); got != 0.03 {
		t.Errorf("a quarter of webmail loses %g by all of websearch", got)
	}
	s.Loss[0][webmail] = []float64{0, 0}
	if got := b.WorstLoss(); got != 0.005 {
		t.Errorf("websearch loses %g by a quarter of webmail", got)
	}
}

// §B.5.1: the three ways to predict, on both sides of the two thresholds.
func TestPaperPrediction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ wrong, want float64 }{
		{0, 100}, {0.29, (1-0.29*0.29)*100 + 0.29*0.29*200}, {0.30, 0.7*100 + 0.3*200}, {0.69, 0.31*100 + 0.69*200}, {0.70, 200}, {1, 200},
	} {
		if got := consolidate.Blend(100, 200, c.wrong); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("A = %g: %g, want %g", c.wrong, got, c.want)
		}
	}
}

// §B.5.1: R_h is the mean of the last seven days at the same time; A the part of the
// intervals in which it was off by more than 5 %.
func TestPaperForecast(t *testing.T) {
	t.Parallel()
	f := consolidate.NewForecast(12 * time.Hour)
	if _, ok := f.Next(); ok {
		t.Error("it predicts without any observation")
	}
	// Nights are 10, noons 100, 100, and then 102, 104 …: 2 % more every day.
	for day := range 9 {
		f.Observe(10)
		if got, _ := f.Next(); day == 0 && got != 10 {
			t.Errorf("on the first day: %g", got)
		}
		if day < 8 {
			f.Observe(100 + 2*float64(max(0, day-1)))
		}
	}
	// The noons of the days from the second on are 100, 102, 104, 106, 108, 110 and 112, and the
	// means before them 100, 100, 100.7, 101.5, 102.4, 103.3 and 104.3: the last three are off by
	// more than 5 %. The eight nights are not.
	if got, want := f.Wrong(), 3./15; math.Abs(got-want) > 1e-9 {
		t.Errorf("A = %g, want %g", got, want)
	}
	// The noons of the last seven days were 100, 102 … 112.
	a := 3. / 15
	if got, _ := f.Next(); math.Abs(got-((1-a*a)*106+a*a*10)) > 1e-9 {
		t.Errorf("it predicts %g", got)
	}
}

// A demand that repeats is predicted by history, once wrong predictions are few.
func TestForecastLearnsADay(t *testing.T) {
	t.Parallel()
	f := consolidate.NewForecast(30 * time.Minute)
	f.Window = 48
	for i := range 10 * 48 {
		f.Observe(demandAt(i))
		f.Next()
	}
	f.Observe(demandAt(480))
	got, _ := f.Next()
	if want := demandAt(481); math.Abs(got-want)/want > 0.01 {
		t.Errorf("%g instead of %g, A = %g", got, want, f.Wrong())
	}
}

// What was not seen is not 0: an interval without an observation is predicted by the days
// before, and counts neither as right nor as wrong.
func TestForecastWithGaps(t *testing.T) {
	t.Parallel()
	f := consolidate.NewForecast(12 * time.Hour)
	f.Skip()
	if v, ok := f.Next(); ok {
		t.Errorf("it predicts %g without any observation", v)
	}
	f.Observe(100) // noon of the first day
	f.Observe(10)
	f.Skip() // noon of the second day
	if got, ok := f.Next(); !ok || got != 10 {
		t.Errorf("the night after: %g, %t; that of the day before was 10", got, ok)
	}
	f.Observe(10)
	if a := f.Wrong(); a != 0 {
		t.Errorf("A = %g; of two nights, one is predicted, and rightly", a)
	}
	if got, _ := f.Next(); got != 100 {
		t.Errorf("noon: %g; the one that was seen had 100", got)
	}
}

func demandAt(i int) float64 { return 100 + 50*math.Sin(2*math.Pi*float64(i)/48) }

// Algorithm 2: the node that would be over its limit gives up what has the least data, and
// the rest stays.
func TestPaperUpdateMovesTheLeastData(t *testing.T) {
	t.Parallel()
	s := scene(3, webmail, webmail, webmail)
	d := demand([2]float64{150, 50}, [2]float64{150, 20}, [2]float64{100, 5})
	plan := s.Update(consolidate.Placement{0, 0, 1}, d, consolidate.PaperRules())
	if want := (consolidate.Placement{0, 1, 1}); !slices.Equal(plan.Next, want) {
		t.Errorf("placed at %v, want %v", plan.Next, want)
	}
	if len(plan.Moves) != 1 || plan.Moves[0].Object != 1 || plan.Moves[0].Reason != consolidate.Bandwidth {
		t.Errorf("moves %+v", plan.Moves)
	}
	// Where no node in use has room, an empty one is switched on.
	d = demand([2]float64{150, 50}, [2]float64{150, 20}, [2]float64{270, 5})
	plan = s.Update(consolidate.Placement{0, 0, 1}, d, consolidate.PaperRules())
	if !slices.Equal(plan.Next, consolidate.Placement{0, 2, 1}) || !slices.Equal(plan.SwitchOn, []int{2}) {
		t.Errorf("placed at %v, switched on %v", plan.Next, plan.SwitchOn)
	}
	// Where there is none at all, it stays.
	s.Nodes = s.Nodes[:2]
	plan = s.Update(consolidate.Placement{0, 0, 1}, d, consolidate.PaperRules())
	if len(plan.Moves) != 0 || !slices.Equal(plan.Unplaced, []int{1}) {
		t.Errorf("moves %+v, without a node %v", plan.Moves, plan.Unplaced)
	}
}

// The loop looks at interference, which Algorithm 2 as printed does not: four websearch on a
// node lose 12 %, so one leaves.
func TestUpdateLooksAtInterference(t *testing.T) {
	t.Parallel()
	s := scene(2, websearch, websearch, websearch, websearch)
	d := demand([2]float64{1, 5}, [2]float64{1, 5}, [2]float64{1, 4}, [2]float64{1, 5})
	plan := s.Update(consolidate.Placement{0, 0, 0, 0}, d, consolidate.PaperRules())
	if !slices.Equal(plan.Next, consolidate.Placement{0, 0, 1, 0}) || plan.Moves[0].Reason != consolidate.Interference {
		t.Errorf("%+v", plan)
	}
}

// A node is emptied where another takes all it has and moving that pays: 10 GB are in 30
// minutes of 8 MB/s; 200 GB are not, so it takes several.
func TestShrinking(t *testing.T) {
	t.Parallel()
	s := scene(2, webmail, webmail)
	d := demand([2]float64{20, 300}, [2]float64{20, 10})
	plan := s.Update(consolidate.Placement{0, 1}, d, consolidate.PaperRules())
	if !slices.Equal(plan.Next, consolidate.Placement{0, 0}) || !slices.Equal(plan.SwitchOff, []int{1}) || plan.Moves[0].Reason != consolidate.Emptying {
		t.Errorf("%+v", plan)
	}
	r := consolidate.PaperRules()
	r.NoShrink = true
	if plan := s.Update(consolidate.Placement{0, 1}, d, r); len(plan.Moves) != 0 {
		t.Errorf("as printed, it moves %+v", plan.Moves)
	}
	// It does not pay where the node would be off for a moment only.
	r = consolidate.PaperRules()
	r.OffExpected = time.Minute
	if plan := s.Update(consolidate.Placement{0, 1}, d, r); len(plan.Moves) != 0 {
		t.Errorf("for a minute, it moves %+v", plan.Moves)
	}
	// Chunks of 5 GB move two at a time.
	s = scene(2, webmail, webmail)
	s.Objects = []consolidate.Object{{Instance: 0, Share: 1}}
	d = demand([2]float64{20, 300})
	at := consolidate.Placement{0}
	for range 5 {
		s.Objects = append(s.Objects, consolidate.Object{Instance: 1, Share: 0.2})
		d = append(d, demand([2]float64{4, 5})...)
		at = append(at, 1)
	}
	for _, want := range []int{2, 2, 1} {
		plan := s.Update(at, d, consolidate.PaperRules())
		if len(plan.Moves) != want {
			t.Fatalf("%d moves, want %d: %+v", len(plan.Moves), want, plan.Moves)
		}
		at = plan.Next
	}
	if nodesOf(at) != 1 {
		t.Errorf("placed at %v", at)
	}
}

// §6, tests: without a change of the demand nothing moves.
func TestUpdateSettles(t *testing.T) {
	t.Parallel()
	s := scene(8, websearch, webmail, websearch, webmail, webmail, websearch)
	d := demand([2]float64{30, 8}, [2]float64{70, 9}, [2]float64{20, 7}, [2]float64{110, 9}, [2]float64{40, 6}, [2]float64{25, 5})
	p := consolidate.Placement{0, 1, 2, 3, 4, 5}
	for range len(s.Nodes) {
		p = s.Update(p, d, consolidate.PaperRules()).Next
	}
	if n := nodesOf(p); n > 3 {
		t.Errorf("%d nodes are on", n)
	}
	if plan := s.Update(p, d, consolidate.PaperRules()); len(plan.Moves)+len(plan.SwitchOn)+len(plan.SwitchOff) != 0 {
		t.Errorf("it moves on: %+v", plan)
	}
}
