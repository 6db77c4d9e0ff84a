package journal

import (
	"context"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Fenced is a store that takes nothing from a leader who leads no more: records are
// written without compare-and-set, and would replace those of the next leader.
func Fenced(s store.Store) store.Store { return fenced{s} }

type fenced struct{ store.Store }

// Put implements store.Store.
func (f fenced) Put(ctx context.Context, path string, data []byte, expect uint64) (uint64, error) {
	if err := cluster.MayWrite(ctx); err != nil {
		return 0, err
	}
	return f.Store.Put(ctx, path, data, expect)
}

// Delete implements store.Store.
func (f fenced) Delete(ctx context.Context, path string) error {
	if err := cluster.MayWrite(ctx); err != nil {
		return err
	}
	return f.Store.Delete(ctx, path)
}
