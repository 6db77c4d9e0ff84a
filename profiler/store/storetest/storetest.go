package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Run takes stores that open gives, each empty, through the suite. The store is
// closed by the suite.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, store.Store)
	}{
		{"get what was put", getWhatWasPut},
		{"compare and set", compareAndSet},
		{"indexes are never used twice", freshIndexes},
		{"delete", deletes},
		{"delete what was read", deletesWhatWasRead},
		{"list", lists},
		{"paths", paths},
		{"sizes", sizes},
		{"one winner", oneWinner},
		{"data is copied", copies},
		{"ended context", endedContext},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			defer func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			tt.run(t, s)
		})
	}
}

func put(t *testing.T, s store.Store, path, data string, ifIndex uint64) uint64 {
	t.Helper()
	index, err := s.Put(t.Context(), path, []byte(data), ifIndex)
	if err != nil {
		t.Fatalf("put %s: %v", path, err)
	}
	return index
}

func wantGet(t *testing.T, s store.Store, path, data string, index uint64) {
	t.Helper()
	d, err := s.Get(t.Context(), path)
	if err != nil || string(d.Data) != data || d.Index != index || d.Path != path {
		t.Errorf("get %s: %q at %d (%s), %v; want %q at %d", path, d.Data, d.Index, d.Path, err, data, index)
	}
}

func getWhatWasPut(t *testing.T, s store.Store) {
	if _, err := s.Get(t.Context(), "profile/a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("empty store: %v", err)
	}
	for _, data := range []string{"", "{}", "ä\x00\xff\n", strings.Repeat("long ", 5000), "\ufffd"} {
		index := put(t, s, "profile/a", data, store.Any)
		if index == 0 || index == store.Any {
			t.Errorf("index %d means something else", index)
		}
		wantGet(t, s, "profile/a", data, index)
	}
}

func compareAndSet(t *testing.T, s store.Store) {
	first := put(t, s, "a", "1", 0)
	refused := func(path string, ifIndex uint64) {
		t.Helper()
		if _, err := s.Put(t.Context(), path, []byte("x"), ifIndex); !errors.Is(err, store.ErrConflict) {
			t.Errorf("put %s if %d: %v, want a conflict", path, ifIndex, err)
		}
	}
	refused("a", 0)
	refused("a", first+1000)
	refused("absent", first)
	wantGet(t, s, "a", "1", first)
	second := put(t, s, "a", "2", first)
	if second == first {
		t.Error("the index did not change")
	}
	refused("a", first)
	wantGet(t, s, "a", "2", second)
	third := put(t, s, "a", "3", store.Any)
	wantGet(t, s, "a", "3", third)
}

func freshIndexes(t *testing.T, s store.Store) {
	first := put(t, s, "a", "1", 0)
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if second := put(t, s, "a", "1", 0); second <= first {
		t.Errorf("index %d after %d and a delete", second, first)
	}
}

func deletes(t *testing.T, s store.Store) {
	put(t, s, "a/b", "1", 0)
	for range 2 { // deleting nothing is not an error
		if err := s.Delete(t.Context(), "a/b"); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Get(t.Context(), "a/b"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// deletesWhatWasRead: what somebody has written since stays.
func deletesWhatWasRead(t *testing.T, s store.Store) {
	first := put(t, s, "a", "1", 0)
	second := put(t, s, "a", "2", first)
	for _, index := range []uint64{first, second + 1000} {
		if err := s.DeleteIf(t.Context(), "a", index); !errors.Is(err, store.ErrConflict) {
			t.Errorf("delete at %d, the document is at %d: %v", index, second, err)
		}
	}
	wantGet(t, s, "a", "2", second)
	if err := s.DeleteIf(t.Context(), "a", second); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := s.DeleteIf(t.Context(), "a", second); !errors.Is(err, store.ErrConflict) {
		t.Errorf("delete of what is gone: %v", err)
	}
}

func lists(t *testing.T, s store.Store) {
	for _, path := range []string{"profile/b", "profile/a", "profile/a/deep", "profiles/c", "decision/x", "profile"} {
		put(t, s, path, "1", 0)
	}
	for prefix, want := range map[string][]string{
		"profile":  {"profile/a", "profile/a/deep", "profile/b"},
		"decision": {"decision/x"},
		"nothing":  nil,
		"":         {"decision/x", "profile", "profile/a", "profile/a/deep", "profile/b", "profiles/c"},
	} {
		got, err := s.List(t.Context(), prefix)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("list %q: %v, %v; want %v", prefix, got, err, want)
		}
	}
}

func paths(t *testing.T, s store.Store) {
	for _, path := range []string{"a", "a/b/c/d/e/f/g/h", "Az09_-/x", strings.Repeat("p", store.MaxPathBytes)} {
		index := put(t, s, path, "1", 0)
		wantGet(t, s, path, "1", index)
	}
	bad := []string{"", "/a", "a/", "a//b", "a b", "../a", "a/.", "ä", "a?b", "a/b/c/d/e/f/g/h/i", strings.Repeat("p", store.MaxPathBytes+1)}
	for _, path := range bad {
		_, get := s.Get(t.Context(), path)
		_, write := s.Put(t.Context(), path, nil, store.Any)
		for _, err := range []error{get, write, s.Delete(t.Context(), path), s.DeleteIf(t.Context(), path, 1)} {
			if !errors.Is(err, store.ErrBadPath) {
				t.Errorf("path %q: %v", path, err)
			}
		}
	}
}

func sizes(t *testing.T, s store.Store) {
	// Bytes that do not compress, by a fixed rule.
	largest := make([]byte, store.MaxDocumentBytes)
	state := uint32(1)
	for i := range largest {
		state = state*1664525 + 1013904223
		largest[i] = byte(state >> 24)
	}
	index := put(t, s, "large", string(largest), 0)
	d, err := s.Get(t.Context(), "large")
	if err != nil || !bytes.Equal(d.Data, largest) {
		t.Errorf("%d bytes back, %v", len(d.Data), err)
	}
	if _, err := s.Put(t.Context(), "large", append(largest, 'x'), index); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}

// oneWinner: of writers that read the same document, one wins each round.
func oneWinner(t *testing.T, s store.Store) {
	const writers = 8
	index := put(t, s, "a", "start", 0)
	results := make([]error, writers)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			_, results[i] = s.Put(t.Context(), "a", fmt.Append(nil, i), index)
		})
	}
	wait.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrConflict):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d writers won", won, writers)
	}
}

func copies(t *testing.T, s store.Store) {
	data := []byte("abc")
	index, err := s.Put(t.Context(), "a", data, 0)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	d, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	d.Data[1] = 'Y'
	wantGet(t, s, "a", "abc", index)
}

func endedContext(t *testing.T, s store.Store) {
	put(t, s, "a", "1", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := s.Get(ctx, "a")
	_, write := s.Put(ctx, "a", nil, store.Any)
	_, list := s.List(ctx, "")
	for i, err := range []error{get, write, list, s.Delete(ctx, "a"), s.DeleteIf(ctx, "a", 1)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
