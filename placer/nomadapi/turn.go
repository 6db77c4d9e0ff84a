package nomadapi

import (
	"context"
	"sync"
)

// turn is a mutex that is held while Nomad is asked. Whoever waits for it waits on a
// channel, as for anything else that takes as long as a network does.
type turn struct {
	once sync.Once
	free chan struct{}
}

func (t *turn) init() { t.free = make(chan struct{}, 1) }

// Lock implements sync.Locker.
func (t *turn) Lock() {
	t.once.Do(t.init)
	t.free <- struct{}{}
}

// take is Lock for who does not wait longer than ctx.
func (t *turn) take(ctx context.Context) error {
	t.once.Do(t.init)
	select {
	case t.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try is Lock for who does not wait.
func (t *turn) try() bool {
	t.once.Do(t.init)
	select {
	case t.free <- struct{}{}:
		return true
	default:
		return false
	}
}

// Unlock implements sync.Locker.
func (t *turn) Unlock() { <-t.free }
