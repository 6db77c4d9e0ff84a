package cluster_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func TestAttributes(t *testing.T) {
	t.Parallel()
	m := map[string]string{"os.name": "debian", "cpu.arch": "amd64", "unique.hostname": "n1", "os.build": ""}
	a := cluster.NewAttributes(m)
	if got := maps.Collect(a.All()); !maps.Equal(got, m) {
		t.Errorf("got %v of %v", got, m)
	}
	if text, ok := a.Of("os.build"); text != "" || !ok {
		t.Errorf("an empty attribute: %q, %t", text, ok)
	}
	for _, name := range []string{"", "a", "os", "zz"} {
		if text, ok := a.Of(name); ok {
			t.Errorf("%q: %q, and there is none", name, text)
		}
	}
	other := a.With("os.name", "alpine").With("new", "1")
	if a.Text("os.name") != "debian" || other.Text("os.name") != "alpine" || other.Text("new") != "1" || other.Text("cpu.arch") != "amd64" {
		t.Errorf("got %v of %v", maps.Collect(other.All()), m)
	}
	if none := (cluster.Attributes{}); none.Text("os.name") != "" || len(maps.Collect(none.All())) != 0 || none.With("a", "b").Text("a") != "b" {
		t.Error("the zero value has attributes")
	}
	lists := 0
	shared := a.Shared(func(names []string) []string { lists++; return names }, func(name, value string) string {
		if name == "os.name" {
			return strings.ToUpper(value)
		}
		return value
	})
	if lists != 1 || shared.Text("os.name") != "DEBIAN" || shared.Text("unique.hostname") != "n1" || a.Text("os.name") != "debian" {
		t.Errorf("got %v of %v", maps.Collect(shared.All()), m)
	}
}
