package preflight

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// policy is the part of an ACL policy that the placer has rights of. Nomad 1.11
// answers a policy parsed as well, older versions do not.
type policy struct {
	Namespaces []namespaceRule `hcl:"namespace,block"`
	NodePools  []rule          `hcl:"node_pool,block"`
	Volumes    []rule          `hcl:"host_volume,block"`
	Node       *whole          `hcl:"node,block"`
	Plugin     *whole          `hcl:"plugin,block"`
	Rest       hcl.Body        `hcl:",remain"`
}

// whole is a block without a name: its rule is for all there are.
type whole struct {
	Policy string   `hcl:"policy,optional"`
	Rest   hcl.Body `hcl:",remain"`
}

// rule is a block with a name or a pattern.
type rule struct {
	Name         string   `hcl:",label"`
	Policy       string   `hcl:"policy,optional"`
	Capabilities []string `hcl:"capabilities,optional"`
}

type namespaceRule struct {
	Name         string   `hcl:",label"`
	Policy       string   `hcl:"policy,optional"`
	Capabilities []string `hcl:"capabilities,optional"`
	Variables    *struct {
		Paths []rule `hcl:"path,block"`
	} `hcl:"variables,block"`
	Rest hcl.Body `hcl:",remain"`
}

func parsePolicy(name, text string) (policy, error) {
	parser := hclparse.NewParser()
	parse := parser.ParseHCL
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		parse = parser.ParseJSON
	}
	var p policy
	file, problems := parse([]byte(text), name)
	if !problems.HasErrors() {
		problems = gohcl.DecodeBody(file.Body, nil, &p)
	}
	if problems.HasErrors() {
		return policy{}, fmt.Errorf("policy %s: %w", name, problems)
	}
	return p, nil
}

// Nomad's words for rights.
const (
	deny  = "deny"
	read  = "read"
	write = "write"
)

// shorthand are the capabilities that `policy = "…"` stands for in a namespace,
// those the placer has no use for left out.
var shorthand = map[string][]string{
	deny:    {deny},
	read:    {"list-jobs", "read-job", "parse-job"},
	"scale": {"read-job", "scale-job"},
	write:   {"list-jobs", "read-job", "parse-job", "scale-job", "submit-job", "dispatch-job", "read-logs", "read-fs", "alloc-exec", "alloc-lifecycle"},
}

// poolShorthand is the same for a node pool, volumeShorthand for a host volume.
var (
	poolShorthand   = map[string][]string{deny: {deny}, read: {read}, write: {"delete", read, write}}
	volumeShorthand = map[string][]string{deny: {deny}, read: {"mount-readonly"}, write: {"mount-readonly", "mount-readwrite"}}
)

// grants are what some policies allow together, by the names of their rules.
type grants struct {
	namespaces, pools, variables, volumes ruleSet
	node, plugin                          string
}

// ruleSet has the capabilities of each rule.
type ruleSet map[string][]string

func (r ruleSet) add(name string, capabilities []string) {
	r[name] = append(r[name], capabilities...)
}

// variablesKey joins namespace and path as Nomad does, so that a pattern spans both.
func variablesKey(namespace, path string) string { return namespace + "\x00" + path }

func newGrants(policies []policy) grants {
	g := grants{namespaces: ruleSet{}, pools: ruleSet{}, variables: ruleSet{}, volumes: ruleSet{}}
	for _, p := range policies {
		for _, ns := range p.Namespaces {
			g.namespaces.add(ns.Name, slices.Concat(ns.Capabilities, shorthand[ns.Policy]))
			if ns.Variables == nil {
				continue
			}
			for _, path := range ns.Variables.Paths {
				g.variables.add(variablesKey(ns.Name, path.Name), path.Capabilities)
			}
		}
		for _, pool := range p.NodePools {
			g.pools.add(pool.Name, slices.Concat(pool.Capabilities, poolShorthand[pool.Policy]))
		}
		for _, volume := range p.Volumes {
			g.volumes.add(volume.Name, slices.Concat(volume.Capabilities, volumeShorthand[volume.Policy]))
		}
		if p.Node != nil {
			g.node = stronger(g.node, p.Node.Policy)
		}
		if p.Plugin != nil {
			g.plugin = stronger(g.plugin, p.Plugin.Policy)
		}
	}
	return g
}

// stronger is the one that counts of two policies on nodes or on plugins.
func stronger(a, b string) string {
	for _, p := range []string{deny, write, read, "list"} {
		if a == p || b == p {
			return p
		}
	}
	return ""
}

// of are the capabilities for a name: of the rule with that name, else of the
// closest pattern, as Nomad chooses them.
func (r ruleSet) of(name string) []string {
	found, exact := r[name]
	if !exact {
		found = r[r.closest(name)]
	}
	if slices.Contains(found, deny) {
		return nil
	}
	return found
}

// closest is the pattern that differs least from the name in length.
func (r ruleSet) closest(name string) string {
	best, least := "", 0
	for pattern := range r {
		if !strings.Contains(pattern, "*") || !matches(pattern, name) {
			continue
		}
		difference := len(name) - len(pattern) + strings.Count(pattern, "*")
		if best == "" || difference < least || difference == least && pattern < best {
			best, least = pattern, difference
		}
	}
	return best
}

func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\z`).MatchString(name)
}
