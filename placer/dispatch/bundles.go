package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// bundles are units that a program turns into results, several to a dispatch of one job.
type bundles struct {
	program string
	units   [][]byte
	done    func(int, []byte) error

	seconds float64 // of the units that were done
	ended   int
}

// start dispatches the next bundle.
func (b *bundles) start(ctx context.Context, r *run) (string, *dispatch, error) {
	d, payload, err := b.next(r)
	if err != nil {
		return "", nil, err
	}
	id, err := r.cluster.Dispatch(ctx, r.Job, payload)
	if err != nil {
		return "", nil, serverError(err)
	}
	r.waiting = r.waiting[len(d.units):]
	return id, d, nil
}

// next is what goes out next: as many of the units that wait as take about as long as a dispatch
// should, and fit into it.
func (b *bundles) next(r *run) (*dispatch, []byte, error) {
	n := 1
	if b.ended > 0 {
		should := cmp.Or(r.Bundle, defaultBundle).Seconds()
		n = max(1, int(should/max(b.seconds/float64(b.ended), 1e-3)))
	}
	// The last are shared among all.
	n = max(1, min(n, len(r.waiting)/r.AtOnce+1))
	for ; ; n /= 2 {
		d := &dispatch{bundle: bundle{Program: b.program}}
		for _, i := range r.waiting[:n] {
			d.units, d.bundle.Inputs = append(d.units, i), append(d.bundle.Inputs, b.units[i])
		}
		payload, err := d.bundle.encode()
		if err == nil || n == 1 {
			return d, payload, err
		}
	}
}

// read takes the results of a dispatch. Units that ended with an error wait again.
func (b *bundles) read(ctx context.Context, r *run, d *dispatch, s State) error {
	if s.Failed {
		return errors.New(s.Why)
	}
	data, err := r.cluster.Read(ctx, s, "alloc/data/"+ResultFile)
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
		if err := b.done(d.units[k], o.Result); err != nil {
			return fmt.Errorf("%w: %w", ErrNotTaken, err)
		}
		b.ended++
		b.seconds += o.Seconds
	}
	d.units = failed
	return why
}

func (b *bundles) over(*dispatch) {}

func (b *bundles) name(units []int) string { return wording.Count(len(units), "unit") }

// giveUp ends the run: a result that one unit cannot have, the whole cannot have either.
func (b *bundles) giveUp(unit, times int, why error) error {
	return fmt.Errorf("dispatch: unit %d was handed out %d times: %w", unit, times, why)
}
