package profiling

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// DefaultColumns are the sources a placement counts where nothing was learnt yet.
// (Paragon's own ten are never listed in the text; see decision 0004.)
func DefaultColumns() []interference.Source {
	return []interference.Source{
		interference.MemoryBandwidth, interference.StorageBandwidth, interference.NetworkBandwidth,
		interference.LLCCapacity, interference.LLCBandwidth, interference.L1Data,
		interference.Integer, interference.FloatingPoint,
	}
}

// leastRows is how many training rows must know a source for it to count in addition to
// the default ones: with fewer its predictions have no interval (19 residuals, see
// classify).
const leastRows = 19

// columnsFor are the sources that can be known here: the default ones and those that
// enough training rows know, without those for which no node has a kernel. Where the
// operator named some, those.
func (k *Estimator) columnsFor(rows []profile.Profile, s *cluster.Snapshot) []interference.Source {
	if len(k.cfg.Columns) > 0 {
		return k.cfg.Columns
	}
	known := map[interference.Source]bool{}
	for _, source := range DefaultColumns() {
		known[source] = true
	}
	var out []interference.Source
	for _, info := range interference.Sources() {
		if (known[info.Source] || rowsThatKnow(rows, info.Source) >= leastRows) && mayHaveKernel(s, info.Source) {
			out = append(out, info.Source)
		}
	}
	if len(out) == 0 {
		return DefaultColumns()
	}
	return out
}

// rowsThatKnow is the number of rows that tell both scores of a source.
func rowsThatKnow(rows []profile.Profile, s interference.Source) int {
	n := 0
	for _, p := range rows {
		if classify.Told(p.Sensitivity.Tolerated[s]) && classify.Told(p.Sensitivity.Caused[s]) {
			n++
		}
	}
	return n
}

// mayHaveKernel reports whether some node may have a kernel for the source. A cluster without
// any kernels says nothing.
func mayHaveKernel(s *cluster.Snapshot, source interference.Source) bool {
	kernels := slices.DeleteFunc(slices.Clone(s.Nodes), func(n *cluster.Node) bool { return !n.Kernels })
	return len(kernels) == 0 || slices.ContainsFunc(kernels, func(n *cluster.Node) bool { return supports(n, source) })
}

// Columns are the sources that count now.
func (k *Estimator) Columns() []interference.Source {
	k.mu.RLock()
	defer k.mu.RUnlock()
	switch {
	case len(k.columns) > 0:
		return k.columns
	case len(k.cfg.Columns) > 0:
		return k.cfg.Columns
	default:
		return DefaultColumns()
	}
}
