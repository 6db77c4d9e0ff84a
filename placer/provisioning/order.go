package provisioning

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
)

// order has the Renter order and return nodes, each type by itself and at its own pace: one that
// hangs holds up nothing but itself.
func (r *Room) order(ctx context.Context) {
	if r.cfg.Renter == nil {
		return
	}
	for _, t := range r.cfg.Types {
		if r.begin(t.Name) {
			r.calls.Go(func() {
				defer r.end(t.Name)
				r.orderType(ctx, t.Name)
			})
		}
	}
}

// begin reports whether the Renter may be asked for a type; one question at a time.
func (r *Room) begin(typ string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.rents[typ].busy
	r.rents[typ].busy = true
	return !was
}

func (r *Room) end(typ string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rents[typ].busy = false
}

func (r *Room) orderType(ctx context.Context, typ string) {
	if cluster.MayWrite(ctx) != nil {
		return
	}
	status, err := r.cfg.Renter.Status(ctx, typ)
	if err != nil {
		r.refused(ctx, typ, fmt.Errorf("how many there are is not known: %w", err))
		return
	}
	s, due := r.due(typ, status)
	if !due || cluster.MayWrite(ctx) != nil {
		return
	}
	err = r.cfg.Renter.Scale(ctx, s)
	switch {
	case err != nil && s.Count > s.Was:
		r.refused(ctx, typ, err)
	case err != nil:
		r.notReturned(ctx, typ, err)
	default:
		r.scaled(s)
	}
}

// due is what is asked of the Renter now, where anything is.
func (r *Room) due(typ string, status cluster.RentalStatus) (cluster.Scaling, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account.Counted(typ, status.Count)
	r.rents[typ].silent = false
	s := cluster.Scaling{Type: typ, Was: status.Count, Count: r.account.Wanted(typ)}
	if !status.Ready || s.Count == s.Was {
		return s, false
	}
	if s.Count < s.Was {
		if s.Leave = r.account.Leaving(typ); len(s.Leave) > 0 {
			s.Count = max(s.Count, s.Was-len(s.Leave))
		}
	}
	s.Reason = reasonOf(s)
	return s, s.Count > s.Was || !r.cfg.Clock.Now().Before(r.rents[typ].notBefore)
}

func (r *Room) scaled(s cluster.Scaling) {
	r.cfg.Log.Info("rented nodes", "type", s.Type, "were", s.Was, "will_be", s.Count, "leave", join(s.Leave))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account.Sent(s.Type)
	if s.Count < s.Was {
		r.rents[s.Type].failures = 0
	}
}

// notReturned: nodes that leave are still there, and paid for.
func (r *Room) notReturned(ctx context.Context, typ string, err error) {
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.rents[typ]
	wait := tracker.Pause(of.failures)
	of.failures++
	of.notBefore = r.cfg.Clock.Now().Add(wait)
	r.cfg.Log.Error("rented nodes could not be returned, and go on to cost", "type", typ, "error", err, "next_try_in", wait)
}

// refused voids the orders that did not go out: their jobs are the base's.
func (r *Room) refused(ctx context.Context, typ string, err error) {
	if ctx.Err() != nil || errors.Is(err, cluster.ErrNotLeading) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if of := r.rents[typ]; !of.silent {
		of.silent = true
		r.cfg.Log.Error("nodes cannot be rented", "type", typ, "error", err)
	}
	r.account.Refused(r.cfg.Clock.Now(), typ, err)
	r.logEvents()
}

func reasonOf(s cluster.Scaling) string {
	switch {
	case s.Count > s.Was:
		return fmt.Sprintf("jobs need %d nodes", s.Count)
	case len(s.Leave) > 0:
		return "kept for long enough, or not good enough: " + join(s.Leave)
	default:
		return fmt.Sprintf("%d nodes are enough, and those above did not come", s.Count)
	}
}

func join(nodes []cluster.NodeID) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = string(n)
	}
	return strings.Join(texts, ",")
}
