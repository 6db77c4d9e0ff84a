package hcl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const examples = "../examples/performance-block"

// Every example's block reads without a problem or a warning, and there is one
// for each kind of target.
func TestExampleJobs(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(examples, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]performance.Kind{
		"service.hcl": performance.QPS, "batch.hcl": performance.FinishWithin,
		"rate.hcl": performance.Rate, "best-effort.hcl": performance.BestEffort,
	}
	files, err := filepath.Glob(filepath.Join(examples, "*.hcl"))
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d example jobs, want %d (%v)", len(files), len(want), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("%s is not in the README", name)
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spec, warnings, err := onlyBlock(t, src, name)
		if err != nil || len(warnings) > 0 || spec.Target.Kind != want[name] {
			t.Errorf("%s: %v %v %v", name, spec.Target, warnings, err)
		}
	}
}

func TestStorageExample(t *testing.T) {
	t.Parallel()
	const name = "../examples/storage/ingest.nomad.hcl"
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	spec, warnings, err := onlyBlock(t, src, name)
	if err != nil || len(warnings) > 0 || spec.Disk == nil || spec.Disk.BandwidthMBPerSec != 26 || spec.Policy != "bloc" {
		t.Errorf("%+v, %v, %v", spec, warnings, err)
	}
}

// The jobspecs in the reference are read as the placer reads them.
func TestReferenceJobs(t *testing.T) {
	t.Parallel()
	const name = "../placer/docs/performance-block.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, part := range strings.Split(string(page), "```hcl\n")[1:] {
		src, _, _ := strings.Cut(part, "```")
		switch {
		case strings.HasPrefix(src, "job "):
			jobs++
		case strings.HasPrefix(src, "meta "):
			src = "job \"x\" {\n  group \"g\" {\n" + src + "  }\n}\n"
			jobs++
		case strings.HasPrefix(src, "owned "):
			if _, err := known.DecodePrices([]byte(src), name, nil); err != nil {
				t.Error(err)
			}
			continue
		default:
			if _, err := known.DecodeAgentConfig([]byte(src), name); err != nil {
				t.Error(err)
			}
			continue
		}
		if _, _, err := onlyBlock(t, []byte(src), name); err != nil {
			t.Error(err)
		}
	}
	if jobs != 2 {
		t.Errorf("%d jobs in %s, want 2", jobs, name)
	}
}

// onlyBlock decodes the one performance text of a jobspec, native or in meta.
func onlyBlock(t *testing.T, src []byte, name string) (performance.Spec, []string, error) {
	t.Helper()
	_, blocks, ds := Extract(src, name)
	if ds != nil {
		t.Fatal(ds)
	}
	for _, b := range blocks {
		return known.DecodeBlock(b, name)
	}
	return known.Decode([]byte(textInMeta(t, src)), name)
}

// textInMeta is what Nomad would keep of the first group's meta.performance.
func textInMeta(t *testing.T, src []byte) string {
	t.Helper()
	s := newSource(src, "job.hcl", position{line: 1, column: 1})
	body := s.parse(MaxJobspecBytes)
	for _, kind := range []string{"job", "group", "meta"} {
		var next *hclsyntax.Body
		for _, b := range body.Blocks {
			if b.Type == kind {
				next = b.Body
			}
		}
		if next == nil {
			t.Fatalf("no %s", kind)
		}
		body = next
	}
	v, diags := body.Attributes[MetaKey].Expr.Value(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return v.AsString()
}
