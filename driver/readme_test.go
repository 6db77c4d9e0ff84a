package driver

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The README names every source and every variant.
func TestReadmeIsComplete(t *testing.T) {
	t.Parallel()
	var words []string
	for _, info := range interference.Sources() {
		words = append(words, string(info.Source))
		if d, err := ibench.Describe(info.Source); err == nil {
			words = append(words, d.Variants...)
		}
	}
	namesAll(t, "README.md", words)
}

// The guide names every option of the plugin and of a task.
func TestGuideIsComplete(t *testing.T) {
	t.Parallel()
	namesAll(t, "docs/guide.md", append(names(pluginSchema), names(taskSchema)...))
}

var update = flag.Bool("update", false, "write the guide's table of kernels anew")

// The guide says of each kernel what its descriptor says. Not in parallel: with
// -update it writes what other tests read.
func TestGuideDescribesTheKernels(t *testing.T) {
	const page, begin, end = "docs/guide.md", "<!-- begin kernels -->\n", "<!-- end kernels -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table of kernels", page)
	}
	var b strings.Builder
	b.WriteString("| source | intensity is the | it puts pressure on | it leaves alone |\n| --- | --- | --- | --- |\n")
	for _, info := range interference.Sources() {
		d, err := ibench.Describe(info.Source)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Source, d.Means, d.Loads, d.Spares)
	}
	want := head + begin + b.String() + end + tail
	switch {
	case want == string(text):
	case !*update:
		t.Errorf("%s differs from the kernels' descriptors; rewrite it with -update", page)
	default:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// namesAll checks that a page names every word.
func namesAll(t *testing.T, page string, words []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		if !strings.Contains(string(text), "`"+word) && !strings.Contains(string(text), " "+word+" ") {
			t.Errorf("%s does not name %q", page, word)
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
