package lotes_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

// table1 are the machines of the Google trace (§5.3.1).
var table1 = []struct {
	machines      int
	cores, memory float64
}{
	{6732, 0.50, 0.50}, {3863, 0.50, 0.25}, {1001, 0.50, 0.75}, {795, 1.00, 1.00}, {126, 0.25, 0.25},
	{52, 0.50, 0.12}, {5, 0.50, 0.03}, {5, 0.50, 0.97}, {3, 1.00, 0.50}, {1, 1.00, 0.06},
}

// google is tables 1 and 2; the unit of time is an hour.
func google() lotes.Program {
	p := lotes.Program{}
	for i, c := range table1 {
		p.Configurations = append(p.Configurations, lotes.Configuration{Name: fmt.Sprint(i), Machines: c.machines, Capacity: []float64{c.cores, c.memory}})
	}
	for _, c := range []struct{ hours, cores, memory, share float64 }{
		{0.03, 0.02, 0.01, 0.23}, {0.04, 0.02, 0.03, 0.46}, {0.04, 0.07, 0.03, 0.30}, {0.03, 0.20, 0.06, 0.01},
	} {
		p.Classes = append(p.Classes, lotes.Class{Share: c.share, Need: []float64{c.cores, c.memory}, Rate: slices.Repeat([]float64{1 / c.hours}, len(table1))})
	}
	return p
}

func within(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: %.9g, want %.9g", what, got, want)
	}
}

func TestGoldenAllocation(t *testing.T) {
	t.Parallel()
	p := google()
	a, err := lotes.Allocate(&p)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "λ of stage 1", a.Lambda, 4730796.586, 1e-9)
	full, err := lotes.AllocateFull(&p)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "λ of the program as printed", full, 4730796.586, 1e-9)
}

func TestGoldenAssignment(t *testing.T) {
	t.Parallel()
	p := google()
	all := make([][]int, len(p.Configurations))
	want := []int{139, 74, 160, 812, 29, 22, 3, 160, 409, 7}
	sum := 0
	for j := range all {
		all[j] = []int{0, 1, 2, 3}
		bins, ok := p.Bins(j, all[j], 1e6)
		if !ok || len(bins) != want[j] {
			t.Errorf("configuration %d: %d bins, want %d", j, len(bins), want[j])
		}
		sum += len(bins)
	}
	a, err := lotes.Assign(&p, all)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "λ of stage 2, all pairings", a.Lambda, 4730689.90, 1e-8)
	if a.Bins != 1815 || sum != 1815 {
		t.Errorf("%d bins, want 1,815", a.Bins)
	}
	vertex, err := lotes.Make(p, lotes.Support)
	if err != nil {
		t.Fatal(err)
	}
	if share := vertex.Binned / vertex.Pooled; share < 0.97 || share > 1 {
		t.Errorf("stage 2 on the support of one vertex keeps %.4f of stage 1, about 0.9933 published with the specification", share)
	}
	near, err := lotes.Make(p, lotes.Near)
	if err != nil {
		t.Fatal(err)
	}
	// A vertex uses at most one bin for each of the 14 rows, so 14 of 12,583 machines
	// change their bin at most.
	if loss := 1 - near.Served/near.Binned; loss < 0 || loss > 14.0/12583 {
		t.Errorf("rounding loses %.4f %%", 100*loss)
	}
	if near.Binned < vertex.Binned*(1-1e-9) {
		t.Errorf("more pairings serve less: %v, %v", near.Binned, vertex.Binned)
	}
	t.Logf("support %.6g (%.4f of stage 1), near %.9g (%d bins), all %.9g; rounding loses %.4f %% and %.4f %%",
		vertex.Binned, vertex.Binned/vertex.Pooled, near.Binned, near.Bins, a.Lambda, 100*(1-near.Served/near.Binned), 100*(1-vertex.Served/vertex.Binned))
}

// §4.1: two machines of five, jobs of three: 10/3 pooled, 2 in bins.
func TestFluidForgetsFragmentation(t *testing.T) {
	t.Parallel()
	p := lotes.Program{
		Configurations: []lotes.Configuration{{Machines: 2, Capacity: []float64{5}}},
		Classes:        []lotes.Class{{Share: 1, Need: []float64{3}, Rate: []float64{1}}},
	}
	plan, err := lotes.Make(p, lotes.Near)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "pooled", plan.Pooled, 10.0/3, 1e-9)
	within(t, "in bins", plan.Binned, 2, 1e-9)
	// §2: 30 machines of eight processors, jobs of three.
	p.Configurations[0] = lotes.Configuration{Machines: 30, Capacity: []float64{8}}
	if plan, err = lotes.Make(p, lotes.Near); err != nil {
		t.Fatal(err)
	}
	within(t, "pooled", plan.Pooled, 80, 1e-9)
	within(t, "in bins", plan.Binned, 60, 1e-9)
}

