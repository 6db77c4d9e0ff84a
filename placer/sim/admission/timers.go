package admission

// noSlot: the item is not in the heap.
const noSlot = -1

// timers is a binary heap of items by the time each is due, ties by number, in
// which an item knows its place. Each operation is O(log n).
type timers struct{ items []*waiting }

func dueBefore(a, b *waiting) bool {
	return a.due < b.due || a.due == b.due && a.number < b.number
}

// set makes an item due at a time, whether or not it was before.
func (t *timers) set(w *waiting, due Instant) {
	w.due = due
	if w.slot == noSlot {
		w.slot = len(t.items)
		t.items = append(t.items, w)
	}
	t.down(t.up(w.slot))
}

// stop forgets an item.
func (t *timers) stop(w *waiting) {
	at := w.slot
	if at == noSlot {
		return
	}
	last := len(t.items) - 1
	t.swap(at, last)
	t.items[last] = nil
	t.items = t.items[:last]
	w.slot = noSlot
	if at < last {
		t.down(t.up(at))
	}
}

// next is the item due first; nil for none.
func (t *timers) next() *waiting {
	if len(t.items) == 0 {
		return nil
	}
	return t.items[0]
}

func (t *timers) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !dueBefore(t.items[i], t.items[parent]) {
			break
		}
		t.swap(i, parent)
		i = parent
	}
	return i
}

func (t *timers) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.items); child++ {
			if dueBefore(t.items[child], t.items[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		t.swap(i, first)
		i = first
	}
}

func (t *timers) swap(i, j int) {
	t.items[i], t.items[j] = t.items[j], t.items[i]
	t.items[i].slot, t.items[j].slot = i, j
}
