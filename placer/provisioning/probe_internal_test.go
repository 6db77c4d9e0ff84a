package provisioning

import (
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Two nodes of which each was looked at once were measured by the same kernels, however few.
func TestLookedAtFrom(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.L1Data, interference.MemoryBandwidth, interference.Integer, interference.NetworkBandwidth}
	for measured, want := range [][]interference.Source{
		{interference.Integer, interference.MemoryBandwidth, interference.NetworkBandwidth, interference.L1Data},
		{interference.MemoryBandwidth, interference.NetworkBandwidth, interference.L1Data, interference.Integer},
		3: {interference.L1Data, interference.Integer, interference.MemoryBandwidth, interference.NetworkBandwidth},
		5: {interference.MemoryBandwidth, interference.NetworkBandwidth, interference.L1Data, interference.Integer},
	} {
		if got := lookedAtFrom(columns, measured); want != nil && !slices.Equal(got, want) {
			t.Errorf("after %d: %v", measured, got)
		}
	}
	if got := lookedAtFrom(nil, 3); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
