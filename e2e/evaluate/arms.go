package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// arm is one way to place the jobs that are compared, and to look after them.
type arm struct {
	name   string
	what   string // for the page
	stock  bool   // given to Nomad as a user who has measured the jobs would
	counts bool   // as many allocations as stock Nomad is given
	policy string // of all jobs; empty: the default
	// published has each job go by the published policy that is for its kind.
	published bool
	adapter   string // of the agent; empty: its default
	// knows is what the placer knows of a job; nil: what it measured of it.
	knows func(profile.Profile) profile.Profile
	// unprofiled: nothing is known of the job itself.
	unprofiled bool
}

// The arms that the summary is of.
const (
	stock  = "stock"
	placed = "placer"
)

// arms are in the order of the page.
var arms = []arm{
	{name: stock, what: "Nomad's own placement of fixed reservations", stock: true},
	{name: placed, what: "placement, sizes and adaptation, by the default policy, `expected`"},
	{name: "published", what: "the same by the published policies (`quasar` for jobs with sizes, else `paragon`)", published: true},
	{name: "placement", what: "placement and sizes only: nothing is changed while a job runs", adapter: adapterNone},
	{name: "adapter", what: "adaptation only: Nomad's placement (`policy = \"nomad\"`) of what stock Nomad is given", policy: "nomad", counts: true},
	{name: "averages", what: "as the placer, but nothing is known of the job itself: no profile", unprofiled: true},
	{name: "amounts", what: "as the placer, but of speeds, CPU time and memory only: no workload is said to harm another", knows: withoutScores},
}

const adapterNone = "none"

func armNamed(name string) arm {
	return arms[slices.IndexFunc(arms, func(a arm) bool { return a.name == name })]
}

// order begins each repetition with another arm and goes on in the other direction, so that what
// drifts favours none.
func order(number int) []string {
	first := (number - 1) % len(arms)
	var out []string
	for _, a := range slices.Concat(arms[first:], arms[:first]) {
		out = append(out, a.name)
	}
	if number%2 == 0 {
		slices.Reverse(out[1:])
	}
	return out
}

// variant is how an application is submitted to an arm.
func (a arm) variant(application app, version string) variant {
	v := variant{version: version, policy: a.policy, unprofiled: a.unprofiled}
	if a.published {
		v.policy = "paragon"
		if application.scales() {
			v.policy = "quasar"
		}
	}
	if a.stock || a.counts {
		v.count = application.stockCount()
	}
	return v
}

// withoutScores is what remains of a profile without interference: it is said to tolerate
// everything and to cause nothing.
func withoutScores(p profile.Profile) profile.Profile {
	all := func(percent float64) interference.Scores {
		out := interference.Scores{}
		for _, s := range interference.Sources() {
			e := interference.Percent(percent)
			out[s.Source] = interference.Estimate{Score: e, Low: e, High: e, Origin: interference.Measured}
		}
		return out
	}
	p.Sensitivity, p.Ramp = interference.Sensitivity{Tolerated: all(100), Caused: all(0), DemandFactor: p.Sensitivity.DemandFactor}, nil
	return p
}

// withKnowledge gives every job of an arm's turn a profile of its own, so that nothing that
// production teaches in one turn is known in another, and takes it away afterwards.
func (e *evaluation) withKnowledge(ctx context.Context, a arm, of []app, known map[string]alone, learnt, version string, do func(context.Context) error) (err error) {
	if a.stock {
		return do(ctx)
	}
	profiles, productions := store.Profiles{Store: e.book.Store}, store.Productions{Store: e.book.Store}
	var keys []string
	defer func() {
		ctx := context.WithoutCancel(ctx)
		for _, key := range keys {
			err = errors.Join(err, profiles.Delete(ctx, key), productions.Delete(ctx, key))
		}
	}()
	for _, application := range of {
		from, err1 := e.profileKey(application, known[application.name], a, learnt)
		to, err2 := e.profileKey(application, known[application.name], a, version)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		keys = append(keys, to)
		if a.unprofiled {
			continue
		}
		p, _, err := profiles.Get(ctx, from)
		if errors.Is(err, store.ErrNotFound) {
			continue // its profile failed; the turn shows what comes of that
		}
		if err != nil {
			return fmt.Errorf("the profile of %s: %w", application.name, err)
		}
		p.Key = to
		if a.knows != nil {
			p = a.knows(p)
		}
		if _, err := profiles.Put(ctx, p, store.Any); err != nil {
			return fmt.Errorf("the profile of %s: %w", application.name, err)
		}
	}
	return do(ctx)
}

func (e *evaluation) profileKey(application app, known alone, a arm, version string) (string, error) {
	f, err := e.render(application, known, a.variant(application, version))
	if err != nil {
		return "", err
	}
	return e.rig.ProfileKey(f)
}

// useAdapter has the agents run with an arm's adapter; they are started anew where it is another.
func (e *evaluation) useAdapter(ctx context.Context, a arm) error {
	if a.stock || a.adapter == e.adapter {
		return nil
	}
	var flags []string
	if a.adapter != "" {
		flags = append(flags, "-adapter="+a.adapter)
	}
	if err := e.rig.InstallPlacer(ctx, flags...); err != nil {
		return err
	}
	e.adapter = a.adapter
	return nil
}

// submit an arm's jobs.
func (e *evaluation) submit(a arm, files []rig.JobFile) error {
	send := e.rig.SubmitHeld
	if a.stock {
		send = e.rig.SubmitStock
	}
	for _, f := range files {
		if err := send(f); err != nil {
			return err
		}
	}
	return nil
}
