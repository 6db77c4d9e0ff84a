package main

import (
	"context"
	"flag"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"
	"github.com/posener/complete"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// predictor returns what may be written at a place, given the beginning of the
// word there. A shell waits for it, so it gives up without a word.
type predictor func(ctx context.Context, s *shell, from *recordFlags, begin string) ([]string, error)

// completionTime is how long a shell waits for names from a cluster.
const completionTime = 2 * time.Second

// AutocompleteArgs completes what the command's arguments name.
func (b *bound) AutocompleteArgs() complete.Predictor {
	if b.command.complete != nil {
		return b.predict(b.command.complete)
	}
	switch strings.Trim(b.arguments, "[]") {
	case "FILE", "PATH":
		return complete.PredictFiles("*")
	case "FOLDER":
		return complete.PredictDirs("*")
	}
	return complete.PredictNothing
}

// AutocompleteFlags completes the names of all flags, and the values of those
// whose kind says what they are.
func (b *bound) AutocompleteFlags() complete.Flags {
	f, _ := b.flags()
	out := complete.Flags{}
	f.VisitAll(func(g *flag.Flag) { out["-"+g.Name] = b.flagValues(g) })
	return out
}

func (b *bound) flagValues(g *flag.Flag) complete.Predictor {
	if v, ok := g.Value.(interface{ IsBoolFlag() bool }); ok && v.IsBoolFlag() {
		return complete.PredictNothing
	}
	kind, _ := flag.UnquoteUsage(g)
	switch kind {
	case "file":
		return complete.PredictFiles("*")
	case "folder":
		return complete.PredictDirs("*")
	}
	if p, ok := valuePredictors[kind]; ok {
		return b.predict(p)
	}
	return complete.PredictAnything
}

// valuePredictors complete the values of flags, by the kind in their usage.
var valuePredictors = map[string]predictor{
	"policy":    policyNames,
	"level":     func(context.Context, *shell, *recordFlags, string) ([]string, error) { return logLevels, nil },
	"namespace": namespaces,
	"pool":      pools,
}

// predict runs a predictor with the flags that stand in the line already.
func (b *bound) predict(p predictor) complete.Predictor {
	return complete.PredictFunc(func(a complete.Args) []string {
		f, _ := b.flags()
		_, _ = parseInterspersed(f, a.Completed) // an unfinished line has errors
		ctx, cancel := context.WithTimeout(b.ctx, completionTime)
		defer cancel()
		names, err := p(ctx, b.shell, recordFlagsOf(f), a.Last)
		if err != nil {
			complete.Log("completing: %s", err)
			return nil
		}
		return names
	})
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

func policyNames(context.Context, *shell, *recordFlags, string) ([]string, error) {
	return policy.Names(), nil
}

// knownJobs are the jobs of the namespace that the placer has a record of.
func knownJobs(ctx context.Context, s *shell, from *recordFlags, _ string) ([]string, error) {
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
func nomadJobs(ctx context.Context, s *shell, from *recordFlags, begin string) ([]string, error) {
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
func nodeNames(ctx context.Context, s *shell, from *recordFlags, begin string) ([]string, error) {
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

func profileKeys(ctx context.Context, s *shell, from *recordFlags, _ string) ([]string, error) {
	r, err := from.open(s)
	if err != nil {
		return nil, err
	}
	return r.Profiles(ctx)
}

func namespaces(ctx context.Context, _ *shell, from *recordFlags, begin string) ([]string, error) {
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

func pools(ctx context.Context, _ *shell, from *recordFlags, begin string) ([]string, error) {
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
