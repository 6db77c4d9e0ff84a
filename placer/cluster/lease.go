package cluster

import (
	"context"
	"errors"
)

// ErrNotLeading: the agent's time as leader is over, and it does nothing more in that role.
var ErrNotLeading = errors.New("this agent does not lead any more")

// Lease reports whether the agent still leads: ErrNotLeading where its lock is lost or may
// have run out. An agent that was paused learns of neither before it asks.
type Lease func() error

type leaseKey struct{}

// WithLease says that what is done with ctx may be done by the leader only. What is
// derived from ctx, also by context.WithoutCancel, keeps that.
func WithLease(ctx context.Context, lease Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, lease)
}

// LeaseOf is the lease of ctx; nil where what is done with it is not for the leader only.
func LeaseOf(ctx context.Context) Lease {
	lease, _ := ctx.Value(leaseKey{}).(Lease)
	return lease
}

// MayWrite is ErrNotLeading where ctx is a leader's who leads no more. Whatever changes
// something asks it right before.
func MayWrite(ctx context.Context) error {
	if lease := LeaseOf(ctx); lease != nil {
		return lease()
	}
	return nil
}
