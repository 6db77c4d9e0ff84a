package admission

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, tolerance)
	}
}

// Delimitrou 2015, Eq. 6.1, and the equal ranges of §6.2.
func TestClassOfAnItem(t *testing.T) {
	t.Parallel()
	ask := &board.Request{Caused: []float64{80, 40, 0}, Tolerated: []float64{30, 100, 90}}
	for _, c := range []struct {
		config arqConfig
		want   int
	}{
		{arqConfig{classes: 10}, 4},                    // mean of 80, 40, 0 is 40
		{arqConfig{classes: 10, sensitivity: true}, 2}, // of 70, 0, 10
		{arqConfig{classes: 10, both: true}, 4},        // of 80, 40, 10
		{arqConfig{classes: 2}, 0},
	} {
		if got := (&arq{arqConfig: c.config}).class(ask); got != c.want {
			t.Errorf("%+v: class %d, want %d", c.config, got, c.want)
		}
	}
	if got := (&arq{arqConfig: arqConfig{classes: 10}}).class(&board.Request{}); got != 9 {
		t.Errorf("without scores: class %d", got)
	}
	for percent, want := range map[float64]int{-1: 0, 0: 0, 9.99: 0, 10: 1, 55: 5, 100: 9, 130: 9} {
		if got := levelOf(percent, 10); got != want {
			t.Errorf("%v %%: level %d, want %d", percent, got, want)
		}
	}
}

// §6.4: W = 0.05·CT − P, and S = 1.05·CT − P.
func TestWindow(t *testing.T) {
	t.Parallel()
	c := &arq{pools: &pools{}, arqConfig: arqConfig{classes: 10, period: time.Second, wait: time.Minute}}
	ask := &board.Request{Expected: 100 * time.Minute}
	q := c.qualityOf(Item{Ask: ask, Arrived: time.Hour, Ready: time.Hour + 2*time.Minute, Profile: time.Minute})
	if q.window != 3*time.Minute || q.deadline != time.Hour+5*time.Minute || q.last != q.deadline-2*time.Second {
		t.Errorf("%+v", q)
	}
	near(t, "S", q.slack, 103*60, 1e-6)
	ask.Expected = 0
	if q = c.qualityOf(Item{Ask: ask}); q.window != time.Minute || q.slack != 60 {
		t.Errorf("run time unknown: %+v", q)
	}
	ask.Expected, ask.SlowdownMax = time.Second, 0.2
	if q = c.qualityOf(Item{Ask: ask}); q.window != time.Second {
		t.Errorf("below a period: %+v", q)
	}
}

// Synthetic pools of a known distribution: the predicted chance of a free node
// against what happened, within 0.08, and the fitted distribution against the
// empirical one, within 0.05 (§6.4, Fig. 6.2).
func TestFreeNodeChance(t *testing.T) {
	t.Parallel()
	draws := map[string]func(*rand.Rand) float64{
		"normal":      func(r *rand.Rand) float64 { return max(1, 2600+400*r.NormFloat64()) },
		"exponential": func(r *rand.Rand) float64 { return 600 * r.ExpFloat64() },
		"lognormal":   func(r *rand.Rand) float64 { return math.Exp(5 + r.NormFloat64()) },
		"two kinds": func(r *rand.Rand) float64 {
			if r.IntN(3) == 0 {
				return 1000 + 100*r.NormFloat64()
			}
			return 300 * r.ExpFloat64()
		},
	}
	for name, draw := range draws {
		for _, nodes := range []int{5, 42} {
			t.Run(name, func(t *testing.T) { t.Parallel(); freeNodeChance(t, draw, nodes) })
		}
	}
}

// poolNode is busy from one moment to another, again and again.
type poolNode struct{ since, until float64 }

func freeNodeChance(t *testing.T, draw func(*rand.Rand) float64, nodes int) {
	random := rand.New(rand.NewPCG(7, uint64(nodes)))
	pool := make([]poolNode, nodes)
	var b busyPeriods
	at := func(s float64) Instant { return Instant(s * float64(time.Second)) }
	for i := range pool {
		pool[i].until = draw(random)
		b.begin(0)
	}
	type forecast struct{ predicted, seen, n float64 }
	forecasts := map[[2]int]*forecast{}
	mean := 0.0
	for step := range 30 * nodes * 10 {
		first := 0
		for i := range pool {
			if pool[i].until < pool[first].until {
				first = i
			}
		}
		now := pool[first].until
		b.end(at(pool[first].since))
		b.sample(at(now) - at(pool[first].since))
		pool[first] = poolNode{now, now + draw(random)}
		b.begin(at(now))
		mean += (pool[first].until - now - mean) / float64(step+1)
		if step < 600 || step%7 > 0 {
			continue
		}
		for _, r := range []int{1, 2, nodes / 2} {
			for part, share := range []float64{0.3, 1, 2} { // of the mean time until r are free
				within := share * mean * float64(r) / float64(nodes)
				p, ok := b.chance(at(now), within, r, 0)
				if !ok {
					t.Fatal("nothing is known")
				}
				free := 0
				for _, n := range pool {
					if n.until <= now+within {
						free++
					}
				}
				f := forecasts[[2]int{r, part}]
				if f == nil {
					f = &forecast{}
					forecasts[[2]int{r, part}] = f
				}
				f.predicted += p
				f.n++
				if free >= r {
					f.seen++
				}
			}
		}
	}
	for at, f := range forecasts {
		near(t, b.fit.Distribution.Name(), f.predicted/f.n, f.seen/f.n, 0.08)
		if t.Failed() {
			t.Fatalf("for %d nodes, part %d", at[0], at[1])
		}
	}
	near(t, b.fit.Distribution.Name()+": distance", b.fit.Distance, 0, poorFit)
}

