package cluster_test

import (
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
)

func constraintNode() *cluster.Node {
	n := clustertest.Node("3f9d-1", "large",
		clustertest.Attribute("cpu.arch", "amd64"),
		clustertest.Attribute("cpu.numcores", "12"),
		clustertest.Attribute("nomad.version", "1.11.2"),
		clustertest.Attribute("kernel.version", "6.1.0-rc1"),
		clustertest.Attribute("driver.ibench.kernels", "mem_bw, llc_cap,l1d"),
		clustertest.Attribute("driver.ibench.llc_size", "9MiB"),
		clustertest.Attribute("empty", ""),
		clustertest.Attribute("speed", "10.5"),
	)
	n.Meta["rack"] = "r7"
	n.Meta["wanted_arch"] = "amd64"
	n.Meta["min_version"] = ">= 1.11"
	return n
}

// satisfies matches one constraint against one node, and says in words why it does
// not.
func satisfies(n *cluster.Node, c cluster.Constraint) (ok bool, detail string, err error) {
	k, err := cluster.CompileConstraint(c)
	if err != nil {
		return false, err.Error(), err
	}
	if k.Match(n) {
		return true, "", nil
	}
	return false, k.Explain(n), nil
}

// The expectations are what a Nomad 1.11.2 server answers to job plan; those it
// refuses to register are its scheduler's rules.
func TestSatisfies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attribute, operator, value string
		want                       bool
	}{
		// equality, and each way to name a node's facts
		{"${node.unique.id}", "=", "3f9d-1", true},
		{"${node.unique.name}", "", "3f9d-1", true},
		{"${node.class}", "==", "large", true},
		{"${node.class}", "is", "small", false},
		{"${node.datacenter}", "=", "dc1", true},
		{"${node.pool}", "=", "prod", true},
		{"${attr.cpu.arch}", "=", "amd64", true},
		{"${meta.rack}", "=", "r7", true},
		{"${attr.cpu.arch}", "=", "${meta.wanted_arch}", true},
		{"amd64", "=", "${attr.cpu.arch}", true},
		{"${attr.absent}", "=", "", false},
		{"${node.region}", "=", "global", false},
		{"x${attr.cpu.arch}", "=", "xamd64", false}, // no interpolation inside text
		{"${attr.cpu.arch}", "!=", "arm64", true},
		{"${attr.cpu.arch}", "not", "amd64", false},
		{"${attr.absent}", "!=", "x", true}, // missing differs from anything
		{"${attr.absent}", "!=", "", false}, // except from nothing
		// order: integers, floats, text
		{"${attr.cpu.numcores}", ">=", "4", true}, // text would say "12" < "4"
		{"${attr.cpu.numcores}", "<", "4", false},
		{"${attr.cpu.numcores}", "<=", "12", true},
		{"${attr.cpu.numcores}", ">", "12", false},
		{"${attr.speed}", ">", "9.75", true},
		{"${attr.speed}", ">", "9", true}, // integer against float: both floats
		{"${attr.cpu.arch}", "<", "arm64", true},
		{"${attr.driver.ibench.llc_size}", ">=", "16 MiB", true}, // text: "9" > "1"
		{"${attr.absent}", "<", "5", false},
		{"${attr.speed}", ">", "NaN", false},
		// presence
		{"${attr.empty}", "is_set", "", true},
		{"${attr.absent}", "is_set", "", false},
		{"${attr.absent}", "is_not_set", "", true},
		{"${meta.rack}", "is_not_set", "", false},
		// patterns
		{"${attr.cpu.arch}", "regexp", "^amd", true},
		{"${attr.cpu.arch}", "regexp", "64$|32$", true},
		{"${attr.absent}", "regexp", ".*", false},
		// version: pre-releases only where named
		{"${attr.nomad.version}", "version", ">= 1.10, < 2.0", true},
		{"${attr.nomad.version}", "version", "~> 1.10", true},
		{"${attr.nomad.version}", "version", "~> 1.10.0", false},
		{"${attr.nomad.version}", "version", "${meta.min_version}", true},
		{"${attr.kernel.version}", "version", ">= 6.0", false},
		{"${attr.cpu.arch}", "version", ">= 1", false},
		// semver: pre-releases in their order
		{"${attr.kernel.version}", "semver", ">= 6.0.0", true},
		{"${attr.kernel.version}", "semver", ">= 6.1.0", false},
		{"${attr.kernel.version}", "semver", "> 6.1.0-beta1, < 6.1.0", true},
		{"${attr.nomad.version}", "semver", "1.11.2", true},
		{"${attr.nomad.version}", "semver", ">= 1.11", true},
		{"${attr.nomad.version}", "semver", "!= 1.11.2", false},
		// sets
		{"${attr.driver.ibench.kernels}", "set_contains", "llc_cap", true},
		{"${attr.driver.ibench.kernels}", "set_contains", "llc_cap,mem_bw", true},
		{"${attr.driver.ibench.kernels}", "set_contains_all", "llc_cap, tlb", false},
		{"${attr.driver.ibench.kernels}", "set_contains_any", "tlb , l1d", true},
		{"${attr.driver.ibench.kernels}", "set_contains_any", "tlb", false},
		{"${node.unique.id}", "set_contains_any", "a,3f9d-1,b", true},
		// between allocations
		{"", "distinct_hosts", "true", true},
		{"${meta.rack}", "distinct_property", "2", true},
	} {
		t.Run(c.attribute+" "+c.operator+" "+c.value, func(t *testing.T) {
			t.Parallel()
			got, detail, err := satisfies(constraintNode(), cluster.Constraint{Attribute: c.attribute, Operator: c.operator, Value: c.value})
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %v, want %v (%s)", got, c.want, detail)
			}
			if got == (detail != "") {
				t.Errorf("satisfied %v with detail %q", got, detail)
			}
		})
	}
}

