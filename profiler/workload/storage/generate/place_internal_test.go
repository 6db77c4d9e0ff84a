package generate

import (
	"math/rand/v2"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// A run goes on over the border of its state, by as much as is near, and keeps its kind; beyond
// that it begins anew in the state.
func TestRunsGoOnOverBorders(t *testing.T) {
	t.Parallel()
	const state = 1 << 20
	p := newPlaces(model.Device{Bytes: 4 * state, SectorBytes: 512}, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	const begin, behind = int64(state), int64(2 * state) // of state 1
	for _, c := range []struct {
		name string
		kind storage.Kind
		end  int64
		on   bool
	}{
		{"a run inside", storage.Sequential, begin + 4096, true},
		{"a run at the border", storage.Sequential, behind, true},
		{"a run a little behind it", storage.Sequential, behind + storage.NearBytes - 4096, true},
		{"a run far behind it", storage.Sequential, behind + storage.NearBytes, false},
		{"jumps ahead inside", storage.NearSequential, begin, true},
		{"jumps ahead over the border", storage.NearSequential, behind - 512, true},
		{"jumps ahead far behind it", storage.NearSequential, behind + storage.NearBytes, false},
		{"a run that comes in", storage.Sequential, begin - storage.NearBytes, true},
		{"a run that comes from afar", storage.Sequential, begin - storage.NearBytes - 4096, false},
	} {
		for range 100 {
			at := p.place(1, model.Category{Kind: c.kind, Bytes: 4096}, c.end, false, rng)
			switch {
			case c.on && storage.KindAfter(c.end, at) != c.kind:
				t.Fatalf("%s: from %d to %d", c.name, c.end, at)
			case !c.on && (at < begin || at >= behind):
				t.Fatalf("%s: at %d, outside of the state", c.name, at)
			}
		}
	}
	if at := p.place(3, model.Category{Kind: storage.Sequential, Bytes: 4096}, 4*state-2048, false, rng); at+4096 > 4*state {
		t.Errorf("behind the device, at %d", at)
	}
}