func two(capacity float64, needs ...float64) lotes.Program {
	p := lotes.Program{Configurations: []lotes.Configuration{{Machines: 1, Capacity: []float64{capacity}}}}
	for _, n := range needs {
		p.Classes = append(p.Classes, lotes.Class{Share: 1, Need: []float64{n}, Rate: []float64{1}})
	}
	return p
}

// Fig. 5: capacity 7, sizes 2 and 3.
func TestFeasibleBins(t *testing.T) {
	t.Parallel()
	p := two(7, 2, 3)
	got, _ := p.Bins(0, []int{0, 1}, 100)
	slices.SortFunc(got, func(a, b lotes.Bin) int { return slices.Compare(b, a) })
	if want := []lotes.Bin{{3, 0}, {2, 1}, {0, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	printed := algorithm1(&p, []int{0, 1})
	if !slices.ContainsFunc(printed, func(b lotes.Bin) bool { return slices.Equal(b, lotes.Bin{1, 1}) }) {
		t.Errorf("the printed procedure also emits (1,1), which is dominated: %v", printed)
	}
}

// algorithm1 is the procedure as printed, with nextBin reset each round.
func algorithm1(p *lotes.Program, support []int) []lotes.Bin {
	capacity := p.Configurations[0].Capacity
	n := len(support)
	fits := func(bin []int, x int) bool {
		for l, c := range capacity {
			used := p.Classes[support[x]].Need[l]
			for y, m := range bin {
				used += float64(m) * p.Classes[support[y]].Need[l]
			}
			if used > c+1e-9 {
				return false
			}
		}
		return true
	}
	var out []lotes.Bin
	emit := func(bin []int) {
		b := make(lotes.Bin, len(p.Classes))
		for y, m := range bin {
			b[support[y]] = int32(m)
		}
		out = append(out, b)
	}
	bin, added := make([]int, n), []int(nil)
	x := 0
	for first := 0; first < n; {
		filled := false
		for ; x < n; x++ {
			for fits(bin, x) {
				bin[x]++
				added = append(added, x)
				filled = true
			}
		}
		if filled || len(added) > 0 {
			emit(bin)
		}
		if len(added) == 0 {
			break
		}
		last := added[len(added)-1]
		added = added[:len(added)-1]
		bin[last]--
		x = last + 1
		if len(added) == 0 {
			first++
			x = first
		}
	}
	return out
}

// The printed procedure, without what is dominated, lists the same bins.
func TestBinsAsAlgorithm1(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		resources, classes := 1+rng.IntN(3), 1+rng.IntN(4)
		p := lotes.Program{Configurations: []lotes.Configuration{{Machines: 1}}}
		for range resources {
			p.Configurations[0].Capacity = append(p.Configurations[0].Capacity, float64(5+rng.IntN(10)))
		}
		var support []int
		for k := range classes {
			c := lotes.Class{Share: 1, Rate: []float64{1}}
			for range resources {
				c.Need = append(c.Need, float64(1+rng.IntN(5)))
			}
			p.Classes, support = append(p.Classes, c), append(support, k)
		}
		got, ok := p.Bins(0, support, 1e6)
		if !ok {
			t.Fatal("cut short")
		}
		want := undominated(algorithm1(&p, support))
		sortBins(got)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v\nprinted procedure: %v", seed, got, want)
		}
	}
}

func sortBins(b []lotes.Bin) {
	slices.SortFunc(b, func(x, y lotes.Bin) int { return slices.Compare(x, y) })
}

func undominated(bins []lotes.Bin) []lotes.Bin {
	sortBins(bins)
	bins = slices.CompactFunc(bins, func(a, b lotes.Bin) bool { return slices.Equal(a, b) })
	return slices.DeleteFunc(slices.Clone(bins), func(b lotes.Bin) bool {
		return slices.ContainsFunc(bins, func(o lotes.Bin) bool {
			more := false
			for k := range b {
				if o[k] < b[k] {
					return false
				}
				more = more || o[k] > b[k]
			}
			return more
		})
	})
}

