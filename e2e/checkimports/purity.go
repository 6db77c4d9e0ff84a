package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// bannedClock are the names of package time that read or wait for the wall clock.
var bannedClock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// allowedRandom are the names of package math/rand and math/rand/v2 that do not
// use the global source.
var allowedRandom = []string{
	"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf",
	"Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf",
}

// checkPurity looks for the wall clock and for global randomness in the packages
// of pure layers.
func (c checker) checkPurity(packages []listed) ([]string, error) {
	var found []string
	for _, p := range packages {
		path, ok := c.inside(p.ImportPath)
		if !ok {
			continue
		}
		if r, ok := ruleFor(path); !ok || !r.pure {
			continue
		}
		for _, name := range p.GoFiles {
			problems, err := impurities(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, problem := range problems {
				found = append(found, path+"/"+problem)
			}
		}
	}
	return found, nil
}

// impurities returns "file.go:line: what" for each banned use in a file.
func impurities(file string) ([]string, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("check purity: %w", err)
	}
	clock, random := importNames(f)
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		base, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		problem := ""
		switch name := selector.Sel.Name; {
		case base.Name == clock && slices.Contains(bannedClock, name):
			problem = fmt.Sprintf("time.%s: time is an argument in pure layers", name)
		case base.Name == random && !slices.Contains(allowedRandom, name):
			problem = fmt.Sprintf("rand.%s: randomness is an argument in pure layers", name)
		default:
			return true
		}
		at := set.Position(selector.Pos())
		found = append(found, fmt.Sprintf("%s:%d: %s", filepath.Base(at.Filename), at.Line, problem))
		return true
	})
	return found, nil
}

// importNames returns the names under which a file uses package time and
// package math/rand; empty where it does not.
func importNames(f *ast.File) (clock, random string) {
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := ""
		if spec.Name != nil {
			name = spec.Name.Name
		}
		switch path {
		case "time":
			clock = orDefault(name, "time")
		case "math/rand", "math/rand/v2":
			random = orDefault(name, "rand")
		}
	}
	return clock, random
}

func orDefault(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}
