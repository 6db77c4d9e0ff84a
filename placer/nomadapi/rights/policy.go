package rights

import (
	"fmt"
	"slices"
	"strings"
)

// Policy describes an ACL policy to be written.
type Policy struct {
	Role Role
	With []Option
	// Namespaces are those whose jobs are placed, or that people use; none means all, and
	// for people the namespace default.
	Namespaces []string
	Namespace  string // of the agent's job and of its records; default: default
	Path       string // of the records; default: nomad-placer
	HoldPool   string // default: placer
	// Without, where set, leaves a right out of a rule, to try what it is needed for. The
	// rule is the name of a namespace, or "" where the right is about something else.
	Without func(rule string, r Right) bool
}

// RecordsPath is where the records are unless the configuration says otherwise, and the
// leader's lock always is.
const RecordsPath = "nomad-placer"

// every stands for all namespaces, as in Nomad.
const every = "*"

func (p Policy) withDefaults() Policy {
	if p.Namespace == "" {
		p.Namespace = "default"
	}
	if p.Path == "" {
		p.Path = RecordsPath
	}
	if p.HoldPool == "" {
		p.HoldPool = "placer"
	}
	return p
}

// HCL is the text of the policy, each right with its use.
func (p Policy) HCL() string {
	p = p.withDefaults()
	var b strings.Builder
	b.WriteString(p.header())
	for _, name := range p.rules() {
		p.namespace(&b, name)
	}
	for _, scope := range []Scope{Nodes, HoldPool, HostVolumes, Plugins} {
		p.block(&b, scope)
	}
	return b.String()
}

// Apply is the command that gives the policy in a file to its role.
func (p Policy) Apply(file string) string {
	p = p.withDefaults()
	switch p.Role {
	case User:
		return "nomad acl policy apply placer-user " + file
	case Pages:
		return fmt.Sprintf("nomad acl policy apply -namespace %s -job nomad-placer-pages nomad-placer-pages %s", p.Namespace, file)
	default:
		return fmt.Sprintf("nomad acl policy apply -namespace %s -job nomad-placer nomad-placer %s", p.Namespace, file)
	}
}

func (p Policy) header() string {
	about := map[Role]string{
		Leader: "What an agent of nomad-placer needs, and no more, when it runs as a Nomad job\n# with workload identity.",
		Pages:  "What an agent of nomad-placer needs that serves pages only (-role pages): it\n# reads.",
		User:   "What a person needs for `nomad-placer job run`, `plan`, `explain`, `status`,\n# `release` and `strip`, and for `node` and `profile`; and a proxy.",
	}[p.Role]
	return fmt.Sprintf("# %s\n#\n#   %s\n#\n# Written by: %s\n", about, p.Apply("policy.hcl"), p.command())
}

// command is how this policy was made.
func (p Policy) command() string {
	words := []string{"nomad-placer acl policy -role", string(p.Role)}
	for _, o := range p.With {
		words = append(words, "-"+string(o))
	}
	if len(p.Namespaces) > 0 {
		words = append(words, "-namespaces", strings.Join(p.Namespaces, ","))
	}
	for _, f := range []struct{ name, value, byDefault string }{
		{"placer-namespace", p.Namespace, "default"}, {"placer-path", p.Path, RecordsPath}, {"hold-pool", p.HoldPool, "placer"},
	} {
		if f.value != f.byDefault {
			words = append(words, "-"+f.name, f.value)
		}
	}
	return strings.Join(words, " ")
}

// rules are the names of the namespace rules.
func (p Policy) rules() []string {
	var names []string
	if p.Role != User {
		names = append(names, every)
	}
	for _, n := range append(slices.Clone(p.Namespaces), p.Namespace) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// serves reports whether jobs of the namespace of a rule are placed. Without names all
// are, but for a namespace that was made for the placer alone.
func (p Policy) serves(rule string) bool {
	if len(p.Namespaces) > 0 {
		return slices.Contains(p.Namespaces, rule)
	}
	return rule == every || rule == "default"
}

// namespace writes one rule. A rule that names a namespace replaces the one for "*".
func (p Policy) namespace(b *strings.Builder, rule string) {
	scopes := []Scope{Everywhere}
	if p.serves(rule) {
		scopes = append(scopes, Served)
	}
	capabilities := p.of(rule, scopes...)
	var records []Right
	if rule == p.Namespace {
		records = p.of(rule, Variables)
	}
	if len(capabilities)+len(records) == 0 {
		return
	}
	fmt.Fprintf(b, "\n# %s\nnamespace %q {\n", p.about(rule), rule)
	if len(capabilities) > 0 {
		b.WriteString("  capabilities = [\n")
		commented(b, "    ", capabilities)
		b.WriteString("  ]\n")
	}
	if len(records) > 0 {
		b.WriteString("  variables {\n")
		for _, path := range p.paths() {
			fmt.Fprintf(b, "    path %q {\n      capabilities = [\n", path+"/*")
			commented(b, "        ", records)
			b.WriteString("      ]\n    }\n")
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
}

func (p Policy) about(rule string) string {
	switch {
	case p.Role == User && !p.serves(rule):
		return "The placer's records are here."
	case p.Role == User && rule == p.Namespace:
		return "People submit jobs here, and the placer's records are here."
	case p.Role == User:
		return "People submit jobs here."
	case rule == every && p.serves(rule):
		return "Jobs of every namespace are placed; -namespaces names those that are."
	case rule == every:
		return "What runs on a node counts in every namespace."
	case rule == p.Namespace && p.serves(rule):
		return "Its own namespace, which has its records. A rule that names a namespace replaces\n# the one for \"*\"."
	case rule == p.Namespace:
		return "Its own namespace, which has its records; no jobs are placed in it."
	default:
		return "Jobs of this namespace are placed."
	}
}

// paths are those of the records, and of the leader's lock.
func (p Policy) paths() []string {
	if p.Path == RecordsPath {
		return []string{RecordsPath}
	}
	return []string{RecordsPath, p.Path}
}

// of are the rights of some scopes in a rule.
func (p Policy) of(rule string, scopes ...Scope) []Right {
	return slices.DeleteFunc(Of(p.Role, p.With...), func(r Right) bool {
		return !slices.Contains(scopes, r.Scope) || p.Without != nil && p.Without(rule, r)
	})
}

// commented writes capabilities, each with its use.
func commented(b *strings.Builder, indent string, rights []Right) {
	widest := 0
	for _, r := range rights {
		widest = max(widest, len(r.Capability))
	}
	for _, r := range rights {
		fmt.Fprintf(b, "%s%-*s # %s\n", indent, widest+3, fmt.Sprintf("%q,", r.Capability), r.Why)
	}
}

// block writes a block without a list of capabilities, if the role has a right of it. Of
// two policies the later one includes the earlier.
func (p Policy) block(b *strings.Builder, scope Scope) {
	rights := p.of("", scope)
	if len(rights) == 0 {
		return
	}
	b.WriteString("\n")
	for _, r := range rights {
		fmt.Fprintf(b, "# %s\n", sentence(r.Why))
	}
	last := rights[len(rights)-1].Capability
	switch scope {
	case HostVolumes:
		fmt.Fprintf(b, "# Nomad asks whoever registers a job for the right to its volumes; its user's own was\n# checked when the job was submitted.\nhost_volume \"*\" {\n  capabilities = [%q]\n}\n", last)
	case HoldPool:
		fmt.Fprintf(b, "node_pool %q {\n  policy = %q\n}\n", p.HoldPool, last)
	default:
		fmt.Fprintf(b, "%s {\n  policy = %q\n}\n", scope, last)
	}
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