func TestUnreadableConstraints(t *testing.T) {
	t.Parallel()
	for _, c := range []cluster.Constraint{
		{Attribute: "${attr.cpu.arch}", Operator: "regexp", Value: "("},
		{Attribute: "${attr.nomad.version}", Operator: "version", Value: "about 1"},
		{Attribute: "${attr.nomad.version}", Operator: "semver", Value: "~> 1.0"},
		{Attribute: "${attr.nomad.version}", Operator: "semver", Value: ""},
		{Attribute: "${attr.cpu.arch}", Operator: "like", Value: "amd"},
	} {
		ok, detail, err := satisfies(constraintNode(), c)
		if ok || err == nil || detail == "" {
			t.Errorf("%s: ok %v, detail %q, error %v", c, ok, detail, err)
		}
	}
	// A bad pattern that only the node supplies fails that node, as in Nomad.
	n := constraintNode()
	n.Meta["pattern"] = "("
	if ok, _, err := satisfies(n, cluster.Constraint{Attribute: "${attr.cpu.arch}", Operator: "regexp", Value: "${meta.pattern}"}); ok || err != nil {
		t.Errorf("ok %v, error %v", ok, err)
	}
}

func TestExplainNamesWhatTheNodeHas(t *testing.T) {
	t.Parallel()
	_, detail, _ := satisfies(constraintNode(), cluster.Constraint{Attribute: "${attr.cpu.arch}", Operator: "=", Value: "arm64"})
	if !strings.Contains(detail, `"amd64"`) || !strings.Contains(detail, "arm64") {
		t.Errorf("detail %q", detail)
	}
	_, detail, _ = satisfies(constraintNode(), cluster.Constraint{Attribute: "${meta.zone}", Operator: "=", Value: "a"})
	if !strings.Contains(detail, "no ${meta.zone}") {
		t.Errorf("detail %q", detail)
	}
}

func TestWhatNodesHave(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"${node.class}": true, "${node.unique.name}": true, "${meta.rack}": true, "${attr.cpu.arch}": true,
		"node.class": false, "${node.klass}": false, "${rack}": false, "${meta.}": false, "${attr.}": false, "": false,
	} {
		if cluster.OfNode(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
