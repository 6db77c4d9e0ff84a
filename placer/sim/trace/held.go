package trace

import (
	"cmp"
	"slices"
)

// heldPerBlock is how many jobs one block has: large enough not to count, small
// enough for the last to waste little.
const heldPerBlock = 1024

// held are the jobs of a source that is sorted in memory. They stay where they
// were put: only their numbers are sorted, and only where the file was not.
type held struct {
	blocks [][]Job
	count  int
	order  []int32 // nil: as they came
	place  int     // of the next to take
}

func (h *held) len() int { return h.count }

func (h *held) at(number int) *Job { return &h.blocks[number/heldPerBlock][number%heldPerBlock] }

func (h *held) add(j Job) {
	if h.count%heldPerBlock == 0 {
		h.blocks = append(h.blocks, make([]Job, 0, heldPerBlock))
	}
	last := &h.blocks[len(h.blocks)-1]
	*last = append(*last, j)
	h.count++
}

// sort puts the jobs in order of submission; those of one instant stay in the
// order of the file.
func (h *held) sort() {
	inOrder := true
	for i := 1; i < h.count && inOrder; i++ {
		inOrder = h.at(i-1).Submit <= h.at(i).Submit
	}
	if inOrder {
		return
	}
	h.order = make([]int32, h.count)
	for i := range h.order {
		h.order[i] = int32(i)
	}
	slices.SortFunc(h.order, func(a, b int32) int {
		if by := cmp.Compare(h.at(int(a)).Submit, h.at(int(b)).Submit); by != 0 {
			return by
		}
		return cmp.Compare(a, b)
	})
}

// take gives the next job; false after the last. Its strings are let go.
func (h *held) take(j *Job) bool {
	if h.place == h.count {
		return false
	}
	number := h.place
	if h.order != nil {
		number = int(h.order[number])
	}
	h.place++
	from := h.at(number)
	*j, *from = *from, Job{}
	return true
}
