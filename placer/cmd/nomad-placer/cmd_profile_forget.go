package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// forgetRun is one run of the command with its flags.
type forgetRun struct {
	from                recordFlags
	out                 command.OutputFlags
	workload, namespace string
	productionOnly      bool
	dryRun              bool
}

// forgotten is a row of what -json prints.
type forgotten struct {
	Key        string `json:"key"`
	Workload   string `json:"workload"`
	Profile    bool   `json:"profile"`
	Production bool   `json:"production"`
}

func profileForgetCommand() *command.Command {
	return &command.Command{
		Name: "profile forget", Arguments: "[KEY]", Synopsis: "Delete what was measured of workloads, and what production taught",
		About: "Deletes a profile, and what the running allocations of its workload taught: of one KEY, of a workload, or of a whole namespace. " +
			"The leading agent forgets it within a minute, with all that was predicted from it for others; the job is profiled again when it is submitted next. " +
			"With -production the profile stays, and only what was learnt since goes. It writes to the placer's Variables with your token. KEY may be cut short as long as it names one profile.",
		Example: "nomad-placer profile forget -workload default/cache/redis\n" +
			"nomad-placer profile forget -production 3f2a",
		MaxArgs: 1, Complete: fromRecords(profileKeys),
		Setup: func(f *flag.FlagSet) command.Runner {
			var c forgetRun
			c.from.add(f)
			c.out.Add(f)
			f.StringVar(&c.workload, "workload", "", "Forget what is known of this `namespace/job/group`.")
			f.StringVar(&c.namespace, "of-namespace", "", "Forget what is known of all workloads of this `namespace`.")
			f.BoolVar(&c.productionOnly, "production", false, "Forget only what production taught.")
			f.BoolVar(&c.dryRun, "dry-run", false, "Print what would be forgotten, and forget nothing.")
			return c.run
		},
	}
}

func (c *forgetRun) run(ctx context.Context, s *command.Shell, args []string) error {
	given := len(args)
	for _, v := range []string{c.workload, c.namespace} {
		if v != "" {
			given++
		}
	}
	if given != 1 {
		return command.UsageError("profile forget takes exactly one of KEY, -workload and -of-namespace")
	}
	st, err := c.from.store()
	if err != nil {
		return err
	}
	return c.forgetIn(ctx, s, st, args)
}

func (c *forgetRun) forgetIn(ctx context.Context, s *command.Shell, st store.Store, args []string) error {
	all, err := c.known(ctx, st)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		keys := make([]string, len(all))
		for i, f := range all {
			keys[i] = f.Key
		}
		key, err := findKey(keys, args[0])
		if err != nil {
			return err
		}
		args[0] = key
	}
	done := []forgotten{}
	for _, f := range all {
		if !c.concerns(f, args) || c.productionOnly && !f.Production {
			continue
		}
		f.Profile = f.Profile && !c.productionOnly
		if err := c.forget(ctx, st, f); err != nil {
			return errors.Join(fmt.Errorf("of %s: %w", f.Workload, err), c.print(s, done))
		}
		done = append(done, f)
	}
	if len(done) == 0 {
		return command.WithHint(fmt.Errorf("nothing to forget: %w", cluster.ErrNoRecord), "nomad-placer profile list shows what there is")
	}
	return c.print(s, done)
}

func (c *forgetRun) print(s *command.Shell, done []forgotten) error {
	return c.out.Print(s, done, func(p *command.Page) {
		verb := "Forgotten"
		if c.dryRun {
			verb = "Would be forgotten"
		}
		for _, f := range done {
			what := "its profile and what production taught"
			switch {
			case !f.Production:
				what = "its profile"
			case !f.Profile:
				what = "what production taught"
			}
			p.Line(command.Text(fmt.Sprintf("%s of %s (%s): %s", verb, f.Workload, p.Cut(f.Key, 13), what)))
		}
	})
}

func (c *forgetRun) concerns(f forgotten, args []string) bool {
	switch {
	case len(args) == 1:
		return f.Key == args[0]
	case c.workload != "":
		return f.Workload == c.workload
	default:
		return profile.Profile{Workload: f.Workload}.Namespace() == c.namespace
	}
}

// known is what there is by key. Of what cannot be read it is not known whose it is: it goes
// by its key alone.
func (c *forgetRun) known(ctx context.Context, st store.Store) ([]forgotten, error) {
	var all []forgotten
	profiles, productions := store.Profiles{Store: st}, store.Productions{Store: st}
	keys, err := profiles.Keys(ctx)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, key := range keys {
		p, _, err := profiles.Get(ctx, key)
		if err := unlessUnreadable(err); err != nil {
			return nil, err
		}
		at[key] = len(all)
		all = append(all, forgotten{Key: key, Workload: known(p.Workload), Profile: true})
	}
	if keys, err = productions.Keys(ctx); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if i, ok := at[key]; ok {
			all[i].Production = true
			continue
		}
		said, _, err := productions.Get(ctx, key)
		if err := unlessUnreadable(err); err != nil {
			return nil, err
		}
		all = append(all, forgotten{Key: key, Workload: known(said.Workload), Production: true})
	}
	return all, nil
}

func known(workload string) string {
	if workload == "" {
		return wording.Unknown
	}
	return workload
}

func unlessUnreadable(err error) error {
	if errors.Is(err, store.ErrRefused) || errors.Is(err, store.ErrFormat) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func (c *forgetRun) forget(ctx context.Context, st store.Store, f forgotten) error {
	if c.dryRun {
		return nil
	}
	var errs []error
	if f.Production {
		errs = append(errs, store.Productions{Store: st}.Delete(ctx, f.Key))
	}
	if f.Profile {
		errs = append(errs, store.Profiles{Store: st}.Delete(ctx, f.Key))
	}
	return errors.Join(errs...)
}
