package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// supported is nomadapi.SupportedNomad, which is covered by a test.
var supported = version.MustConstraints(version.NewConstraint(nomadapi.SupportedNomad))

// versionLine finds the version in the first line of `nomad version`.
var versionLine = regexp.MustCompile(`(?m)^Nomad v(\S+)`)

// FindNomad returns the path and version of the nomad binary to use: $NOMAD_BIN,
// else a nomad of a supported version on PATH, else bin/nomad of the checkout
// that holds the folder dir. The error lists what was tried.
func FindNomad(ctx context.Context, dir string) (path, nomadVersion string, err error) {
	var tried []error
	for _, candidate := range candidates(dir) {
		v, err := checkNomad(ctx, candidate)
		if err == nil {
			return candidate, v, nil
		}
		tried = append(tried, err)
	}
	return "", "", fmt.Errorf("no nomad %s (build one with: make nomad): %w", nomadapi.SupportedNomad, errors.Join(tried...))
}

func candidates(dir string) []string {
	if explicit := os.Getenv("NOMAD_BIN"); explicit != "" {
		return []string{explicit}
	}
	var list []string
	if onPath, err := exec.LookPath("nomad"); err == nil {
		list = append(list, onPath)
	}
	if root, ok := checkoutRoot(dir); ok {
		list = append(list, filepath.Join(root, "bin", "nomad"))
	}
	return list
}

// checkoutRoot walks up from dir to the first folder with a go.mod.
func checkoutRoot(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// checkNomad runs `nomad version` and holds the answer against nomadapi.SupportedNomad.
func checkNomad(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "version")
	cmd.Env = agentEnv(os.Environ())
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", path, err)
	}
	text, err := parseVersion(string(out))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

func parseVersion(output string) (string, error) {
	m := versionLine.FindStringSubmatch(output)
	if m == nil {
		first, _, _ := strings.Cut(output, "\n")
		return "", fmt.Errorf("%q is not a Nomad version", first)
	}
	v, err := version.NewVersion(m[1])
	if err != nil {
		return "", fmt.Errorf("version %q: %w", m[1], err)
	}
	if !supported.Check(v.Core()) {
		return "", fmt.Errorf("version %s is outside %s", v, nomadapi.SupportedNomad)
	}
	return v.String(), nil
}
