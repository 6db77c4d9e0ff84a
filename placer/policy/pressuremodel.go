package policy

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// pressureModel is what co-located allocations do to each other, as a selector counts it.
type pressureModel interface {
	// gathered is called when the candidates were listed.
	gathered(f *tentative)
	// experienced is what the newcomer experiences on candidate i, with the allocations
	// chosen so far; exerted is what it exerts there. Neither is to be written to, and what
	// is experienced is valid until the next call.
	experienced(f *tentative, i int) []float64
	exerted(f *tentative, i int) []float64
	// residents are those of candidate i's machine that are counted.
	residents(f *tentative, i int) []board.Resident
}

func (o Options) pressureModel() pressureModel {
	if o.FairShares {
		return &fairShares{options: o}
	}
	return summedScores{}
}

// summedScores adds caused scores up, as the papers do.
type summedScores struct{}

func (summedScores) gathered(*tentative) {}

func (summedScores) experienced(f *tentative, i int) []float64 { return f.summed(i) }

func (summedScores) exerted(f *tentative, _ int) []float64 { return f.request.Caused }

func (summedScores) residents(f *tentative, i int) []board.Resident {
	return f.board.MachineResidents(f.nodes[i])
}

// fairShares lets allocations take at most their fair share of CPU time from each other
// (decision 0017), those of this choice among them.
type fairShares struct {
	options    Options
	candidates []mutualPressure
}

func (s *fairShares) gathered(f *tentative) {
	s.candidates = s.candidates[:0]
	for i := range f.nodes {
		s.candidates = append(s.candidates, s.options.coRunnersOf(f.board.Columns, s.residents(f, i)).mutualPressureOf(f.newcomer(i)))
	}
}

func (s *fairShares) experienced(_ *tentative, i int) []float64 { return s.candidates[i].onNewcomer }

func (s *fairShares) exerted(_ *tentative, i int) []float64 { return s.candidates[i].byNewcomer }

func (s *fairShares) residents(f *tentative, i int) []board.Resident {
	out := f.board.MachineResidents(f.nodes[i])
	if own := int(f.taken[f.nodes[i]]); own > 0 {
		out = append(slices.Clone(out), slices.Repeat([]board.Resident{f.newcomer(i)}, own)...)
	}
	return out
}
