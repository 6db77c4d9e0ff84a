package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// listed is what `go list -json` tells of a package, as far as it is used.
type listed struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
	Standard     bool
	Module       *module
	Error        *struct{ Err string }
	DepsErrors   []*struct{ Err string }
}

// module is what `go list -m -json` tells of a module; Dir is where its files are.
type module struct{ Path, Version, Dir string }

// list runs go list in a folder.
func list(ctx context.Context, dir string, args ...string) ([]listed, error) {
	return goJSON[listed](ctx, dir, append([]string{"list", "-e", "-json"}, args...)...)
}

// required returns the modules that go.mod requires, by path. Those whose files are
// missing are downloaded: nothing that is linked needs all of them.
func required(ctx context.Context, dir string) (map[string]module, error) {
	files, err := goJSON[struct{ Require []struct{ Path string } }](ctx, dir, "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-m", "-json"}
	for _, f := range files {
		for _, r := range f.Require {
			args = append(args, r.Path)
		}
	}
	modules := map[string]module{}
	if len(args) == 3 {
		return modules, nil // go list would list the main module
	}
	if _, err := goJSON[module](ctx, dir, "mod", "download", "-json"); err != nil {
		return nil, err
	}
	all, err := goJSON[module](ctx, dir, args...)
	for _, m := range all {
		modules[m.Path] = m
	}
	return modules, err
}

// goJSON runs the go command in a folder and reads the values that it prints.
func goJSON[T any](ctx context.Context, dir string, args ...string) ([]T, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, stderr.Bytes())
	}
	var values []T
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var v T
		switch err := decoder.Decode(&v); {
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return nil, fmt.Errorf("go %s: %w", args[0], err)
		}
		values = append(values, v)
	}
}
