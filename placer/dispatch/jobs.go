package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Jobs are units of which each is a job of its own, for what must have a node to itself. Its
// functions are called one at a time.
type Jobs struct {
	Names []string // of the units, as a part of the IDs of their jobs
	// Next is the job of a unit, under that ID and in Nomad's JSON form; nil: no node can take it
	// now. An ErrLeftOut leaves the unit out.
	Next func(ctx context.Context, unit int, id string) (map[string]any, error)
	// Take takes what a job of the unit has left that has ended, well or not; with an error that is
	// no ErrNotTaken the unit is handed out again.
	Take func(ctx context.Context, unit int, s State) error
	// Over hears that a job of the unit is over, in whichever way.
	Over func(unit int)
	// LeftOut hears of a unit that will not be done, and why.
	LeftOut func(unit int, why error)
}

// ErrLeftOut: a unit cannot be done.
var ErrLeftOut = errors.New("left out")

// placeWithin is how long a job may be without an allocation: who chose its node then looks at the
// nodes again.
const placeWithin = 20 * time.Second

// RunJobs has the units done. It differs from Run in that a unit which cannot be done costs the run
// no more than that. When it ends none of its jobs is left.
func RunJobs(ctx context.Context, c Cluster, o Options, j Jobs) error {
	if o.AtOnce == 0 {
		o.AtOnce = math.MaxInt
	}
	s := &jobs{Jobs: j, run: strconv.FormatInt(o.Now().Unix(), 36)}
	r := newRun(c, o, len(j.Names), s)
	r.placeWithin = placeWithin
	// What a run that was killed has left is of nobody.
	return r.between(ctx, func() error { return c.End(ctx, o.Job) })
}

// jobs is the source of a run of Jobs.
type jobs struct {
	Jobs
	run     string // makes the IDs its own: Nomad keeps allocations of jobs that are gone
	started int
}

// start registers the job of the first unit that waits and that a node can take.
func (j *jobs) start(ctx context.Context, r *run) (string, *dispatch, error) {
	for _, unit := range slices.Clone(r.waiting) {
		id := fmt.Sprintf("%s%s-%s-%d", dispatched(r.Job), j.Names[unit], j.run, j.started)
		job, err := j.Next(ctx, unit, id)
		switch {
		case errors.Is(err, ErrLeftOut):
			r.drop(unit)
			j.LeftOut(unit, err)
			continue
		case err != nil:
			return "", nil, serverError(err)
		case job == nil:
			continue
		}
		if err := r.cluster.Register(ctx, job); err != nil {
			j.Over(unit)
			return "", nil, serverError(err)
		}
		j.started++
		r.drop(unit)
		return id, &dispatch{units: []int{unit}}, nil
	}
	return "", nil, nil
}

// drop takes a unit off what waits.
func (r *run) drop(unit int) {
	r.waiting = slices.DeleteFunc(r.waiting, func(i int) bool { return i == unit })
}

func (j *jobs) read(ctx context.Context, _ *run, d *dispatch, s State) error {
	return j.Take(ctx, d.units[0], s)
}

func (j *jobs) over(d *dispatch) { j.Over(d.units[0]) }

func (j *jobs) name(units []int) string { return j.Names[units[0]] }

func (j *jobs) giveUp(unit, times int, why error) error {
	j.LeftOut(unit, fmt.Errorf("tried %d times: %w", times, why))
	return nil
}
