package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
)

// neededPackages are the Debian packages of the applications, sorted, and what
// the measuring itself needs.
func neededPackages(apps []catalogue.Application) []string {
	out := []string{"coreutils", "iproute2", "util-linux"}
	for _, a := range apps {
		out = append(out, a.Packages...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// versions asks dpkg for the versions of those packages; what is not installed
// is not in the answer.
func versions(ctx context.Context, packages []string) (map[string]string, error) {
	args := append([]string{"-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"}, packages...)
	out, err := exec.CommandContext(ctx, "dpkg-query", args...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // it fails where one is not known, and tells the others
		return nil, fmt.Errorf("versions of packages: %w", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "installed" {
			found[f[1]] = f[2]
		}
	}
	return found, nil
}

// install installs the packages that are missing, from Debian's own archive.
func install(ctx context.Context, packages []string) error {
	found, err := versions(ctx, packages)
	if err != nil {
		return err
	}
	var missing []string
	for _, p := range packages {
		if found[p] == "" {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("missing, and only root can install: %s", strings.Join(missing, " "))
	}
	undo, err := noDaemons()
	if err != nil {
		return err
	}
	defer undo()
	fmt.Println("apt-get update")
	if err := apt(ctx, "update"); err != nil {
		return err
	}
	for i, p := range missing {
		fmt.Printf("[%d/%d] installing %s\n", i+1, len(missing), p)
		if err := apt(ctx, "install", "-y", "--no-install-recommends", p); err != nil {
			return err
		}
	}
	return nil
}

func apt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-qq"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// policyFile keeps Debian's packages from starting their daemons: the
// applications start their own.
const policyFile = "/usr/sbin/policy-rc.d"

func noDaemons() (undo func(), err error) {
	f, err := os.OpenFile(policyFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() {}, nil // the machine has a policy of its own
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString("#!/bin/sh\nexit 101\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(policyFile))
	}
	return func() {
		if err := os.Remove(policyFile); err != nil {
			fmt.Fprintln(os.Stderr, "training:", err)
		}
	}, nil
}
