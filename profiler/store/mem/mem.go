package mem

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Store keeps documents in a map. It is safe for concurrent use.
type Store struct {
	mu    sync.Mutex
	last  uint64 // index of the newest write; never goes back
	byDoc map[string]store.Document
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{byDoc: map[string]store.Document{}} }

// Get returns a copy of the document.
func (s *Store) Get(ctx context.Context, path string) (store.Document, error) {
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return store.Document{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.byDoc[path]
	if !ok {
		return store.Document{}, fmt.Errorf("%s: %w", path, store.ErrNotFound)
	}
	d.Data = bytes.Clone(d.Data)
	return d, nil
}

// Put writes a copy of data.
func (s *Store) Put(ctx context.Context, path string, data []byte, ifIndex uint64) (uint64, error) {
	if err := begin(ctx, store.CheckDocument(path, data)); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ifIndex != store.Any && s.byDoc[path].Index != ifIndex {
		return 0, fmt.Errorf("%s has index %d, not %d: %w", path, s.byDoc[path].Index, ifIndex, store.ErrConflict)
	}
	s.last++
	s.byDoc[path] = store.Document{Path: path, Index: s.last, Data: append([]byte{}, data...)}
	return s.last, nil
}

// Delete removes the document.
func (s *Store) Delete(ctx context.Context, path string) error {
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byDoc, path)
	return nil
}

// DeleteIf removes the document if nobody has written it since.
func (s *Store) DeleteIf(ctx context.Context, path string, ifIndex uint64) error {
	if err := begin(ctx, store.CheckPath(path)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDoc[path].Index != ifIndex {
		return fmt.Errorf("%s has index %d, not %d: %w", path, s.byDoc[path].Index, ifIndex, store.ErrConflict)
	}
	delete(s.byDoc, path)
	return nil
}

// List returns the paths below prefix.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if err := begin(ctx, store.CheckPrefix(prefix)); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for path := range s.byDoc {
		if prefix == "" || strings.HasPrefix(path, prefix+"/") {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	return paths, nil
}

// Close does nothing.
func (s *Store) Close() error { return nil }

// begin is the check every operation starts with.
func begin(ctx context.Context, argument error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return argument
}
