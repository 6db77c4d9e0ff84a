package policy

import "sync"

// workspace is the storage of one decision, which grows with the nodes: as garbage it
// would have a large cluster's memory collected every few decisions. Nothing of it may
// outlive its decision.
type workspace struct {
	floats     []float64
	used       int
	candidates []candidate
	ranked     []ranked
}

var workspaces = sync.Pool{New: func() any { return &workspace{} }}

// take gives n numbers, of any value.
func (w *workspace) take(n int) []float64 {
	if len(w.floats)-w.used < n {
		w.floats, w.used = make([]float64, max(n, 2*len(w.floats))), 0
	}
	w.used += n
	return w.floats[w.used-n : w.used : w.used]
}

// takeCandidates gives n empty options, and takeRanked as many ranked. Each may be asked
// for once.
func (w *workspace) takeCandidates(n int) []candidate {
	w.candidates = emptied(w.candidates, n)
	return w.candidates
}

func (w *workspace) takeRanked(n int) []ranked {
	w.ranked = emptied(w.ranked, n)
	return w.ranked
}

func emptied[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
