package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// lru counts the misses of a cache by keeping it: slow, and plain.
func lru(pages []int64, size int) int {
	var cache []int64 // the last touched is last
	misses := 0
	for _, p := range pages {
		at := -1
		for i, c := range cache {
			if c == p {
				at = i
			}
		}
		if at >= 0 {
			cache = append(cache[:at], cache[at+1:]...)
		} else {
			misses++
		}
		cache = append(cache, p)
		if len(cache) > size {
			cache = cache[1:]
		}
	}
	return misses
}

// Stack distances give the misses of every cache, here small ones that the histogram keeps
// exactly.
func TestMissRatiosAreThoseOfCaches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		n := rapid.IntRange(1, 300).Draw(rt, "ios")
		span := rapid.Int64Range(1, 60).Draw(rt, "pages")
		u := newReuse(1)
		u.room(rapid.IntRange(1, 80).Draw(rt, "room")) // so that it is often compacted
		var pages []int64
		for range n {
			r := storage.Record{Offset: rng.Int64N(span)*model.PageBytes + rng.Int64N(model.PageBytes), Bytes: 1 + rng.Int64N(2*model.PageBytes)}
			for p := r.Offset / model.PageBytes; p <= (r.End()-1)/model.PageBytes; p++ {
				pages = append(pages, p)
			}
			u.add(&r)
		}
		for _, size := range []int{1, 2, 5, 20, 100} {
			want := float64(lru(pages, size)) / float64(len(pages))
			got := u.missRatios([]int64{int64(size) * model.PageBytes})[0].MissRatio
			if math.Abs(got-want) > 1e-9 {
				rt.Fatalf("a cache of %d pages misses %g, want %g", size, got, want)
			}
		}
	})
}

// A sample of the pages tells the curve of all.
func TestSampledMissRatios(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	whole, sampled := newReuse(1), newReuse(0.1)
	for range 400_000 {
		// Four I/Os of five go to an eighth of the pages.
		page := rng.Int64N(40_000)
		if rng.IntN(5) > 0 {
			page /= 8
		}
		r := storage.Record{Offset: page * model.PageBytes, Bytes: model.PageBytes}
		whole.add(&r)
		sampled.add(&r)
	}
	sizes := cacheSizes(whole.footprint())
	a, b := whole.missRatios(sizes), sampled.missRatios(sizes)
	for i := range a {
		// Half of what the comparison allows.
		if math.Abs(a[i].MissRatio-b[i].MissRatio) > 0.025 {
			t.Errorf("cache %d: %g of all, %g of the sample", i, a[i].MissRatio, b[i].MissRatio)
		}
	}
	if ratio := float64(sampled.footprint()) / float64(whole.footprint()); math.Abs(ratio-1) > 0.05 {
		t.Errorf("the sample's footprint is %g of the whole", ratio)
	}
}

func TestReferenceDisk(t *testing.T) {
	t.Parallel()
	const device = 1 << 40
	d := newDisk(device)
	at := func(second int, offset, bytes int64) {
		d.add(&storage.Record{At: time.Duration(second) * time.Second, Offset: offset, Bytes: bytes})
	}
	at(0, 0, 150e6)         // where the head is: a second of transfer
	at(10, 150e6, 150e6)    // sequential: the same
	at(20, device/4, 150e6) // a seek of half of the long one, for its root is a half
	// The head is behind the second I/O, a little nearer than a quarter.
	distance := float64(device/4-300e6) / device
	seek := shortSeek.Seconds() + math.Sqrt(distance)*longSeek.Seconds() + halfTurn.Seconds()
	want := 3 / (3 + seek)
	if r := d.result(); math.Abs(r.IOPS-want) > 1e-6 || math.Abs(r.MeanMilliseconds-1e3*(3+seek)/3) > 1e-3 {
		t.Errorf("%+v, want %g IOPS", r, want)
	}
	// Two at once: the second waits for the first.
	q := newDisk(device)
	q.add(&storage.Record{Bytes: 150e6})
	q.add(&storage.Record{Offset: 150e6, Bytes: 150e6})
	if r := q.result(); math.Abs(r.MeanMilliseconds-1500) > 1e-3 || math.Abs(r.Depth-1.5) > 1e-6 {
		t.Errorf("%+v, want 1.5 s each and 1.5 outstanding", r)
	}
}

// five gives five I/Os of a second each.
type five struct{ n int }

// Next fills the next I/O.
func (f *five) Next(r *storage.Record) error {
	*r = storage.Record{Offset: int64(f.n) * 150e6, Bytes: 150e6}
	f.n++
	return nil
}

func TestClosedLoop(t *testing.T) {
	t.Parallel()
	c := newClosedLoop(&five{}, 1<<40, 2)
	var got []float64
	for range 5 {
		var r storage.Record
		if err := c.Next(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r.At.Seconds())
	}
	for i, want := range []float64{0, 0, 1, 2, 3} {
		if math.Abs(got[i]-want) > 1e-9 {
			t.Fatalf("I/Os at %v s, want two outstanding", got)
		}
	}
}

func TestDistances(t *testing.T) {
	t.Parallel()
	if d := apart([]float64{.5, .5, 0}, []float64{.25, .5, .25}); math.Abs(d-25) > 1e-9 {
		t.Errorf("a quarter is elsewhere, not %g %%", d)
	}
	if d := sizesApart([]SizeShare{{1, .6}, {2, .4}}, []SizeShare{{2, .4}, {3, .6}}); math.Abs(d-60) > 1e-9 {
		t.Errorf("60 %% have another size, not %g %%", d)
	}
	// A rare share is compared in points, another in percent of itself.
	if r := shareRow("x", 0.01, 0.03); r.Unit != "points" || math.Abs(*r.Difference-2) > 1e-9 || !*r.Met {
		t.Errorf("%+v", r)
	}
	if r := shareRow("x", 0.5, 0.6); r.Unit != "%" || math.Abs(*r.Difference-20) > 1e-9 || *r.Met {
		t.Errorf("%+v", r)
	}
	if r := newRow("x", "", 1).by(math.NaN()); r.Difference != nil || r.Met != nil || r.Verdict() != "not known" {
		t.Errorf("%+v", r)
	}
}

// The first level to which the next adds little, or a deeper one that is nearer.
func TestChoiceOfLevels(t *testing.T) {
	t.Parallel()
	levels := func(iops, apart []float64) []Level {
		var out []Level
		for i := range iops {
			out = append(out, Level{Levels: i + 1, IOPS: iops[i], MissApart: apart[i]})
		}
		return out
	}
	for name, c := range map[string]struct {
		iops, apart []float64
		want        int
	}{
		"settles at once": {[]float64{100, 101, 101}, []float64{3, 3, 3}, 1},
		"settles later":   {[]float64{100, 120, 121, 150}, []float64{9, 5, 5, 5}, 2},
		"nearer below":    {[]float64{100, 101, 101, 101}, []float64{9, 7, 2, 4}, 3},
		"never settles":   {[]float64{100, 110, 120}, []float64{5, 1, 9}, 2},
		"near before it":  {[]float64{100, 110, 111}, []float64{0, 5, 4}, 3},
		"one level":       {[]float64{100}, []float64{9}, 1},
	} {
		if got := choose(levels(c.iops, c.apart)) + 1; got != c.want {
			t.Errorf("%s: %d levels, want %d", name, got, c.want)
		}
	}
}
