package store

import (
	"context"
	"errors"
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

// each hands on every document that can be used, with its index; refused are the others.
func each[T any](ctx context.Context, list func(context.Context) ([]string, error), get func(context.Context, string) (T, uint64, error), use func(found T, index uint64) error) (refused []error, err error) {
	keys, err := list(ctx)
	if err != nil {
		return nil, err
	}
	type stored struct {
		found T
		index uint64
	}
	err = InOrder(ctx, keys, func(ctx context.Context, key string) (stored, error) {
		found, index, err := get(ctx, key)
		return stored{found, index}, err
	}, func(s stored, err error) error {
		switch {
		case err == nil:
			return use(s.found, s.index)
		case errors.Is(err, ErrRefused), errors.Is(err, ErrFormat):
			refused = append(refused, err)
		case !errors.Is(err, ErrNotFound): // deleted since it was listed: gone
			return err
		}
		return nil
	})
	return refused, err
}
