package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/wording"
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
	r := &run{
		Options: o, cluster: c, program: program, units: units, done: done,
		tried: make([]int, len(units)), out: map[string]*dispatch{},
	}
	for i := range units {
		r.waiting = append(r.waiting, i)
	}
	if r.Says == nil {
		r.Says = func(string) {}
	}
	if r.AtOnce == 0 {
		n, err := c.Nodes(ctx)
		if err != nil {
			return fmt.Errorf("dispatch: %w", err)
		}
		if n == 0 {
			return errors.New("dispatch: no node is ready")
		}
		r.AtOnce = perNode * n
	}
	if err := c.Begin(ctx, o.job()); err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
		err = errors.Join(err, c.End(ending, o.Job))
	}()
	r.ran = r.Now()
	return r.all(ctx)
}

// dispatch is some units under way.
type dispatch struct {
	units  []int
	bundle bundle
}

type run struct {
	Options
	cluster Cluster
	program string
	units   [][]byte
	done    func(int, []byte) error

	waiting []int // units that nobody does
	tried   []int // attempts by unit
	out     map[string]*dispatch
	seconds float64 // of the units that were done
	ended   int
	faults  int       // of the server, one after the other
	ran     time.Time // when something ran last, or why nothing does was said
}

const (
	lookEvery    = time.Second
	mostPause    = 30 * time.Second
	mostFaults   = 20 // about eight minutes
	endWithin    = time.Minute
	blockedAfter = 20 * time.Second
)

func (r *run) all(ctx context.Context) error {
	for r.ended < len(r.units) {
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

// handOut dispatches what waits, as far as there is room.
func (r *run) handOut(ctx context.Context) error {
	for len(r.waiting) > 0 && len(r.out) < r.AtOnce {
		d, payload, err := r.next()
		if err != nil {
			return err
		}
		id, err := r.cluster.Dispatch(ctx, r.Job, payload)
		if err != nil {
			return serverError(err)
		}
		r.out[id], r.waiting, r.faults = d, r.waiting[len(d.units):], 0
	}
	return nil
}

// next is what goes out next: as many of the units that wait as take about as long as a dispatch
// should, and fit into it.
func (r *run) next() (*dispatch, []byte, error) {
	n := 1
	if r.ended > 0 {
		should := cmp.Or(r.Bundle, defaultBundle).Seconds()
		n = max(1, int(should/max(r.seconds/float64(r.ended), 1e-3)))
	}
	// The last are shared among all.
	n = max(1, min(n, len(r.waiting)/r.AtOnce+1))
	for ; ; n /= 2 {
		d := &dispatch{bundle: bundle{Program: r.program}}
		for _, i := range r.waiting[:n] {
			d.units, d.bundle.Inputs = append(d.units, i), append(d.bundle.Inputs, r.units[i])
		}
		payload, err := d.bundle.encode()
		if err == nil || n == 1 {
			return d, payload, err
		}
	}
}

// collect reads what has ended.
func (r *run) collect(ctx context.Context) error {
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
		if known && !s.Ended {
			continue
		}
		why := error(nil)
		switch {
		case !known:
			why = errors.New("Nomad does not know it any more")
		case s.Failed:
			why = errors.New(s.Why)
		default:
			why = r.read(ctx, d, s)
		}
		if err := r.finish(ctx, id, d, s, why); err != nil {
			return err
		}
	}
	return nil
}

// errTaken: who asked does not take a result.
var errTaken = errors.New("dispatch: a result was not taken")

// read takes the results of a dispatch. Units that ended with an error wait again.
func (r *run) read(ctx context.Context, d *dispatch, s State) error {
	data, err := r.cluster.Read(ctx, s)
	if err != nil {
		return fmt.Errorf("its result cannot be read: %w", err)
	}
	outcomes, err := decodeReturned(data, d.bundle)
	if err != nil {
		return err
	}
	var failed []int
	var why error
	for k, o := range outcomes {
		if o.Error != "" {
			failed, why = append(failed, d.units[k]), errors.New(o.Error)
			continue
		}
		if err := r.done(d.units[k], o.Result); err != nil {
			return fmt.Errorf("%w: %w", errTaken, err)
		}
		r.ended++
		r.seconds += o.Seconds
	}
	d.units = failed
	return why
}

// finish forgets a dispatch, and has done again what it did not do.
func (r *run) finish(ctx context.Context, id string, d *dispatch, s State, why error) error {
	switch {
	case errors.Is(why, errTaken), errors.Is(why, ErrProgram):
		return fmt.Errorf("%w (node %s)", why, cmp.Or(s.Node, "unknown"))
	case why != nil:
		r.Says(fmt.Sprintf("handed out again: %s, for %s (node %s)", wording.Count(len(d.units), "unit"), why, cmp.Or(s.Node, "unknown")))
		for _, i := range d.units {
			if r.tried[i]++; r.tried[i] >= cmp.Or(r.Attempts, defaultAttempts) {
				return fmt.Errorf("dispatch: unit %d was handed out %d times: %w", i, r.tried[i], why)
			}
		}
		r.waiting = append(r.waiting, d.units...)
	}
	delete(r.out, id)
	if err := r.cluster.Forget(ctx, id); err != nil {
		return serverError(err)
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
