package generate

import "time"

// queue orders walkers by the time of their next I/O, those of one time by their number.
// It is a binary heap; container/heap costs twice the time, by its interfaces.
type queue []queued

type queued struct {
	at    time.Duration
	index int32
}

func (a queued) before(b queued) bool {
	return a.at < b.at || (a.at == b.at && a.index < b.index)
}

func (q *queue) push(e queued) {
	*q = append(*q, e)
	h := *q
	for i := len(h) - 1; i > 0; {
		above := (i - 1) / 2
		if !h[i].before(h[above]) {
			return
		}
		h[i], h[above] = h[above], h[i]
		i = above
	}
}

// replaceFirst puts another time in the place of the first one.
func (q queue) replaceFirst(e queued) {
	q[0] = e
	for i := 0; ; {
		least := i
		for _, below := range [2]int{2*i + 1, 2*i + 2} {
			if below < len(q) && q[below].before(q[least]) {
				least = below
			}
		}
		if least == i {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

// removeFirst takes the first one out.
func (q *queue) removeFirst() {
	h := *q
	last := h[len(h)-1]
	*q = h[:len(h)-1]
	if len(*q) > 0 {
		q.replaceFirst(last)
	}
}
