package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/google/licensecheck"
)

// openSource are the licences that a linked or required module may have, as licensecheck calls them.
var openSource = []string{"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "MPL-2.0-no-copyleft-exception", "ISC", "Unlicense", "CC0-1.0", "Zlib", "Unicode-DFS-2016"}

// leastCoverage is the part of a licence file, in percent, that must be text of known
// licences: a notice next to it is usual, terms that were never read are not.
const leastCoverage = 75

// licence is what a module may be used under.
type licence struct {
	Module, Version string
	Linked          bool     // into a product, not only required for tests
	Licences        []string // of its files; empty: none was recognised
	Files           []string
	Problem         string

	dir string // of the module
}

// licenceFile is how files with licences are called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([.-].*)?$`)

// noticeFile is how files with notices are called that have to go with a copy (Apache-2.0,
// section 4d).
var noticeFile = regexp.MustCompile(`(?i)^notice([.-].*)?$`)

// licences reads the licence files of every module that a product links or that go.mod
// requires, sorted. Scanners that go by module refuse one of a test's just the same.
func (c checker) licences(ctx context.Context, dir string, shipped []listed) ([]licence, error) {
	modules, err := required(ctx, dir)
	if err != nil {
		return nil, err
	}
	linked, err := c.linked(ctx, dir, shipped)
	if err != nil {
		return nil, err
	}
	maps.Copy(modules, linked)
	var out []licence
	for _, m := range modules {
		l := licenceOf(m.Path, m.Version, m.Dir)
		_, l.Linked = linked[m.Path]
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b licence) int { return cmp.Compare(a.Module, b.Module) })
	return out, nil
}

// linked returns the modules of the packages that products link, by path.
func (c checker) linked(ctx context.Context, dir string, shipped []listed) (map[string]module, error) {
	modules := map[string]module{}
	var paths []string
	for _, p := range shipped {
		paths = append(paths, p.Deps...)
	}
	slices.Sort(paths)
	packages, err := list(ctx, dir, slices.Compact(paths)...)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if p.Module != nil && p.Module.Path != c.module {
			modules[p.Module.Path] = *p.Module
		}
	}
	return modules, nil
}

// licenceOf reads the licence files at the root of a module.
func licenceOf(path, version, dir string) licence {
	l := licence{Module: path, Version: version, dir: dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
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
			found = append(found, fmt.Sprintf("%s %s is %s: %s", l.Module, l.Version, l.use(), l.Problem))
		}
	}
	return found
}

// use says how the module gets into the product's list of modules.
func (l licence) use() string {
	if l.Linked {
		return "linked into a product"
	}
	return "required by go.mod"
}

// printLicences writes the report of `make licences`.
func printLicences(out io.Writer, all []licence) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "module\tversion\tlicence\tfile\tuse")
	for _, l := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Module, l.Version, cmp.Or(strings.Join(l.Licences, ", "), "unknown"), strings.Join(l.Files, ", "), l.use())
	}
	return w.Flush()
}

// printNotices writes the texts that go with the products: the licence of everything that
// they link, Go's own library included, word for word.
func printNotices(out io.Writer, all []licence) error {
	library, err := goLibrary()
	if err != nil {
		return err
	}
	fmt.Fprint(out, "The programs of nomad-placer contain the software below, each under its own licence.\n")
	for _, l := range append([]licence{library}, all...) {
		if !l.Linked {
			continue
		}
		fmt.Fprintf(out, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), l.Module, l.Version, strings.Join(l.Licences, ", "))
		if err := l.printTexts(out); err != nil {
			return err
		}
	}
	return nil
}

func (l licence) printTexts(out io.Writer) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || !slices.Contains(l.Files, e.Name()) && !noticeFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(l.dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s:\n\n%s\n", strings.Repeat("-", 80), e.Name(), strings.TrimRight(string(text), "\n"))
	}
	return nil
}

// goLibrary is the licence of Go's own library, which every program links.
func goLibrary() (licence, error) {
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return licence{}, fmt.Errorf("where Go is: %w", err)
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(root)), "\n")
	l := licenceOf("Go standard library", version, dir)
	l.Linked = true
	if l.Problem != "" {
		return l, fmt.Errorf("the licence of Go's library: %s", l.Problem)
	}
	return l, nil
}
