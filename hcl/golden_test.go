package hcl

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// update rewrites the golden files; read the diff before keeping it.
var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with the file next to the input that ends in .golden.
func golden(t *testing.T, input, got string) {
	t.Helper()
	name := strings.TrimSuffix(input, ".hcl") + ".golden"
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if got != string(want) {
		t.Errorf("%s differs.\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// eachInput runs a subtest per .hcl file of a folder of testdata.
func eachInput(t *testing.T, folder string, atLeast int, test func(t *testing.T, file string, src []byte)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < atLeast {
		t.Fatalf("%d inputs in %s, want at least %d", len(files), folder, atLeast)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".hcl"), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			test(t, file, src)
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

func TestDecodeGolden(t *testing.T) {
	t.Parallel()
	eachInput(t, "valid", 15, func(t *testing.T, file string, src []byte) {
		spec, warnings, err := known.Decode(src, "block.hcl")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, file, asJSON(t, struct {
			Spec     performance.Spec `json:"spec"`
			Warnings []string         `json:"warnings,omitempty"`
		}{spec, warnings}))
	})
}

func TestDecodeGoldenErrors(t *testing.T) {
	t.Parallel()
	eachInput(t, "invalid", 35, func(t *testing.T, file string, src []byte) {
		spec, warnings, err := known.Decode(src, "block.hcl")
		if err == nil {
			t.Fatalf("no error; read as %s", asJSON(t, spec))
		}
		wellFormed(t, err)
		golden(t, file, strings.Join(append(warnings, err.Error()), "\n")+"\n")
	})
}

// wellFormed checks what holds of every error.
func wellFormed(t testing.TB, err error) {
	t.Helper()
	var ds Diagnostics
	if !errors.As(err, &ds) {
		t.Fatalf("error of type %T", err)
	}
	if len(ds) == 0 || !ds.HasErrors() {
		t.Fatal("an error without a problem")
	}
	for _, d := range ds {
		if d.Line < 1 || d.Column < 1 || d.File == "" || d.Summary == "" || d.Severity == "" {
			t.Errorf("incomplete: %+v", d)
		}
	}
	if len(ds) > maxDiagnostics+1 {
		t.Errorf("%d problems", len(ds))
	}
}

func TestAgentConfigGolden(t *testing.T) {
	t.Parallel()
	eachInput(t, "agent/valid", 3, func(t *testing.T, file string, src []byte) {
		config, err := known.DecodeAgentConfig(src, "agent.hcl")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, file, asJSON(t, config))
	})
}

func TestAgentConfigGoldenErrors(t *testing.T) {
	t.Parallel()
	eachInput(t, "agent/invalid", 6, func(t *testing.T, file string, src []byte) {
		config, err := known.DecodeAgentConfig(src, "agent.hcl")
		if err == nil {
			t.Fatalf("no error; read as %s", asJSON(t, config))
		}
		wellFormed(t, err)
		golden(t, file, err.Error()+"\n")
	})
}

func TestExtractGolden(t *testing.T) {
	t.Parallel()
	eachInput(t, "jobspec/valid", 6, func(t *testing.T, file string, src []byte) {
		stripped, blocks, ds := Extract(src, "job.hcl")
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		var out strings.Builder
		out.Write(stripped)
		for _, name := range slices.Sorted(maps.Keys(blocks)) {
			out.WriteString("---- group " + name + ": " + asJSON(t, blocks[name]))
			if _, _, err := known.DecodeBlock(blocks[name], "job.hcl"); err != nil {
				out.WriteString(err.Error() + "\n")
			}
		}
		golden(t, file, out.String())
		if got, want := strings.Count(string(stripped), "\n"), strings.Count(string(src), "\n"); got != want {
			t.Errorf("%d lines of %d are left", got, want)
		}
	})
}

func TestExtractGoldenErrors(t *testing.T) {
	t.Parallel()
	eachInput(t, "jobspec/invalid", 10, func(t *testing.T, file string, src []byte) {
		stripped, _, ds := Extract(src, "job.hcl")
		if !ds.HasErrors() {
			t.Fatalf("no error; stripped to\n%s", stripped)
		}
		wellFormed(t, ds)
		golden(t, file, ds.Error()+"\n")
	})
}
