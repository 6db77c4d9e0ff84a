package admission

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Delimitrou 2015, Eq. 7.1–7.4: the unit is read in the workload's order.
func TestDemand(t *testing.T) {
	t.Parallel()
	d := demandOf([]float64{31, 84})
	if !d.keeps([]float64{99, 10}) {
		t.Error("pressed on where it does not matter")
	}
	if d.keeps([]float64{0, 50}) {
		t.Error("T = 0.84, U = 0.5")
	}
	if d.keeps([]float64{99, 99}) || !d.keeps([]float64{0, 0}) {
		t.Error("full and empty units")
	}
}

// Eq. 7.3: the mean over the other M − 1 units.
func TestContention(t *testing.T) {
	t.Parallel()
	b := testBoard(1) // 4 units
	out := make([]float64, 1)
	b.Contention(0, out)
	near(t, "empty", out[0], 0, 0)
	b.Place(0, board.Resident{Handle: 1, Size: cluster.Resources{CPUMHz: 2000}, Caused: []float64{60}, Tolerated: []float64{50}})
	b.Place(0, board.Resident{Handle: 2, Size: cluster.Resources{CPUMHz: 500, MemoryMB: 1000}, Caused: []float64{30}, Tolerated: []float64{50}})
	b.Contention(0, out)
	near(t, "C", out[0], (60+60+30)/3.0, 1e-9)
	if got := b.FreeUnits(0); got != 1 {
		t.Errorf("%d units are free, 2.5 cores of 4 are held", got)
	}
	one := b.Add(board.Node{Total: cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}, CoreMHz: 1000})
	b.Place(one, board.Resident{Handle: 3, Size: cluster.Resources{CPUMHz: 500}, Caused: []float64{60}, Tolerated: []float64{50}})
	b.Contention(one, out)
	near(t, "M = 1", out[0], 0, 0)
}

// The counters agree with a count from nothing, through changes, lost nodes and
// new layouts.
func TestBucketsAgainstCounting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	b := board.New([]interference.Source{"a", "b"}, []string{"one", "two", "three"})
	for i := range 12 {
		b.Add(board.Node{Configuration: i % 3, Total: cluster.Resources{CPUMHz: 8000, MemoryMB: 8000}, CoreMHz: 1000})
	}
	w := newWatcher(b)
	k := newBuckets(b, defaultBuckets, random)
	type resident struct {
		n      board.Index
		handle board.Handle
	}
	var live []resident
	for step := range 5000 {
		n := board.Index(random.IntN(b.Len()))
		switch {
		case len(live) > 0 && random.IntN(2) == 0:
			i := random.IntN(len(live))
			if err := b.Remove(live[i].n, live[i].handle); err != nil {
				t.Fatal(err)
			}
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
		case random.IntN(20) == 0:
			b.SetReady(n, !b.Ready(n))
		case b.Fits(n, cluster.Resources{CPUMHz: 1000}):
			live = append(live, resident{n, board.Handle(step)})
			b.Place(n, board.Resident{
				Handle: board.Handle(step), Size: cluster.Resources{CPUMHz: 1000 + 500*random.IntN(3)},
				Tolerated: []float64{50, 50}, Caused: []float64{90 * random.Float64(), 90 * random.Float64()},
			})
		}
		w.each(func(n board.Index, _ bool) { k.update(Instant(step)*time.Second, n) })
	}
	if k.layout < 3 {
		t.Errorf("laid out %d times", k.layout)
	}
	free := make([]int, 3)
	used := 0
	for i := range k.list {
		free[k.list[i].configuration] += k.list[i].free
		if k.list[i].known {
			used++
		}
		for _, v := range k.list[i].center {
			if v < -1e-6 || math.IsNaN(v) {
				t.Errorf("center %v", k.list[i].center)
			}
		}
	}
	want := make([]int, 3)
	for n := range board.Index(b.Len()) {
		want[b.Node(n).Configuration] += b.FreeUnits(n)
	}
	for c := range want {
		if free[c] != want[c] {
			t.Errorf("configuration %d: %d free in buckets, %d there are", c, free[c], want[c])
		}
	}
	if len(k.list) > defaultBuckets || used < 5 {
		t.Errorf("%d buckets, %d ever used", len(k.list), used)
	}
}

