package policy

import (
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// How co-located allocations share CPU time is an option of its own: neither how ties are
// broken nor that pressure saturates decides it.
func TestOnlyFairSharesDecideHowCPUTimeIsShared(t *testing.T) {
	t.Parallel()
	size := cluster.Resources{CPUMHz: 1000}
	b := board.New([]interference.Source{interference.Integer}, []string{"one"})
	n := b.Add(board.Node{ID: "n", Total: cluster.Resources{CPUMHz: 10_000}})
	for handle := range board.Handle(2) {
		b.Place(n, board.Resident{Handle: handle + 1, Node: "n", Size: size, Tolerated: []float64{50}, Caused: []float64{80}})
	}
	a := board.Request{Size: size, Count: 1, Tolerated: []float64{50}, Caused: []float64{80}}
	for o, want := range map[Options]float64{
		{}: 160, {FewestViolations: true}: 160, {Saturates: true, FewestViolations: true}: 160,
		{FairShares: true}: 200.0 / 3, Live(): 200.0 / 3,
	} {
		f := tentative{model: o.pressureModel()}
		f.begin(b, &a, 0)
		f.gather()
		if _, experienced, _ := f.pressure(0); math.Abs(experienced[0]-want) > 1e-9 {
			t.Errorf("%+v: the newcomer experiences %g points, want %g", o, experienced[0], want)
		}
	}
}
