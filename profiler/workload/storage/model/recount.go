package model

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Recount counts the transitions that another stream makes in a model's diagram: the
// model's states and categories, the stream's I/Os.
type Recount struct {
	model      *Model
	categories *categorySet
	typeOf     func(thread uint32) int
	diagrams   []*diagram
	threads    []threadState
	ios, other int64
}

// NewRecount starts to count. typeOf is the index in Model.Types of every thread.
func (m *Model) NewRecount(typeOf func(thread uint32) int) *Recount {
	r := &Recount{model: m, categories: newCategorySet(m.Categories), typeOf: typeOf}
	for range m.Types {
		r.diagrams = append(r.diagrams, newDiagram(m.Levels, m.Form))
	}
	return r
}

// Add counts an I/O. One whose direction and kind the model has no category of counts as
// a transition that the model does not have.
func (r *Recount) Add(record *storage.Record) {
	for int(record.Thread) >= len(r.threads) {
		r.threads = append(r.threads, threadState{})
	}
	t := &r.threads[record.Thread]
	state := r.model.Device.State(record.Offset, r.model.Levels)
	if t.begun {
		kind := storage.KindAfter(t.end, record.Offset)
		if category, ok := r.categories.of(record.Op, kind, record.Bytes); ok {
			r.diagrams[r.typeOf(record.Thread)].add(t.last, state, category, record.At-t.at)
		} else {
			r.other++
		}
		r.ios++
	}
	t.begun, t.last, t.end, t.at = true, state, record.End(), record.At
}

// LargestDifference is the largest difference between the weight of a transition in the
// stream and in the model, as a part of all I/Os (0..1).
func (r *Recount) LargestDifference() float64 {
	if r.ios == 0 {
		return math.NaN()
	}
	total := float64(r.model.IOs())
	largest := float64(r.other) / float64(r.ios)
	for i, d := range r.diagrams {
		for _, x := range r.model.Types[i].Transitions {
			k := keyOf(x.Level, x.From, x.To, x.Category)
			n := int64(0)
			if c := d.cells[k]; c != nil {
				n = c.ios
				delete(d.cells, k)
			}
			largest = max(largest, math.Abs(float64(n)/float64(r.ios)-float64(x.IOs)/total))
		}
		for _, c := range d.cells { // what the model does not have
			largest = max(largest, float64(c.ios)/float64(r.ios))
		}
	}
	return largest
}
