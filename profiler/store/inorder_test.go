package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Documents are read some at once, also where each takes another time, and handed on in order.
func TestInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var keys, got []string
		for i := range 100 {
			keys = append(keys, fmt.Sprint(i))
		}
		var under, most atomic.Int64
		began := time.Now()
		err := store.InOrder(t.Context(), keys, func(_ context.Context, key string) (string, error) {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			i, _ := strconv.Atoi(key)
			time.Sleep(time.Duration(1+i%7) * time.Second)
			return key, nil
		}, func(found string, err error) error {
			got = append(got, found)
			return err
		})
		if err != nil || !slices.Equal(got, keys) {
			t.Errorf("%v in the order %v", err, got)
		}
		if took := time.Since(began); took > 100*time.Second || most.Load() > 10 {
			t.Errorf("400 s of reads took %s, %d at once", took, most.Load())
		}
	})
}

// The first error of who uses them ends it, and no reader stays.
func TestInOrderEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad, read := errors.New("bad"), atomic.Int64{}
		err := store.InOrder(t.Context(), make([]string, 1000), func(ctx context.Context, _ string) (int, error) {
			read.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			return 0, ctx.Err()
		}, func(int, error) error { return bad })
		if !errors.Is(err, bad) || read.Load() > 30 {
			t.Errorf("%v after %d reads", err, read.Load())
		}
	})
}