// §7.4.2, Fig. 7.6: on three buckets with different frees, the estimate of the
// wait is within 8 % of the measured one on average.
func TestWaitEstimate(t *testing.T) {
	t.Parallel()
	gaps := map[string]func(*rand.Rand) float64{
		"memoryless": func(r *rand.Rand) float64 { return 2 * r.ExpFloat64() },
		"regular":    func(r *rand.Rand) float64 { return max(0, 3+0.5*r.NormFloat64()) },
		"in bursts": func(r *rand.Rand) float64 {
			if r.IntN(3) > 0 {
				return 0
			}
			return 12 * r.ExpFloat64()
		},
	}
	config := tarcilConfig{sigmas: 2, history: 2 * time.Hour}
	for name, gap := range gaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(11, 11))
			var times []float64
			for at := 0.0; len(times) < 60_000; {
				at += gap(random)
				times = append(times, at)
			}
			for _, k := range []int{1, 2, 5, 20} {
				b := &buckets{list: make([]bucket, 1)}
				f := &b.list[0].frees
				next, n, within := 0, 0.0, 0.0
				var estimated, measured float64
				for ask := times[1000]; ask < times[len(times)-100]; ask += 40 * random.Float64() {
					for times[next] <= ask {
						f.add(Instant(times[next]*float64(time.Second)), 1)
						next++
					}
					w, ok := b.estimate([]int32{0}, Instant(ask*float64(time.Second)), k, config, 1)
					if !ok {
						t.Fatal("nothing is known")
					}
					real := times[next+k-1] - ask
					estimated += w.mean.Seconds()
					measured += real
					n++
					if real <= w.bound.Seconds() {
						within++
					}
				}
				near(t, "mean estimate over mean wait", estimated/measured, 1, 0.08)
				if within/n < 0.9 {
					t.Errorf("%d frees: %.3f of the waits are within μ + 2σ", k, within/n)
				}
			}
		})
	}
}

// Two buckets together are one of the sum of their rates.
func TestBucketsAddUp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 12))
	b := &buckets{list: make([]bucket, 3)}
	now, at := 0.0, [2]float64{}
	for i := range at {
		for range 500 {
			at[i] += random.ExpFloat64() * float64(1+i) * 3
			b.list[i].frees.add(Instant(at[i]*float64(time.Second)), 1)
		}
		now = max(now, at[i])
	}
	w, ok := b.estimate([]int32{0, 1, 2}, Instant(now*float64(time.Second)), 1, tarcilConfig{sigmas: 2, history: 24 * time.Hour}, 1)
	if !ok {
		t.Fatal("nothing is known")
	}
	near(t, "mean of rates 1/3 and 1/6", w.mean.Seconds(), 2, 0.25)
	if _, ok := b.estimate([]int32{2}, 0, 1, tarcilConfig{history: time.Hour}, 1); ok {
		t.Error("an estimate from nothing")
	}
}

// What is older than the history, or has fallen out of the ring, does not count.
func TestFreesForget(t *testing.T) {
	t.Parallel()
	var f frees
	for i := range 100 {
		f.add(Instant(i)*time.Hour, 1)
	}
	for i := range 11 {
		f.add(200*time.Hour+Instant(i)*time.Second, 1)
	}
	now := 200*time.Hour + time.Minute
	if s := f.summary(now, 2*time.Hour); s.n != 10 || math.Abs(s.mean-1) > 1e-9 || s.variance > 1e-9 {
		t.Errorf("of the last two hours: %+v", s)
	}
	f.add(now, 2*keptFrees)
	if s := f.summary(now, 2*time.Hour); s.n != keptFrees-1 || s.mean != 0 {
		t.Errorf("of the last %d frees: %+v", keptFrees, s)
	}
}

