package mem_test

import (
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
	"github.com/nomad-placer/nomad-placer/profiler/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) store.Store { return mem.New() })
}
