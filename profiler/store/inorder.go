package store

import (
	"context"
	"sync"
)

// readsAtOnce hide the latency of a store, and leave most of it to others (chosen by us).
const readsAtOnce = 8

// InOrder reads what is at each of the keys, some at once, and hands them on in their order,
// one at a time: all of them together may be more than the memory of an agent. The first error
// of use ends it.
func InOrder[T any](ctx context.Context, keys []string, read func(ctx context.Context, key string) (T, error), use func(found T, err error) error) error {
	type result struct {
		found T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	next := make(chan chan result, readsAtOnce-1)
	reading.Go(func() {
		for _, key := range keys {
			one := make(chan result, 1)
			select {
			case next <- one:
			case <-ctx.Done():
				return
			}
			reading.Go(func() {
				found, err := read(ctx, key)
				one <- result{found, err}
			})
		}
	})
	for range keys {
		select {
		case one := <-next:
			r := <-one
			if err := use(r.found, r.err); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