// tarcilOn is a controller on one node whose units come free one by one, with a
// gap of a second.
func tarcilOn(t *testing.T) (*tarcil, *board.Board, Instant) {
	t.Helper()
	b := board.New([]interference.Source{"a"}, []string{"one"})
	b.Add(board.Node{Total: cluster.Resources{CPUMHz: 50_000}, CoreMHz: 1000})
	c, err := tarcilDescriptor.New(b, Options{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		b.Place(0, board.Resident{Handle: board.Handle(100 + i), Size: cluster.Resources{CPUMHz: 1000}, Tolerated: []float64{100}, Caused: []float64{1}})
	}
	now := Instant(0)
	c.Started(now, 0, 0)
	for i := range 30 {
		now += time.Second + Instant(i%3)*100*time.Millisecond
		if err := b.Remove(0, board.Handle(100+i)); err != nil {
			t.Fatal(err)
		}
		c.Ended(now, 0, 0)
		b.Place(0, board.Resident{Handle: board.Handle(100 + i), Size: cluster.Resources{CPUMHz: 1000}, Tolerated: []float64{100}, Caused: []float64{1}})
		c.Started(now, 0, 0)
	}
	return c.(*tarcil), b, now
}

func unitAsk(handle board.Handle) *board.Request {
	return &board.Request{Handle: handle, Count: 1, Size: cluster.Resources{CPUMHz: 1000}, Caused: []float64{1}, Tolerated: []float64{100}}
}

// §7.3.4: what waits leaves as soon as units appear, in order of priority, and
// at UB whatever happens, for any room or late binding.
func TestTarcilWaits(t *testing.T) {
	t.Parallel()
	c, b, now := tarcilOn(t)
	c.Arrive(now, Item{Ask: unitAsk(1), Ready: now})
	if a, ok := c.Next(now); ok {
		t.Fatalf("no unit is free, and it does not wait: %+v", a)
	}
	important := unitAsk(2)
	important.Priority = 90
	c.Arrive(now, Item{Ask: important, Arrived: now, Ready: now})
	first := c.items[1].bucket.estimate
	if first.mean < 400*time.Millisecond || first.mean > 700*time.Millisecond || first.bound > 3*time.Second {
		t.Errorf("frees every 1.1 s: %+v", first)
	}
	if err := b.Remove(0, 140); err != nil {
		t.Fatal(err)
	}
	now += 100 * time.Millisecond
	a, ok := c.Next(now)
	if !ok || a.Item.Ask.Handle != 2 || a.Forced || a.Late {
		t.Fatalf("a unit came free for the important one: %+v, %v", a, ok)
	}
	b.Place(0, board.Resident{Handle: 2, Size: important.Size, Tolerated: []float64{100}, Caused: []float64{1}})
	c.Placed(now, 2)
	if a, ok := c.Next(now); ok {
		t.Fatalf("no unit is left: %+v", a)
	}
	bound, ok := c.Wake()
	if !ok || bound > c.items[1].bucket.since+first.bound {
		t.Fatalf("wakes at %v, the bound is %v", bound, first.bound)
	}
	if _, ok = c.Next(bound - 1); ok {
		t.Error("offered before its bound")
	}
	if a, ok = c.Next(bound); !ok || !a.Forced || !a.Late {
		t.Fatalf("at its bound: %+v, %v", a, ok)
	}
	c.Refused(bound, 1)
	if _, ok = c.Next(bound); ok {
		t.Error("offered again although nothing changed")
	}
	if err := b.Remove(0, 141); err != nil {
		t.Fatal(err)
	}
	if a, ok = c.Next(bound + 1); !ok || !a.Late {
		t.Fatalf("room came: %+v, %v", a, ok)
	}
	c.Placed(bound+1, 1) // bound to two busy units, say: it is out of our hands
	if _, ok = c.Next(bound + 1); ok || c.Waiting() != 0 {
		t.Errorf("%d wait", c.Waiting())
	}
	r := c.Report()
	if r.Waits.Held != 2 || r.Waits.Served != 1 || r.Waits.Expired != 1 || r.Classes[0].Forced != 1 {
		t.Errorf("report %+v", r)
	}
}

// §7.3.4: est ≥ UB is not worth waiting for, nor is what nobody knows.
func TestTarcilDoesNotWaitInVain(t *testing.T) {
	t.Parallel()
	c, _, now := tarcilOn(t)
	c.caution = cautionFactor // every estimate was too low
	c.Arrive(now, Item{Ask: unitAsk(1), Ready: now})
	if a, ok := c.Next(now); !ok || !a.Late {
		t.Errorf("est ≥ UB: %+v, %v", a, ok)
	}
	if c.caution >= cautionFactor {
		t.Error("caution does not fade")
	}
	b := testBoard(1)
	b.Place(0, board.Resident{Handle: 9, Size: cluster.Resources{CPUMHz: 4000}, Tolerated: []float64{1}, Caused: []float64{1}})
	fresh, err := tarcilDescriptor.New(b, Options{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	fresh.Arrive(0, Item{Ask: unitAsk(1)})
	if a, ok := fresh.Next(0); !ok || !a.Late {
		t.Errorf("no history: %+v, %v", a, ok)
	}
}

// The platform counts as well: units too slow for an ask are not suitable.
func TestSuitablePlatforms(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{"a"}, []string{"slow", "fast"})
	for i := range 2 {
		b.Add(board.Node{Configuration: i, Total: cluster.Resources{CPUMHz: 4000}, CoreMHz: 1000})
	}
	k := newBuckets(b, defaultBuckets, rand.New(rand.NewPCG(1, 1)))
	for n := range board.Index(2) {
		k.update(0, n)
	}
	for _, c := range []struct {
		speed []float64
		want  int
	}{{nil, 8}, {[]float64{1, 2}, 4}, {[]float64{1.95, 2}, 8}, {[]float64{math.NaN(), 2}, 8}, {[]float64{2, math.NaN()}, 8}} {
		a := &board.Request{Caused: []float64{10}, Speed: c.speed, SlowdownMax: 0.05}
		if got := k.free(k.suitable(a, demandOf(a.Caused), nil)); got != c.want {
			t.Errorf("speeds %v: %d units, want %d", c.speed, got, c.want)
		}
	}
}
