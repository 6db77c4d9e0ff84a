package main

import (
	"context"
	"flag"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

func headroomCommand() *command.Command {
	return &command.Command{
		Name: "headroom", Synopsis: "Show where a policy's points are lost",
		About: "Runs every scenario of the league with the policy expected, one thing changed at a time, from stock Nomad to a clairvoyant bound: knowledge, objective, waiting, moves, profiling. " +
			"With -work, every run is kept, and a stopped command goes on where it was.",
		Example: "nomad-placer-sim headroom -work bin/figures -out placer/docs/reproduction/headroom.md\n" +
			"nomad-placer-sim headroom -scenarios ./mine -seeds 3",
		Setup: func(f *flag.FlagSet) command.Runner {
			r := simLeague{}
			r.flags(f)
			return r.profile.during(func(ctx context.Context, s *command.Shell, _ []string) error { return r.headroom(ctx, s) })
		},
	}
}

func (r *simLeague) headroom(ctx context.Context, s *command.Shell) error {
	h, err := playing(ctx, s, r, figures.RunHeadroom, "headroom")
	if err != nil {
		return err
	}
	return r.out.Print(s, h, func(p *command.Page) { leaguePage(p, &h.League) })
}
