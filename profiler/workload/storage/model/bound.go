package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// MaxFileBytes bounds a file of a model of a day.
const MaxFileBytes = 1_000_000

// maxTransitions is how many transitions are tried first: a row is about 45 bytes.
const maxTransitions = 16_000

// bound keeps the file below MaxFileBytes: the rarest transitions become those of the
// nearest size between the same states, with the same direction and kind.
func (m *Model) bound() error {
	full := m.Types
	share := m.MergedShare
	fits := func(limit int) (bool, error) {
		m.Types, m.MergedShare = slices.Clone(full), share
		if m.Rows() > limit {
			m.mergeRarest(limit)
		}
		data, err := m.encode()
		return len(data) <= MaxFileBytes, err
	}
	if ok, err := fits(maxTransitions); ok || err != nil {
		return err
	}
	// What is left when all is merged is what has to be kept.
	if ok, err := fits(1); !ok || err != nil {
		return cmp.Or(err, ErrTooLarge)
	}
	for limit := maxTransitions * 3 / 4; limit > 0; limit = limit * 3 / 4 {
		if ok, err := fits(limit); ok || err != nil {
			return err
		}
	}
	return ErrTooLarge
}

// lane is where transitions may be merged: all but the size is the same.
type lane struct {
	level, from, to int
	class           class
}

// mergeRarest leaves at most limit transitions, and at least one in every lane.
func (m *Model) mergeRarest(limit int) {
	least := m.leastKept(limit)
	moved := int64(0)
	for i := range m.Types {
		moved += m.mergeBelow(&m.Types[i], least)
	}
	m.MergedShare += float64(moved) / float64(m.IOs())
}

// leastKept is how many I/Os a transition must have to be among the limit most frequent.
func (m *Model) leastKept(limit int) int64 {
	var counts []int64
	for i := range m.Types {
		for _, t := range m.Types[i].Transitions {
			counts = append(counts, t.IOs)
		}
	}
	slices.SortFunc(counts, func(a, b int64) int { return cmp.Compare(b, a) })
	return counts[limit-1] + 1
}

func (m *Model) mergeBelow(t *Type, least int64) (moved int64) {
	lanes := map[lane][]Transition{}
	for _, x := range t.Transitions {
		c := m.Categories[x.Category]
		l := lane{level: x.Level, from: x.From, to: x.To, class: class{c.Op, c.Kind}}
		lanes[l] = append(lanes[l], x)
	}
	var out []Transition
	for _, in := range lanes {
		slices.SortFunc(in, func(a, b Transition) int { return cmp.Or(cmp.Compare(b.IOs, a.IOs), compareTransition(a, b)) })
		kept := in[:1:1]
		for _, x := range in[1:] {
			if x.IOs >= least {
				kept = append(kept, x)
				continue
			}
			to := m.nearest(kept, m.Categories[x.Category].Bytes)
			kept[to].take(x)
			moved += x.IOs
		}
		out = append(out, kept...)
	}
	slices.SortFunc(out, compareTransition)
	t.Transitions = out
	return moved
}

// nearest is the transition whose size is nearest.
func (m *Model) nearest(in []Transition, bytes int64) int {
	best := 0
	apart := func(i int) int64 {
		return max(bytes-m.Categories[in[i].Category].Bytes, m.Categories[in[i].Category].Bytes-bytes)
	}
	for i := range in {
		if apart(i) < apart(best) {
			best = i
		}
	}
	return best
}

// take adds the I/Os of another transition, with the mean of their gaps.
func (t *Transition) take(o Transition) {
	if t.Gap.Known() && o.Gap.Known() {
		a, b := float64(t.IOs), float64(o.IOs)
		t.Gap.MeanMicroseconds = significant((t.Gap.MeanMicroseconds*a + o.Gap.MeanMicroseconds*b) / (a + b))
	} else if o.Gap.Known() {
		t.Gap = o.Gap
	}
	t.IOs += o.IOs
}

func compareTransition(a, b Transition) int {
	return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Category, b.Category))
}

// digits is to how many digits means and variations are kept: 0.01 % is far below what a
// trace tells of them.
const digits = 5

func significant(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return math.NaN() // what was written can be read
	}
	return r
}

func (g Gap) rounded() Gap {
	g.MeanMicroseconds, g.Variation = significant(g.MeanMicroseconds), significant(g.Variation)
	return g
}
