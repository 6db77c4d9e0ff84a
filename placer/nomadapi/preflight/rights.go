package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// right is one right of the agent, in one place.
type right struct {
	is      string // what is said of it: `"read-fs" in namespace prod`
	purpose string // what the agent needs it to do
	line    string // what to add to the policy
	state   State  // of a token without it
	has     func(grants) bool
}

// checkRights compares the policies, which Nomad shows to their holder, with the
// one the agent needs. Nothing is tried: most rights are to write.
func checkRights(ctx context.Context, n *nomad) []Line {
	a, err := n.access()
	switch {
	case err != nil:
		return []Line{unread(n, "Which policies the token has", "any policy", err)}
	case a.off:
		return one(OK, "Access control is off, so the agent needs no policy.", "")
	case a.management && len(a.policies) == 0:
		return one(Failed, fmt.Sprintf("No policy is attached to %s in namespace %s, so its agent may do nothing.", a.subject, n.o.Namespace),
			n.applyPolicy()+" If the agent runs with a token of its own, give that one with -token.")
	}
	held, err := n.readGrants(ctx, a.policies)
	if err != nil {
		return one(Unknown, fmt.Sprintf("The rights of %s are not known: %s.", a.subject, reason(err)), "Compare its policies with those of: nomad-placer acl policy.")
	}
	namespaces, err := n.namespaces(ctx)
	if err != nil {
		return []Line{unread(n, "The list of namespaces", `"list-jobs" in a namespace`, err)}
	}
	served := n.served(namespaces, held)
	return n.missing(a, held, neededRights(n.o, namespaces, served), served)
}

func (n *nomad) missing(a access, held grants, needed []right, namespaces []string) []Line {
	var lines []Line
	for _, r := range needed {
		if r.has(held) {
			continue
		}
		text := fmt.Sprintf("The policy of %s lacks the right %s, which the agent needs to %s.", a.subject, r.is, r.purpose)
		lines = append(lines, Line{State: r.state, Text: text, Cure: "Add to the policy: " + r.line + ". " + n.applyPolicy()})
	}
	if lines == nil {
		return one(OK, fmt.Sprintf("The policy of %s has every right that the agent needs, in %s.", a.subject, wording.List("namespace", namespaces)), "")
	}
	return lines
}

func (n *nomad) applyPolicy() string {
	return fmt.Sprintf("Then: nomad acl policy apply -namespace %s -job %s %s policy.hcl.", n.o.Namespace, nomadapi.DefaultOwner, nomadapi.DefaultOwner)
}

func (n *nomad) readGrants(ctx context.Context, names []string) (grants, error) {
	var policies []policy
	for _, name := range names {
		text, err := n.readPolicy(ctx, name)
		if err != nil {
			return grants{}, err
		}
		p, err := parsePolicy(name, text)
		if err != nil {
			return grants{}, err
		}
		policies = append(policies, p)
	}
	return newGrants(policies), nil
}

// namespaces are all there are, the placer's own first.
func (n *nomad) namespaces(ctx context.Context) ([]string, error) {
	var all []struct{ Name string }
	if err := n.get(ctx, "/v1/namespaces", api.QueryOptions{}, &all); err != nil {
		return nil, err
	}
	names := []string{n.o.Namespace}
	for _, ns := range all {
		if ns.Name != n.o.Namespace {
			names = append(names, ns.Name)
		}
	}
	return names, nil
}

// served are the namespaces whose jobs the policies let the agent place: those with more
// than what it needs to see in every namespace. Others the operator has left out on purpose.
func (n *nomad) served(namespaces []string, held grants) []string {
	seen := map[string]bool{}
	for _, r := range rights.Of(rights.Leader) {
		seen[r.Capability] = seen[r.Capability] || r.Scope == rights.Everywhere
	}
	var names []string
	for _, ns := range namespaces {
		if slices.ContainsFunc(held.namespaces.of(ns), func(c string) bool { return !seen[c] }) {
			names = append(names, ns)
		}
	}
	if names == nil {
		return []string{n.o.Namespace}
	}
	return names
}

// neededRights are those of an agent that may lead, in these namespaces and for the
// configured hold pool.
func neededRights(o Options, namespaces, served []string) []right {
	var out []right
	for _, r := range rights.Of(rights.Leader, o.With...) {
		switch r.Scope {
		case rights.Everywhere:
			for _, ns := range namespaces {
				needed := inNamespace(r, ns)
				if !slices.Contains(served, ns) {
					// Nodes look emptier than they are, and events are not followed.
					needed.state = Warning
				}
				out = append(out, needed)
			}
		case rights.Served:
			for _, ns := range served {
				out = append(out, inNamespace(r, ns))
			}
		case rights.Variables:
			out = append(out, onVariables(r, o.Namespace))
		case rights.Nodes:
			out = append(out, onAll(r, "nodes", func(g grants) string { return g.node }))
		case rights.Plugins:
			out = append(out, onAll(r, "CSI plugins", func(g grants) string { return g.plugin }))
		case rights.HoldPool:
			out = append(out, onPool(r, o.HoldPool))
		case rights.HostVolumes:
			out = append(out, onVolumes(r))
		}
	}
	return out
}

// stateWithout is what it means that a right is missing. Only jobs with a volume need the
// rights to volumes.
func stateWithout(r rights.Right) State {
	if r.ToVolumes() {
		return Warning
	}
	return Failed
}

func inNamespace(r rights.Right, ns string) right {
	return right{
		is: fmt.Sprintf("%q in namespace %s", r.Capability, ns), purpose: r.Why, state: stateWithout(r),
		line: fmt.Sprintf("namespace %q { capabilities = [%q] }", ns, r.Capability),
		has:  func(g grants) bool { return slices.Contains(g.namespaces.of(ns), r.Capability) },
	}
}

// recordsBelow are the paths of the placer's Variables.
const recordsBelow = rights.RecordsPath + "/*"

func onVariables(r rights.Right, namespace string) right {
	return right{
		is:      fmt.Sprintf("%q of Variables below %s in namespace %s", r.Capability, recordsBelow, namespace),
		purpose: r.Why, state: Failed,
		line: fmt.Sprintf("namespace %q { variables { path %q { capabilities = [%q] } } }", namespace, recordsBelow, r.Capability),
		has: func(g grants) bool {
			return slices.Contains(g.variables.of(variablesKey(namespace, strings.Replace(recordsBelow, "*", "any", 1))), r.Capability)
		},
	}
}

// onAll: writing includes reading.
func onAll(r rights.Right, what string, of func(grants) string) right {
	return right{
		is: fmt.Sprintf("%q of %s", r.Capability, what), purpose: r.Why, state: stateWithout(r),
		line: fmt.Sprintf("%s { policy = %q }", r.Scope, r.Capability),
		has:  func(g grants) bool { return of(g) == r.Capability || of(g) == write },
	}
}

func onPool(r rights.Right, pool string) right {
	return right{
		is: fmt.Sprintf("%q of node pool %s", r.Capability, pool), purpose: r.Why, state: Failed,
		line: fmt.Sprintf("node_pool %q { policy = %q }", pool, r.Capability),
		has:  func(g grants) bool { return slices.Contains(g.pools.of(pool), r.Capability) },
	}
}

func onVolumes(r rights.Right) right {
	return right{
		is: fmt.Sprintf("%q of every host volume", r.Capability), purpose: r.Why, state: stateWithout(r),
		line: fmt.Sprintf("host_volume \"*\" { capabilities = [%q] }", r.Capability),
		has:  func(g grants) bool { return slices.Contains(g.volumes.of("any"), r.Capability) },
	}
}
