package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/google/licensecheck"
)

// openSource are the licences that a linked module may have, as licensecheck calls them.
var openSource = []string{"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "MPL-2.0-no-copyleft-exception", "ISC", "Unlicense", "CC0-1.0", "Zlib", "Unicode-DFS-2016"}

// leastCoverage is the part of a licence file, in percent, that must be text of known
// licences: a notice beside it is usual, terms that nobody has read are not.
const leastCoverage = 75

// licence is what the module of some linked package may be used under.
type licence struct {
	Module, Version string
	Licences        []string // of its files; empty: none was recognised
	Files           []string
	Problem         string
}

// licenceFile is how files with licences are called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)

// licences reads the licence files of every module that a product links, sorted. Tools
// that go by module see the same files.
func (c checker) licences(ctx context.Context, dir string, shipped []listed) ([]licence, error) {
	var paths []string
	for _, p := range shipped {
		paths = append(paths, p.Deps...)
	}
	slices.Sort(paths)
	packages, err := list(ctx, dir, slices.Compact(paths)...)
	if err != nil {
		return nil, err
	}
	modules := map[string]licence{}
	for _, p := range packages {
		if p.Module == nil || p.Module.Path == c.module {
			continue
		}
		if _, seen := modules[p.Module.Path]; seen {
			continue
		}
		modules[p.Module.Path] = licenceOf(p.Module.Path, p.Module.Version, p.Module.Dir)
	}
	var out []licence
	for _, l := range modules {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b licence) int { return cmp.Compare(a.Module, b.Module) })
	return out, nil
}

// licenceOf reads the licence files at the root of a module.
func licenceOf(path, version, dir string) licence {
	l := licence{Module: path, Version: version}
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			l.Problem = err.Error()
			return l
		}
		l.Files = append(l.Files, e.Name())
		l.read(e.Name(), text)
	}
	if len(l.Files) == 0 {
		l.Problem = "no licence file at its root"
	}
	return l
}

func (l *licence) read(name string, text []byte) {
	found := licensecheck.Scan(text)
	if found.Percent < leastCoverage {
		l.Problem = fmt.Sprintf("%s is text of a known licence to %.0f %% only", name, found.Percent)
	}
	for _, m := range found.Match {
		if !slices.Contains(openSource, m.ID) {
			l.Problem = fmt.Sprintf("%s is under %s, which is not on the list of open-source licences (e2e/checkimports/licences.go)", name, m.ID)
		}
		if !slices.Contains(l.Licences, m.ID) {
			l.Licences = append(l.Licences, m.ID)
		}
	}
}

func licenceProblems(all []licence) []string {
	var found []string
	for _, l := range all {
		if l.Problem != "" {
			found = append(found, fmt.Sprintf("%s %s is linked into a product: %s", l.Module, l.Version, l.Problem))
		}
	}
	return found
}

// printLicences writes the report of `make licences`.
func printLicences(out io.Writer, all []licence) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "module\tversion\tlicence\tfile")
	for _, l := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", l.Module, l.Version, cmp.Or(strings.Join(l.Licences, ", "), "unknown"), strings.Join(l.Files, ", "))
	}
	return w.Flush()
}
