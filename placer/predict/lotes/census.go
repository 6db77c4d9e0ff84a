package lotes

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// census counts what runs by size: a model for who has no history. Sizes in one
// cell differ by less than a factor of two in cpu and in memory.
type census struct {
	cells  map[cellKey]*cell
	byNode [][]counted
}

type cellKey struct{ cpu, memory, class int16 }

// cell is the jobs of one.
type cell struct {
	count             int
	cpu, memory, disk float64 // sums
}

// counted is what a node added to the cells.
type counted struct {
	key  cellKey
	size Size
}

// Resolution of a model (chosen by us): a plan is kept while the number of jobs in
// no cell changes by about 40 %, and their mean size by about 9 %.
const (
	classesMost  = 8
	countSteps   = 2 // per octave
	sizeSteps    = 8 // per octave
	smallestSize = 1.0
)

func (m *Mix) cellOf(size cluster.Resources, class int) (cellKey, Size) {
	s := m.sizeOf(size)
	octave := func(v float64) int16 { return int16(math.Floor(math.Log2(max(smallestSize, v)))) }
	return cellKey{octave(s.CPUMHz), octave(s.MemoryMB), int16(class)}, s
}

// read a node again.
func (c *census) read(m *Mix, n board.Index) {
	if c.cells == nil {
		c.cells = map[cellKey]*cell{}
	}
	for len(c.byNode) <= int(n) {
		c.byNode = append(c.byNode, nil)
	}
	for _, was := range c.byNode[n] {
		c.add(was, -1)
	}
	c.byNode[n] = c.byNode[n][:0]
	residents := m.board.Residents(n)
	for i := range residents {
		key, size := m.cellOf(residents[i].Size, residents[i].Class)
		is := counted{key, size}
		c.byNode[n] = append(c.byNode[n], is)
		c.add(is, 1)
	}
}

func (c *census) add(is counted, sign int) {
	own := c.cells[is.key]
	if own == nil {
		own = &cell{}
		c.cells[is.key] = own
	}
	own.count += sign
	if own.count == 0 {
		delete(c.cells, is.key) // with what rounding left in its sums
		return
	}
	own.cpu, own.memory, own.disk = own.cpu+float64(sign)*is.size.CPUMHz, own.memory+float64(sign)*is.size.MemoryMB, own.disk+float64(sign)*is.size.DiskMB
}

// class is a cell of a model, rounded.
type class struct {
	key   cellKey
	count float64
	size  Size
	own   bool // of the ask
}

// with counts an ask in, and rounds; the largest cells only, in a fixed order.
func (c *census) with(m *Mix, a *board.Request) []class {
	key, size := m.cellOf(a.Size, a.Class)
	own := counted{key, size}
	if c.cells == nil {
		c.cells = map[cellKey]*cell{}
	}
	c.add(own, 1)
	defer c.add(own, -1)
	var out []class
	for _, k := range slices.SortedFunc(maps.Keys(c.cells), compareCells) {
		v := c.cells[k]
		n := float64(v.count)
		out = append(out, class{k, stepped(n, countSteps), Size{stepped(v.cpu/n, sizeSteps), stepped(v.memory/n, sizeSteps), stepped(v.disk/n, sizeSteps)}, k == key})
	}
	weight := func(x class) float64 {
		if x.own {
			return math.Inf(1)
		}
		return x.count * max(x.size.CPUMHz/m.unit.CPUMHz, x.size.MemoryMB/m.unit.MemoryMB)
	}
	slices.SortStableFunc(out, func(x, y class) int { return cmp.Compare(weight(y), weight(x)) })
	return out[:min(len(out), classesMost)]
}

func compareCells(a, b cellKey) int {
	return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.memory, b.memory), cmp.Compare(a.class, b.class))
}

// stepped rounds down to a step of the logarithm, so that what holds the number
// holds the step.
func stepped(v float64, perOctave float64) float64 {
	if v <= 0 {
		return 0
	}
	return math.Exp2(math.Floor(math.Log2(v)*perOctave+1e-9) / perOctave)
}

// signature is equal where the plan would be.
func (c *census) signature(m *Mix, a *board.Request) string {
	var out strings.Builder
	for _, k := range m.kinds {
		fmt.Fprint(&out, k.ready, " ")
	}
	for _, x := range c.with(m, a) {
		fmt.Fprint(&out, x.key, x.count, x.size)
		if x.own {
			fmt.Fprint(&out, "own", a.Speed)
		}
	}
	return out.String()
}

// model of the cells; what is known of the ask's speed is that of its class.
func (c *census) model(m *Mix, a *board.Request) Model {
	var out Model
	for _, x := range c.with(m, a) {
		own := ModelClass{Share: x.count, Size: x.size}
		if x.own {
			own.Rate = ratesOf(a.Speed, len(m.board.Configurations))
		}
		out.Classes = append(out.Classes, own)
	}
	return out
}

// ratesOf are relative to the best; nil where nothing usable is known. What is
// unknown of some is as the mean of the others.
func ratesOf(speed []float64, configurations int) []float64 {
	top, sum, n := 0.0, 0.0, 0
	usable := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	for _, v := range speed {
		if usable(v) {
			top, sum, n = max(top, v), sum+v, n+1
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]float64, configurations)
	for j := range out {
		out[j] = sum / float64(n) / top
		if j < len(speed) && usable(speed[j]) {
			out[j] = speed[j] / top
		}
	}
	return out
}
