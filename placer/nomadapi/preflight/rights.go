package preflight

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// right is one right of nomadapi.PolicyHCL.
type right struct {
	is      string // what is said of it: `"read-fs" in namespace prod`
	purpose string // what it is for, from the comment after it; may be empty
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
		return one(Unknown, fmt.Sprintf("The rights of %s are not known: %s.", a.subject, reason(err)), "Compare its policies with placer/nomadapi/policy.hcl by hand.")
	}
	namespaces, err := n.served(ctx, held)
	if err != nil {
		return []Line{unread(n, "The list of namespaces", `"list-jobs" in a namespace`, err)}
	}
	needed, err := neededRights(n.o, namespaces)
	if err != nil {
		return one(Unknown, fmt.Sprintf("The rights that the agent needs are not known: %s.", err), "")
	}
	return n.missing(a, held, needed, namespaces)
}

func (n *nomad) missing(a access, held grants, needed []right, namespaces []string) []Line {
	var lines []Line
	for _, r := range needed {
		if r.has(held) {
			continue
		}
		text := fmt.Sprintf("The policy of %s lacks the right %s.", a.subject, r.is)
		if r.purpose != "" {
			text = fmt.Sprintf("The policy of %s lacks the right %s, which the agent needs to %s.", a.subject, r.is, r.purpose)
		}
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

// served are the namespaces that the policies allow anything in, its own first.
// Others the operator has left out on purpose.
func (n *nomad) served(ctx context.Context, held grants) ([]string, error) {
	var all []struct{ Name string }
	if err := n.get(ctx, "/v1/namespaces", api.QueryOptions{}, &all); err != nil {
		return nil, err
	}
	names := []string{n.o.Namespace}
	for _, ns := range all {
		if ns.Name != n.o.Namespace && len(held.namespaces.of(ns.Name)) > 0 {
			names = append(names, ns.Name)
		}
	}
	return names, nil
}

// neededRights are those of nomadapi.PolicyHCL, for these namespaces and the
// configured hold pool.
func neededRights(o Options, namespaces []string) ([]right, error) {
	p, err := parsePolicy("policy.hcl", nomadapi.PolicyHCL)
	if err != nil {
		return nil, err
	}
	purposes := purposesOf(nomadapi.PolicyHCL)
	var out []right
	for _, rule := range p.Namespaces {
		if rule.Name == "*" {
			for _, c := range rule.Capabilities {
				out = append(out, inNamespaces(c, purposes[c], namespaces)...)
			}
		}
		if rule.Variables == nil {
			continue
		}
		for _, path := range rule.Variables.Paths {
			for _, c := range path.Capabilities {
				out = append(out, onVariables(o.Namespace, path.Name, c))
			}
		}
	}
	if p.Node != nil {
		out = append(out, onNodes(read), onNodes(p.Node.Policy))
	}
	if len(p.NodePools) > 0 {
		out = append(out, onPool(o.HoldPool, read, Failed), onPool(o.HoldPool, write, Warning))
	}
	return out, nil
}

func inNamespaces(capability, purpose string, namespaces []string) []right {
	var out []right
	for _, ns := range namespaces {
		out = append(out, right{
			is: fmt.Sprintf("%q in namespace %s", capability, ns), purpose: purpose, state: Failed,
			line: fmt.Sprintf("namespace %q { capabilities = [%q] }", ns, capability),
			has:  func(g grants) bool { return slices.Contains(g.namespaces.of(ns), capability) },
		})
	}
	return out
}

func onVariables(namespace, path, capability string) right {
	return right{
		is:      fmt.Sprintf("%q of Variables below %s in namespace %s", capability, path, namespace),
		purpose: "keep its records and to elect a leader", state: Failed,
		line: fmt.Sprintf("namespace %q { variables { path %q { capabilities = [%q] } } }", namespace, path, capability),
		has: func(g grants) bool {
			return g.allowsVariable(namespace, strings.Replace(path, "*", "any", 1), capability)
		},
	}
}

// onNodes: writing includes reading.
func onNodes(policy string) right {
	purposes := map[string]string{read: "see nodes and what they have", write: "write the pressure of each node into its metadata"}
	return right{
		is: fmt.Sprintf("%q of nodes", policy), purpose: purposes[policy], state: Failed,
		line: fmt.Sprintf("%s { policy = %q }", nodeIs, policy),
		has:  func(g grants) bool { return g.node == policy || g.node == write },
	}
}

// onPool: without the right to write, an operator has to make the pool.
func onPool(pool, capability string, state State) right {
	purposes := map[string]string{read: "see that the hold pool exists", write: "create the hold pool where it is missing"}
	return right{
		is: fmt.Sprintf("%q of node pool %s", capability, pool), purpose: purposes[capability], state: state,
		line: fmt.Sprintf("node_pool %q { policy = %q }", pool, capability),
		has:  func(g grants) bool { return slices.Contains(g.pools.of(pool), capability) },
	}
}

// commented finds a capability with the comment after it.
var commented = regexp.MustCompile(`(?m)^\s*"([a-z-]+)",\s*# (.+)$`)

func purposesOf(text string) map[string]string {
	out := map[string]string{}
	for _, m := range commented.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2]
	}
	return out
}
