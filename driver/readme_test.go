package driver

import (
	"os"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The README names every option, every source and every variant.
func TestReadmeIsComplete(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	words := append(names(pluginSchema), names(taskSchema)...)
	for _, info := range interference.Sources() {
		words = append(words, string(info.Source))
		if d, err := ibench.Describe(info.Source); err == nil {
			words = append(words, d.Variants...)
		}
	}
	for _, word := range words {
		if !strings.Contains(string(text), "`"+word) && !strings.Contains(string(text), " "+word+" ") {
			t.Errorf("the README does not name %q", word)
		}
	}
}

// names lists the attributes and blocks of a schema, nested ones too.
func names(spec *protocol.Spec) []string {
	var out []string
	for name, inner := range spec.GetObject().GetAttributes() {
		out = append(out, name)
		switch {
		case inner.GetBlockList() != nil:
			out = append(out, names(inner.GetBlockList().GetNested())...)
		case inner.GetBlockValue() != nil:
			out = append(out, names(inner.GetBlockValue().GetNested())...)
		}
	}
	return out
}