// §4.2: the bins with the largest fractions are rounded up.
func TestRounding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{2.6, 1.4, 3.0}, []float64{3, 1, 3}}, {[]float64{1.5, 1.5}, []float64{2, 1}}, {[]float64{2.9999999999, 1e-10}, []float64{3}},
	} {
		var shares []lotes.Share
		for _, x := range c.x {
			shares = append(shares, lotes.Share{Machines: x})
		}
		var got []float64
		for _, s := range lotes.Round(shares) {
			got = append(got, s.Machines)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v is rounded to %v, want %v", c.x, got, c.want)
		}
	}
}

func TestNamedErrors(t *testing.T) {
	t.Parallel()
	big := two(7, 2, 8)
	nothing := two(7, 0)
	forbidden := two(7, 2)
	forbidden.Classes[0].Rate[0] = 0
	nan := two(7, math.NaN())
	none := two(7, 2)
	none.Classes[0].Share = 0
	for name, c := range map[string]struct {
		p    lotes.Program
		want error
	}{
		"too big": {big, lotes.ErrNowhere}, "needs nothing": {nothing, lotes.ErrProgram}, "forbidden": {forbidden, lotes.ErrNowhere},
		"NaN": {nan, lotes.ErrProgram}, "no arrivals": {none, lotes.ErrProgram}, "empty": {lotes.Program{}, lotes.ErrProgram},
	} {
		if _, err := lotes.Make(c.p, lotes.Near); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// generated is an instance like those of §5.4.
func generated(seed uint64, configurations, classes int) lotes.Program {
	rng := rand.New(rand.NewPCG(seed, 2))
	p := lotes.Program{}
	for j := range configurations {
		t := table1[j%len(table1)]
		c := lotes.Configuration{Machines: 1000, Capacity: []float64{t.cores, t.memory}}
		if j >= len(table1) {
			c.Capacity = []float64{0.25 + 0.75*rng.Float64(), 0.25 + 0.75*rng.Float64()}
		}
		p.Configurations = append(p.Configurations, c)
	}
	for range classes {
		mean := max(0.02, rng.Float64())
		c := lotes.Class{Share: 1, Need: []float64{0.025 + 0.03*(rng.Float64()-0.5), 0.025 + 0.03*(rng.Float64()-0.5)}}
		for range configurations {
			c.Rate = append(c.Rate, (0.9+0.2*rng.Float64())/mean)
		}
		p.Classes = append(p.Classes, c)
	}
	return p
}

// Bins made as they are wanted serve as much as all of them.
func TestGeneratedBinsAreEnough(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		p := generated(seed, 5, 4)
		support := slices.Repeat([][]int{{0, 1, 2, 3}}, 5)
		all, err := lotes.Assign(&p, support)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := lotes.AssignGenerating(&p, support)
		if err != nil {
			t.Fatal(err)
		}
		if !wanted.Generated || wanted.Bins >= all.Bins && all.Bins > 20 {
			t.Errorf("%d of %d bins", wanted.Bins, all.Bins)
		}
		within(t, "λ of generated bins", wanted.Lambda, all.Lambda, 1e-7)
	}
}

func TestLargePlan(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{10, 9}, {40, 30}} {
		p := generated(1, size[0], size[1])
		begun := time.Now()
		plan, err := lotes.Make(p, lotes.Near)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d configurations, %d classes: %d bins in %v, λ pooled %.6g, binned %.5f of it, rounding loses %.2g, generated %t, exact %t",
			size[0], size[1], plan.Bins, time.Since(begun).Round(time.Millisecond), plan.Pooled, plan.Binned/plan.Pooled, 1-plan.Served/plan.Binned, plan.Generated, plan.Exact)
		if share := plan.Binned / plan.Pooled; share < 0.9 || share > 1+1e-9 {
			t.Errorf("bins keep %v of the pooled rate", share)
		}
	}
}

func BenchmarkMake(b *testing.B) {
	for _, size := range [][2]int{{10, 9}, {40, 30}} {
		p := generated(1, size[0], size[1])
		b.Run(fmt.Sprintf("configurations=%d/classes=%d", size[0], size[1]), func(b *testing.B) {
			for b.Loop() {
				if _, err := lotes.Make(p, lotes.Near); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
