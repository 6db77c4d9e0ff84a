package hcl

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func addInputs(f *testing.F, folders ...string) {
	f.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.hcl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
}

// FuzzDecode: no text panics the reader, every error has a place, and what is
// read can be written and read again.
func FuzzDecode(f *testing.F) {
	addInputs(f, "valid", "invalid")
	f.Fuzz(func(t *testing.T, src []byte) {
		spec, _, err := known.Decode(src, "fuzz.hcl")
		if err != nil {
			wellFormed(t, err)
			return
		}
		if _, _, err := known.Decode(Encode(spec), "again.hcl"); err != nil {
			t.Errorf("%v\n%s", err, Encode(spec))
		}
	})
}

// FuzzExtract: no jobspec panics, lines keep their numbers, and what is left
// holds no block of ours.
func FuzzExtract(f *testing.F) {
	addInputs(f, "jobspec/valid", "jobspec/invalid")
	f.Fuzz(func(t *testing.T, src []byte) {
		stripped, blocks, ds := Extract(src, "fuzz.hcl")
		if ds.HasErrors() {
			wellFormed(t, ds)
			return
		}
		if got, want := bytes.Count(stripped, []byte("\n")), bytes.Count(src, []byte("\n")); got != want {
			t.Errorf("%d lines became %d", want, got)
		}
		for name, b := range blocks {
			_, _, err := known.DecodeBlock(b, "fuzz.hcl")
			if err != nil {
				wellFormed(t, err)
			}
			if b.Line < 1 || b.EndLine < b.Line {
				t.Errorf("group %q: lines %d to %d", name, b.Line, b.EndLine)
			}
		}
		if _, more, ds := Extract(stripped, "fuzz.hcl"); ds.HasErrors() || len(more) > 0 {
			t.Errorf("stripped twice: %v %v", more, ds)
		}
	})
}

// FuzzAgentConfig: the same holds for the agent's file.
func FuzzAgentConfig(f *testing.F) {
	addInputs(f, "agent/valid", "agent/invalid")
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, err := known.DecodeAgentConfig(src, "fuzz.hcl"); err != nil {
			wellFormed(t, err)
		}
	})
}
