package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Run has the units done, and calls done with each result as it comes, once for each and one call
// at a time. A unit that ends with an error is handed out again, as one that was lost or torn, and
// after some attempts that is the error of the run; what was done until then is kept by who asked.
// When it ends nothing that it dispatched is left.
func Run(ctx context.Context, c Cluster, o Options, units [][]byte, done func(unit int, result []byte) error) (err error) {
	program, err := thisProgram()
	if err != nil {
		return fmt.Errorf("dispatch: this program: %w", err)
	}
	if o.AtOnce == 0 {
		n, err := c.Nodes(ctx)
		if err != nil {
			return fmt.Errorf("dispatch: %w", err)
		}
		if n == 0 {
			return errors.New("dispatch: no node is ready")
		}
		o.AtOnce = perNode * n
	}
	r := newRun(c, o, len(units), &bundles{program: program, units: units, done: done})
	return r.between(ctx, func() error { return c.Begin(ctx, o.job()) })
}

// source is where dispatches come from, and where what they leave goes.
type source interface {
	// start starts what comes next of what waits, and takes it off there; an empty ID: nothing
	// can be started now.
	start(ctx context.Context, r *run) (id string, d *dispatch, err error)
	// read takes the results of a dispatch that has ended. With an error, the units that are in
	// it then were not done.
	read(ctx context.Context, r *run, d *dispatch, s State) error
	// over hears that a dispatch is over, in whichever way.
	over(d *dispatch)
	// giveUp hears of a unit that was tried too often. An error ends the run.
	giveUp(unit, times int, why error) error
	// name is what units are called.
	name(units []int) string
}

// dispatch is some units under way.
type dispatch struct {
	units  []int
	bundle bundle
	begun  time.Time
}

type run struct {
	Options
	cluster Cluster
	source  source

	waiting []int // units that nobody does
	tried   []int // attempts by unit
	out     map[string]*dispatch
	faults  int       // of the server, one after the other
	ran     time.Time // when something ran last, or why nothing does was said
	// placeWithin is how long a dispatch may be without an allocation before it is taken back; 0:
	// for ever.
	placeWithin time.Duration
}

func newRun(c Cluster, o Options, units int, from source) *run {
	r := &run{Options: o, cluster: c, source: from, tried: make([]int, units), out: map[string]*dispatch{}}
	for i := range units {
		r.waiting = append(r.waiting, i)
	}
	if r.Says == nil {
		r.Says = func(string) {}
	}
	return r
}

// between begins, runs, and leaves nothing behind, however that ends.
func (r *run) between(ctx context.Context, begin func() error) (err error) {
	if err := begin(); err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		err = errors.Join(err, r.cluster.End(ending, r.Job))
	}()
	r.ran = r.Now()
	return r.all(ctx)
}

const (
	lookEvery    = time.Second
	mostPause    = 30 * time.Second
	mostFaults   = 20 // about eight minutes
	endWithin    = time.Minute
	blockedAfter = 20 * time.Second
)

func (r *run) all(ctx context.Context) error {
	for len(r.waiting)+len(r.out) > 0 {
		err := r.handOut(ctx)
		if err == nil {
			err = r.collect(ctx)
		}
		pause := lookEvery
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
		case errors.Is(err, errServer):
			if r.faults++; r.faults > mostFaults {
				return err
			}
			pause = min(mostPause, lookEvery<<min(r.faults, 5))
			r.Says(fmt.Sprintf("Nomad does not answer as it should; asked again in %s: %s", pause, err))
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.After(pause):
		}
	}
	return nil
}

// errServer: what may pass.
var errServer = errors.New("dispatch: Nomad")

func serverError(err error) error {
	if passing(err) {
		return fmt.Errorf("%w: %w", errServer, err)
	}
	return fmt.Errorf("dispatch: %w", err)
}

// handOut starts what waits, as far as there is room.
func (r *run) handOut(ctx context.Context) error {
	for len(r.waiting) > 0 && len(r.out) < r.AtOnce {
		id, d, err := r.source.start(ctx, r)
		if err != nil {
			return err
		}
		if id == "" {
			return nil
		}
		d.begun = r.Now()
		r.out[id], r.faults = d, 0
	}
	return nil
}

// collect reads what has ended.
func (r *run) collect(ctx context.Context) error {
	if len(r.out) == 0 {
		return nil
	}
	states, err := r.cluster.States(ctx, r.Job)
	if err != nil {
		return serverError(err)
	}
	r.faults = 0
	if err := r.sayBlocked(ctx, states); err != nil {
		return err
	}
	for id, d := range r.out {
		s, known := states[id]
		why := errors.New("Nomad does not know it any more")
		switch {
		case known && s.Ended:
			why = r.source.read(ctx, r, d, s)
		case known && (s.Allocation != nil || r.placeWithin == 0 || r.Now().Sub(d.begun) < r.placeWithin):
			continue
		case known:
			blocked, err := r.cluster.Blocked(ctx, id)
			if err != nil {
				return serverError(err)
			}
			why = fmt.Errorf("no node takes it: %s", cmp.Or(blocked, "Nomad does not say why"))
		}
		if err := r.finish(ctx, id, d, s, why); err != nil {
			return err
		}
	}
	return nil
}

// ErrNotTaken: who asked does not take a result; the run ends.
var ErrNotTaken = errors.New("dispatch: a result was not taken")

// finish forgets a dispatch, and has done again what it did not do.
func (r *run) finish(ctx context.Context, id string, d *dispatch, s State, why error) error {
	r.source.over(d)
	switch {
	case errors.Is(why, ErrNotTaken), errors.Is(why, ErrProgram):
		return fmt.Errorf("%w (node %s)", why, cmp.Or(s.Node, "unknown"))
	case why != nil:
		r.Says(fmt.Sprintf("handed out again: %s, for %s (node %s)", r.source.name(d.units), why, cmp.Or(s.Node, "unknown")))
		if err := r.again(d.units, why); err != nil {
			return err
		}
	}
	delete(r.out, id)
	if err := r.cluster.Forget(ctx, id); err != nil {
		return serverError(err)
	}
	return nil
}

// again lets units wait that were not done, unless they were tried too often.
func (r *run) again(units []int, why error) error {
	for _, i := range units {
		if r.tried[i]++; r.tried[i] < cmp.Or(r.Attempts, defaultAttempts) {
			r.waiting = append(r.waiting, i)
			continue
		}
		if err := r.source.giveUp(i, r.tried[i], why); err != nil {
			return err
		}
	}
	return nil
}

// sayBlocked says, now and then, why nothing runs.
func (r *run) sayBlocked(ctx context.Context, states map[string]State) error {
	now := r.Now()
	for id := range r.out {
		if states[id].Allocation != nil {
			r.ran = now
			return nil
		}
	}
	if len(r.out) == 0 || now.Sub(r.ran) < blockedAfter {
		return nil
	}
	r.ran = now
	for id := range r.out {
		why, err := r.cluster.Blocked(ctx, id)
		if err != nil {
			return serverError(err)
		}
		if why != "" {
			r.Says("nothing runs: " + why)
		}
		return nil
	}
	return nil
}
