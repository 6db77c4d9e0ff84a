package main

import (
	"fmt"
	"slices"
	"strings"
)

// checker holds what every check needs.
type checker struct {
	module string // path of the module
}

// inside returns a package's path inside the module.
func (c checker) inside(importPath string) (string, bool) {
	if importPath == c.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, c.module+"/")
}

// checkImports holds the imports of the module's packages against the rules.
func (c checker) checkImports(packages []listed) []string {
	var found []string
	for _, p := range packages {
		path, ok := c.inside(p.ImportPath)
		if !ok {
			continue
		}
		r, ok := ruleFor(path)
		if !ok {
			found = append(found, fmt.Sprintf("%s is in no layer: add it to e2e/checkimports/rules.go", path))
			continue
		}
		for _, imported := range p.Imports {
			if problem := c.checkImport(path, r, imported); problem != "" {
				found = append(found, problem)
			}
		}
	}
	return found
}

func (c checker) checkImport(path string, r rule, imported string) string {
	target, inside := c.inside(imported)
	switch {
	case inside && isTestSupport(target) && !isTestSupport(path):
		return fmt.Sprintf("%s imports %s: test support is imported by tests only", path, target)
	case inside && !covers(r.may, target):
		return fmt.Sprintf("%s (%s) imports %s%s: %s", path, r.layer, target, layerOf(target), r.because)
	case !inside && r.external != nil && !standard(imported) && !hasPrefix(r.external, imported):
		return fmt.Sprintf("%s (%s) imports %s: %s", path, r.layer, imported, r.because)
	}
	return ""
}

// checkProducts holds the programs that run on clusters against what only research
// needs.
func (c checker) checkProducts(products []listed) []string {
	var found []string
	for _, p := range products {
		found = append(found, c.checkResearch(p)...)
	}
	return found
}

// checkResearch holds a program that runs on clusters against what only research
// needs.
func (c checker) checkResearch(p listed) []string {
	program, ok := c.inside(p.ImportPath)
	if !ok || !slices.Contains(onClusters, program) {
		return nil
	}
	var found []string
	for _, linked := range p.Deps {
		path, ok := c.inside(linked)
		if !ok || !covers(researchOnly, path) || program == replays && covers(replayed, path) {
			continue
		}
		found = append(found, fmt.Sprintf("%s links %s, which only research needs (see researchOnly in e2e/checkimports/rules.go)", p.ImportPath, path))
	}
	return found
}

func ruleFor(path string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return covers(r.packages, path) })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

func isTestSupport(path string) bool {
	r, ok := ruleFor(path)
	return ok && r.layer == testSupport
}

func layerOf(path string) string {
	if r, ok := ruleFor(path); ok {
		return " (" + r.layer + ")"
	}
	return ""
}

// covers reports whether a pattern of the list covers a package.
func covers(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, path) })
}

func matches(pattern, path string) bool {
	if suffix, ok := strings.CutPrefix(pattern, ".../*"); ok {
		return strings.Contains(path, "/") && strings.HasSuffix(path, suffix)
	}
	if rest, ok := strings.CutPrefix(pattern, "*/"); ok {
		_, below, found := strings.Cut(path, "/")
		return found && matches(rest, below)
	}
	base, tree := strings.CutSuffix(pattern, "...")
	if !tree {
		return pattern == path
	}
	return strings.HasPrefix(path+"/", base)
}

func hasPrefix(prefixes []string, path string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// standard reports whether a path is of the standard library: only there is
// the first element without a dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
