package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const isc = `Copyright (c) 2026 Somebody

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`

// A module is held against the files at its root, as licence scanners do: an unknown
// text, a missing file and a licence that is not open source are refused.
func TestLicencesByModule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   map[string]string
		problem string // empty: none
	}{
		"open source":          {map[string]string{"LICENSE": isc}, ""},
		"lower case, Markdown": {map[string]string{"licence.md": isc}, ""},
		"Go code by that name": {map[string]string{"LICENSE": isc, "license.go": "package x\n"}, ""},
		"no file":              {map[string]string{"README.md": isc}, "no licence file"},
		"terms of its own":     {map[string]string{"LICENSE": "You may not use this in production to compete with us.\n"}, "text of a known licence to 0 %"},
		"terms added":          {map[string]string{"LICENSE": isc + strings.Repeat("You may not use this in production to compete with us. ", 20)}, "text of a known licence to"},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := licenceOf("example.org/x", "v1.0.0", dir)
		if (l.Problem == "") != (c.problem == "") || !strings.Contains(l.Problem, c.problem) {
			t.Errorf("%s: %q, want %q (%+v)", name, l.Problem, c.problem, l)
		}
	}
	var l licence
	const proviso = ", provided that the above\ncopyright notice and this permission notice appear in all copies"
	l.read("COPYING", []byte(strings.Replace(isc, proviso, "", 1)))
	if !strings.Contains(l.Problem, "0BSD, which is not on the list") {
		t.Errorf("a licence that is not on the list gives %q", l.Problem)
	}
	found := licenceProblems([]licence{{Module: "example.org/good"}, {Module: "example.org/bad", Version: "v1.2.3", Problem: "no licence file at its root"}})
	if len(found) != 1 || !strings.Contains(found[0], "example.org/bad v1.2.3") {
		t.Errorf("problems %q", found)
	}
}

// TestRequiredModules: what go.mod requires is held against its licence, linked or not,
// since scanners that go by module read that list.
func TestRequiredModules(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(t.Context(), "testdata/requires", &out, func(all []licence) error { return printLicences(&out, all) })
	if !errors.Is(err, errViolations) {
		t.Fatalf("error %v, want violations", err)
	}
	want := "example.org/restricted v1.0.0 is required by go.mod: LICENSE is text of a known licence to 0 % only"
	if found := out.String(); !strings.Contains(found, want) || strings.Contains(found, "example.org/open v1.0.0 is required by go.mod:") {
		t.Errorf("report and problems:\n%s\nwant %s", found, want)
	}
}

// What goes with a release has the whole text of each licence that is linked, notices of
// Apache's kind too, and none of what is only required for tests.
func TestNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"LICENSE": isc, "NOTICE": "Made by Somebody.\n", "README": "Read me.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	linked, required := licenceOf("example.org/x", "v1.0.0", dir), licenceOf("example.org/test", "v1.0.0", dir)
	linked.Linked = true
	var out bytes.Buffer
	if err := printNotices(&out, []licence{required, linked}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		strings.TrimSpace(isc): true, "Made by Somebody.": true, "example.org/x v1.0.0 (ISC)": true, "Go standard library go1": true,
		"Copyright 2009 The Go Authors": true, "Read me.": false, "example.org/test": false,
	} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("%q is in it: %v", text, !want)
		}
	}
}
