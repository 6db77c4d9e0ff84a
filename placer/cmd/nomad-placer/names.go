package main

import (
	"context"
	"errors"
	"flag"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// valuePredictors complete the values of flags, by the kind in their usage.
var valuePredictors = map[string]command.Predictor{
	"policy":    policyNames,
	"level":     func(context.Context, *command.Shell, *flag.FlagSet, string) ([]string, error) { return logLevels, nil },
	"namespace": fromRecords(namespaces),
	"pool":      fromRecords(pools),
}

// fromRecords completes with what a cluster or the placer's records have.
func fromRecords(names func(ctx context.Context, s *command.Shell, from *recordFlags, begin string) ([]string, error)) command.Predictor {
	return func(ctx context.Context, s *command.Shell, given *flag.FlagSet, begin string) ([]string, error) {
		return names(ctx, s, recordFlagsOf(given), begin)
	}
}

// recordFlagsOf reads the shared flags out of a command's own set.
func recordFlagsOf(f *flag.FlagSet) *recordFlags {
	var from recordFlags
	shared := flag.NewFlagSet("", flag.ContinueOnError)
	from.add(shared)
	shared.VisitAll(func(g *flag.Flag) {
		if given := f.Lookup(g.Name); given != nil {
			_ = shared.Set(g.Name, given.Value.String()) // it was valid there
		}
	})
	return &from
}

func policyNames(context.Context, *command.Shell, *flag.FlagSet, string) ([]string, error) {
	return policy.Names(), nil
}

// knownJobs are the jobs of the namespace that the placer has a record of.
func knownJobs(ctx context.Context, s *command.Shell, from *recordFlags, _ string) ([]string, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	report, err := readStatus(ctx, r, func(id cluster.JobID) bool { return id.Namespace == from.jobNamespace(s) })
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, e := range report.Evaluations {
		ids[e.Job.ID] = true
	}
	for _, d := range report.Decisions {
		ids[d.Workload.Job] = true
	}
	return slices.Sorted(maps.Keys(ids)), nil
}

// nomadJobs are the jobs of the namespace, as Nomad knows them.
func nomadJobs(ctx context.Context, s *command.Shell, from *recordFlags, begin string) ([]string, error) {
	client, err := from.client()
	if err != nil {
		return nil, err
	}
	query := (&api.QueryOptions{Namespace: from.jobNamespace(s), Prefix: begin}).WithContext(ctx)
	jobs, _, err := client.Jobs().List(query)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, j := range jobs {
		out = append(out, j.ID)
	}
	return out, nil
}

// nodeNames are the names of all nodes, or IDs where the word begins one.
func nodeNames(ctx context.Context, s *command.Shell, from *recordFlags, begin string) ([]string, error) {
	nodes, err := readNodes(ctx, s, from)
	if err != nil {
		return nil, err
	}
	var names, ids []string
	for _, n := range nodes {
		names = append(names, n.Node.Name)
		if begin != "" && strings.HasPrefix(string(n.Node.ID), begin) {
			ids = append(ids, string(n.Node.ID))
		}
	}
	return append(slices.Compact(names), ids...), nil
}

func profileKeys(ctx context.Context, s *command.Shell, from *recordFlags, _ string) ([]string, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	return allKeys(ctx, r)
}

// allKeys are those of profiles and of what production says, sorted.
func allKeys(ctx context.Context, r records) ([]string, error) {
	profiles, err := r.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	productions, err := r.Productions(ctx)
	if err != nil && !errors.Is(err, cluster.ErrNoRecord) { // an older agent has no such page
		return nil, err
	}
	all := slices.Concat(profiles, productions)
	slices.Sort(all)
	return slices.Compact(all), nil
}

func namespaces(ctx context.Context, _ *command.Shell, from *recordFlags, begin string) ([]string, error) {
	client, err := from.client()
	if err != nil {
		return nil, err
	}
	list, _, err := client.Namespaces().PrefixList(begin, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range list {
		out = append(out, n.Name)
	}
	return out, nil
}

func pools(ctx context.Context, _ *command.Shell, from *recordFlags, begin string) ([]string, error) {
	client, err := from.client()
	if err != nil {
		return nil, err
	}
	list, _, err := client.NodePools().PrefixList(begin, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range list {
		out = append(out, p.Name)
	}
	return out, nil
}
