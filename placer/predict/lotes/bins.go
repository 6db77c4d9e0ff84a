package lotes

import (
	"cmp"
	"math"
	"slices"
)

// Bin is how many jobs of each class a machine is to run, by class.
type Bin []int32

// whole are needs and capacities in whole units, so that 25 × 0.02 fits 0.50: a
// power of ten, of which the largest capacity of a resource has at least unitsLeast.
type whole struct {
	capacity []int64
	need     [][]int64 // by class as listed
	classes  []int     // those of the support, by falling dominant need
	total    int       // classes there are
}

// unitsLeast: four digits do for the published table; where the smallest job is 10⁻⁵
// of the largest machine more are needed.
const unitsLeast = 1e6

func (p *Program) whole(j int, support []int) *whole {
	w := &whole{classes: slices.Clone(support), total: len(p.Classes)}
	scale := make([]float64, len(p.Configurations[j].Capacity))
	for l := range scale {
		top := 0.0
		for _, c := range p.Configurations {
			top = max(top, c.Capacity[l])
		}
		if top > 0 {
			scale[l] = math.Pow(10, math.Ceil(math.Log10(unitsLeast/top)))
		}
		w.capacity = append(w.capacity, int64(math.Round(p.Configurations[j].Capacity[l]*scale[l])))
	}
	dominant := func(k int) float64 {
		most := 0.0
		for l, v := range p.Classes[k].Need {
			most = max(most, v*scale[l])
		}
		return most
	}
	slices.SortStableFunc(w.classes, func(a, b int) int { return cmp.Or(cmp.Compare(dominant(b), dominant(a)), cmp.Compare(a, b)) })
	for _, k := range w.classes {
		need, some := make([]int64, len(scale)), false
		for l, v := range p.Classes[k].Need {
			need[l] = int64(math.Round(v * scale[l]))
			some = some || need[l] > 0
		}
		if !some { // below half a unit of everything
			need[0] = 1
		}
		w.need = append(w.need, need)
	}
	return w
}

// most is how many jobs of the i-th class fit.
func (w *whole) most(i int, free []int64) int64 {
	n := int64(math.MaxInt32)
	for l, need := range w.need[i] {
		if need > 0 {
			n = min(n, free[l]/need)
		}
	}
	return max(0, n)
}

// Bins lists every non-dominated bin of a configuration: nothing of the support
// can be added. More than most of them: false.
func (p *Program) Bins(j int, support []int, most int) ([]Bin, bool) {
	w := p.whole(j, support)
	if len(support) == 0 {
		return []Bin{make(Bin, w.total)}, true
	}
	var out []Bin
	free := slices.Clone(w.capacity)
	bin := make(Bin, w.total)
	steps := 0
	var rec func(i int) bool
	rec = func(i int) bool {
		if steps++; steps > 20*most {
			return false
		}
		last := i == len(w.classes)-1
		fit := w.most(i, free)
		for n := fit; n >= 0; n-- {
			w.take(i, n, free)
			bin[w.classes[i]] = int32(n)
			ok := true
			if !last {
				ok = rec(i + 1)
			} else if w.full(free) {
				out = append(out, slices.Clone(bin))
				ok = len(out) <= most
			}
			w.take(i, -n, free)
			bin[w.classes[i]] = 0
			if !ok {
				return false
			}
			if last { // fewer would leave room for one more of the class
				break
			}
		}
		return true
	}
	ok := rec(0)
	return out, ok
}

func (w *whole) take(i int, n int64, free []int64) {
	for l, need := range w.need[i] {
		free[l] -= n * need
	}
}

// full: no class fits.
func (w *whole) full(free []int64) bool {
	for i := range w.classes {
		if w.most(i, free) > 0 {
			return false
		}
	}
	return true
}

// knapsackSteps bounds one search for the best bin.
const knapsackSteps = 200_000

// best is the bin of greatest value, by class; exact is false where the search
// was cut short. Branch and bound: what is left is worth at most its share of the
// scarcest resource times the best value per unit there.
func (w *whole) best(value func(k int) float64) (bin Bin, top float64, exact bool) {
	n, resources := len(w.classes), len(w.capacity)
	order := make([]int, 0, n)
	for i := range n {
		if value(w.classes[i]) > 0 {
			order = append(order, i)
		}
	}
	weight := func(i int) float64 { // of the machine, all resources alike
		sum := 0.0
		for l, need := range w.need[i] {
			if w.capacity[l] > 0 {
				sum += float64(need) / float64(w.capacity[l])
			}
		}
		return sum
	}
	dense := func(i int) float64 { return value(w.classes[i]) / weight(i) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(dense(b), dense(a)) })
	// ratio[l][a] is the best value per unit of resource l from order[a] on; joint of
	// all resources together.
	ratio, joint := table(resources, len(order)+1), make([]float64, len(order)+1)
	for a := len(order) - 1; a >= 0; a-- {
		i := order[a]
		joint[a] = max(joint[a+1], dense(i))
		for l := range resources {
			v := math.Inf(1)
			if w.need[i][l] > 0 {
				v = value(w.classes[i]) / float64(w.need[i][l])
			}
			ratio[l][a] = max(ratio[l][a+1], v)
		}
	}
	free, now := slices.Clone(w.capacity), make(Bin, w.total)
	bin = make(Bin, w.total)
	steps := 0
	var rec func(a int, v float64)
	rec = func(a int, v float64) {
		if v > top+1e-12*math.Abs(top) {
			top = v
			copy(bin, now)
		}
		if a == len(order) {
			return
		}
		if steps++; steps > knapsackSteps {
			return
		}
		bound, left := math.Inf(1), 0.0
		for l, f := range free {
			if !math.IsInf(ratio[l][a], 1) {
				bound = min(bound, float64(f)*ratio[l][a])
			}
			if w.capacity[l] > 0 {
				left += float64(f) / float64(w.capacity[l])
			}
		}
		if v+min(bound, left*joint[a]) <= top*(1+1e-12) {
			return
		}
		i := order[a]
		for m := w.most(i, free); m >= 0; m-- {
			w.take(i, m, free)
			now[w.classes[i]] = int32(m)
			rec(a+1, v+float64(m)*value(w.classes[i]))
			w.take(i, -m, free)
			now[w.classes[i]] = 0
			if steps > knapsackSteps {
				return
			}
		}
	}
	rec(0, 0)
	w.fill(bin)
	return bin, top, steps <= knapsackSteps
}

// fill adds what still fits, so that a bin is not dominated.
func (w *whole) fill(bin Bin) {
	free := slices.Clone(w.capacity)
	for i, k := range w.classes {
		w.take(i, int64(bin[k]), free)
	}
	for i, k := range w.classes {
		n := w.most(i, free)
		w.take(i, n, free)
		bin[k] += int32(n)
	}
}
