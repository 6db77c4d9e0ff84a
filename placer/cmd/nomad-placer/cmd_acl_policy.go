package main

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// allowFlags are what an operator allows an agent besides what it always needs.
type allowFlags struct{ execProbes, nodeMetadata, createHoldPool bool }

func (a *allowFlags) add(f *flag.FlagSet) {
	f.BoolVar(&a.execProbes, "exec-probes", false, "With the rights to run the commands of exec probes in tasks (exec_probes in the agent's configuration).")
	f.BoolVar(&a.nodeMetadata, "node-metadata", false, "With the right to write the pressure of nodes into their metadata (node_metadata in the agent's configuration). Nomad counts that as writing nodes: draining and purging them goes with it.")
	f.BoolVar(&a.createHoldPool, "create-hold-pool", false, "With the right to create the hold pool.")
}

func (a *allowFlags) options() []rights.Option {
	var out []rights.Option
	for _, o := range []struct {
		on     bool
		option rights.Option
	}{{a.execProbes, rights.ExecProbes}, {a.nodeMetadata, rights.NodeMetadata}, {a.createHoldPool, rights.CreateHoldPool}} {
		if o.on {
			out = append(out, o.option)
		}
	}
	return out
}

func aclPolicyCommand() *command.Command {
	return &command.Command{
		Name: "acl policy", Synopsis: "Write the ACL policy that a part of the placer needs",
		About: "Prints the policy of an agent that may lead (leader), of an agent that serves pages only (pages), or of people and of a proxy (user). Each right is there because a call of Nomad's API needs it, and says what for. " +
			"Its first lines say how to apply it. As data, it is the list of the rights with the calls that need them.\n\n" +
			"Without -namespaces jobs of every namespace are placed. With it, of these only; elsewhere the agent may read jobs, since all that runs on a node counts.",
		Example: "nomad-placer acl policy > policy.hcl\nnomad-placer acl policy -namespaces prod,staging -placer-namespace placer",
		Setup: func(f *flag.FlagSet) command.Runner {
			var allow allowFlags
			var out command.OutputFlags
			var p rights.Policy
			out.Add(f)
			role := f.String("role", string(rights.Leader), "The `role`: "+strings.Join(rights.Roles(), ", ")+".")
			namespaces := f.String("namespaces", "", "The namespaces whose jobs are placed, or that people use: a `list` with commas. Else all, and for people the namespace default.")
			f.StringVar(&p.Namespace, "placer-namespace", api.DefaultNamespace, "The `namespace` of the agent's job and of the placer's Variables.")
			f.StringVar(&p.Path, "placer-path", nomadvars.DefaultPrefix, "The path `prefix` of the placer's Variables.")
			f.StringVar(&p.HoldPool, "hold-pool", nomadapi.DefaultHoldPool, "Node `pool` without nodes in which jobs wait.")
			allow.add(f)
			return func(_ context.Context, s *command.Shell, _ []string) error {
				if !slices.Contains(rights.Roles(), *role) {
					return command.UsageError("unknown role %q; known: %s", *role, strings.Join(rights.Roles(), ", "))
				}
				p.Role, p.With = rights.Role(*role), allow.options()
				if *namespaces != "" {
					p.Namespaces = strings.Split(*namespaces, ",")
				}
				if slices.ContainsFunc(append(slices.Clone(p.Namespaces), p.Namespace), badNamespace) {
					return command.UsageError("-namespaces and -placer-namespace take names of namespaces, with commas and nothing else between them")
				}
				return out.Print(s, rights.Of(p.Role, p.With...), func(page *command.Page) {
					page.Line(command.Text(strings.TrimSuffix(p.HCL(), "\n")))
				})
			}
		},
	}
}

// badNamespace reports what cannot be written into a rule as it is.
func badNamespace(name string) bool { return name == "" || strings.ContainsAny(name, "\" \t\n\\") }