// Cohorts hold every busy node once, whatever was merged.
func TestCohorts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	var b busyPeriods
	var busy []Instant
	now := Instant(0)
	for range 20_000 {
		now += Instant(random.IntN(int(time.Second)))
		if len(busy) < 300 || random.IntN(2) == 0 {
			b.begin(now)
			busy = append(busy, now)
		} else {
			i := random.IntN(len(busy))
			b.end(busy[i])
			busy[i] = busy[len(busy)-1]
			busy = busy[:len(busy)-1]
		}
		if len(b.cohorts) > mostCohorts {
			t.Fatalf("%d cohorts", len(b.cohorts))
		}
	}
	n, sum, want := 0, 0.0, 0.0
	for _, c := range b.cohorts {
		n += c.n
		sum += c.sum
	}
	for _, s := range busy {
		want += s.Seconds()
	}
	if n != len(busy) || b.total != n {
		t.Errorf("%d busy in cohorts, %d counted, %d there are", n, b.total, len(busy))
	}
	near(t, "sum of times", sum, want, 1e-6*want)
}

func testBoard(nodes int) *board.Board {
	b := board.New([]interference.Source{"a"}, []string{"one"})
	for range nodes {
		b.Add(board.Node{Total: cluster.Resources{CPUMHz: 4000, MemoryMB: 4000}, CoreMHz: 1000})
	}
	return b
}

// The switching rule: what decides fast agrees with the printed maximum on a
// grid; what is in a hopeless class cascades down, and keeps its seniority.
func TestSwitching(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	moved := 0
	for range 300 {
		c := newARQ(testBoard(1), arqConfig{classes: 10, period: time.Second, wait: time.Minute, windows: random.IntN(2) == 0})
		now := time.Hour
		for l := range c.pools.busy {
			for range 1 + random.IntN(6) {
				c.pools.busy[l].begin(now - Instant(random.Float64()*float64(time.Hour)))
			}
			slices.SortFunc(c.pools.busy[l].cohorts, func(a, b cohort) int { return int(a.first - b.first) })
		}
		c.runtime.add(time.Duration(1+random.IntN(60)) * time.Minute)
		ask := &board.Request{Caused: []float64{15 + 80*random.Float64()}, Expected: time.Duration(1+random.IntN(5)) * time.Hour}
		w := c.enter(Item{Ask: ask, Ready: now})
		w.quality = c.qualityOf(w.item)
		c.queues[w.quality.class].add(w)
		at := now + time.Duration(0.9*random.Float64()*float64(w.quality.window))
		got := c.leaves(at, w)
		i := w.quality.class
		stay, move := c.staying(at, w, i), c.moving(at, w, i-1)
		rest := (w.quality.deadline - at).Seconds()
		u := (at - now).Seconds()
		if want := move.best(w.quality.slack-u, rest) > stay.best(w.quality.slack-u, rest); got != want {
			t.Fatalf("leaves %v, the grid says %v", got, want)
		}
		if got {
			moved++
		}
	}
	if moved < 20 || moved > 280 {
		t.Errorf("%d of 300 moved: the cases are one-sided", moved)
	}
}

func TestCascadeKeepsSeniority(t *testing.T) {
	t.Parallel()
	b := testBoard(2)
	c := newARQ(b, arqConfig{classes: 10, period: time.Second, wait: time.Minute})
	for n := range board.Index(2) { // both are full of someone who ends some time
		b.Place(n, board.Resident{Handle: 1, Size: cluster.Resources{CPUMHz: 4000}, Tolerated: []float64{45}, Caused: []float64{5}})
	}
	c.runtime.add(time.Hour)
	ask := func(handle board.Handle, caused float64) *board.Request {
		return &board.Request{Handle: handle, Caused: []float64{caused}, Tolerated: []float64{100}, Expected: 100 * time.Hour, Size: cluster.Resources{CPUMHz: 1000}}
	}
	c.Arrive(0, Item{Ask: ask(3, 85)})
	c.Arrive(time.Second, Item{Ask: ask(4, 45), Arrived: time.Second, Ready: time.Second})
	drainAll(c, time.Second)
	// They would be free for class 8 as for any other, so the older item stays.
	// Once nothing can come free for the classes from 5 on, it cascades to class 4,
	// and is in front there.
	for l := 5; l < 10; l++ {
		c.pools.busy[l] = busyPeriods{}
	}
	at, ok := c.Wake()
	if !ok {
		t.Fatal("never wakes")
	}
	drainAll(c, at+time.Second)
	if q := c.queues[4].items; len(q) != 2 || q[0].handle != 3 || q[1].handle != 4 {
		t.Fatalf("queue 4 holds %d items", len(q))
	}
	if got := c.Report().Classes[8].Diverted; got != 4 {
		t.Errorf("%d diversions", got)
	}
}

func drainAll(c Controller, now Instant) {
	for a, ok := c.Next(now); ok; a, ok = c.Next(now) {
		c.Refused(now, a.Item.Ask.Handle)
	}
}
