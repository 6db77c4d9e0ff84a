// Command checkimports enforces the house's import direction, the purity of its
// deciding layers, and the licences of the modules that the shipped binaries link or
// go.mod requires. The rules are the table in rules.go. It prints one line per violation
// and exits 1.
//
//	go run ./e2e/checkimports
//	go run ./e2e/checkimports -licences
//	go run ./e2e/checkimports -notices >THIRD-PARTY-LICENCES.txt
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	report := flag.Bool("licences", false, "print the licence of every module that a product links or go.mod requires")
	notices := flag.Bool("notices", false, "print the texts of the licences of all that the products link")
	flag.Parse()
	said := io.Writer(os.Stdout)
	var show func([]licence) error
	switch {
	case *notices:
		said = os.Stderr // the output is a file of the release
		show = func(all []licence) error { return printNotices(os.Stdout, all) }
	case *report:
		show = func(all []licence) error { return printLicences(os.Stdout, all) }
	}
	if err := run(context.Background(), ".", said, show); err != nil {
		fmt.Fprintln(os.Stderr, "check-imports:", err)
		os.Exit(1)
	}
}

// errViolations says that violations were printed.
var errViolations = errors.New("the house's rules are broken; see above")

// run checks the module whose root is dir. What is found of licences goes to show, if it
// is not nil.
func run(ctx context.Context, dir string, out io.Writer, show func([]licence) error) error {
	packages, err := list(ctx, dir, "./...")
	if err != nil {
		return err
	}
	c, err := newChecker(packages)
	if err != nil {
		return err
	}
	found := c.checkImports(packages)
	impure, err := c.checkPurity(packages)
	if err != nil {
		return err
	}
	found = append(found, impure...)
	shipped, err := c.listProducts(ctx, dir, packages)
	if err != nil {
		return err
	}
	found = append(found, c.checkProducts(shipped)...)
	linked, err := c.licences(ctx, dir, shipped)
	if err != nil {
		return err
	}
	found = append(found, licenceProblems(linked)...)
	if show != nil {
		if err := show(linked); err != nil {
			return err
		}
	}
	for _, problem := range found {
		fmt.Fprintln(out, problem)
	}
	if len(found) > 0 {
		return fmt.Errorf("%d violations: %w", len(found), errViolations)
	}
	fmt.Fprintf(out, "check-imports: %d packages keep the rules\n", len(packages))
	return nil
}

func newChecker(packages []listed) (checker, error) {
	for _, p := range packages {
		if p.Module != nil {
			return checker{module: p.Module.Path}, nil
		}
	}
	return checker{}, errors.New("no packages of a module here")
}

// listProducts lists the shipped mains that exist, with all they link. A main
// whose dependencies cannot be listed proves nothing, so that is an error.
func (c checker) listProducts(ctx context.Context, dir string, packages []listed) ([]listed, error) {
	var present []string
	for _, p := range packages {
		if path, ok := c.inside(p.ImportPath); ok && slices.Contains(products, path) {
			present = append(present, p.ImportPath)
		}
	}
	if len(present) == 0 {
		return nil, nil
	}
	shipped, err := list(ctx, dir, present...)
	if err != nil {
		return nil, err
	}
	for _, p := range shipped {
		if len(p.DepsErrors) > 0 {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.DepsErrors[0].Err)
		}
	}
	return shipped, nil
}
