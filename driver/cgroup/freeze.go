package cgroup

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrShared means a process has no control group of its own to freeze.
var ErrShared = errors.New("the process has no control group of its own")

// freezePoll is how often a freeze under way is looked at: a freeze takes well
// under a millisecond unless a process sits in the kernel.
const freezePoll = 500 * time.Microsecond

// FreezableOf returns the group in which the process of procDir (/proc/PID) is
// frozen: v1 freezer, or v2. A process in the root group gives ErrShared.
func (t Tree) FreezableOf(procDir string) (Group, error) {
	path, err := t.pathOf(procDir)
	if err != nil {
		return Group{}, err
	}
	if path == "/" || strings.HasPrefix(path, "/..") {
		return Group{}, ErrShared
	}
	g := Group{tree: t, path: path}
	if _, err := os.Stat(g.freezeFile()); err != nil {
		return Group{}, fmt.Errorf("%w: %w", ErrShared, err)
	}
	return g, nil
}

// pathOf is the path of a process in the freezer hierarchy.
func (t Tree) pathOf(procDir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(procDir, "cgroup"))
	if err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		// hierarchy-ID:controllers:path
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		isV2 := parts[0] == "0" && parts[1] == ""
		isFreezer := slices.Contains(strings.Split(parts[1], ","), controllerFreezer)
		if t.version == V2 && isV2 || t.version == V1 && isFreezer {
			return parts[2], nil
		}
	}
	return "", ErrShared
}

func (g Group) freezeFile() string { return g.file(controllerFreezer, words[g.tree.version].freezer) }

// ErrNotFrozen means that some process of a group was not frozen in time.
var ErrNotFrozen = errors.New("a process could not be frozen")

// The times of a freeze. A process between vfork and exec waits in the kernel for
// its child, which is frozen already, so the group would never be frozen: it is
// let go for a moment and stopped again. One try in fifty meets such a process of
// a workload that starts programs all the time (measured). A process also needs its
// CPU once to be frozen, which on a busy one may take a while, so each try is
// twice as long as the one before.
const (
	freezeTry    = 20 * time.Millisecond // the first one
	freezePause  = 2 * time.Millisecond
	freezeWithin = 3 * time.Second
)

// Freeze stops every process of the group and returns when all are frozen. A
// group that does not within three seconds is let go, and the error is ErrNotFrozen.
func (g Group) Freeze(ctx context.Context) error {
	end := time.Now().Add(freezeWithin)
	for try := freezeTry; ; try *= 2 {
		frozen, err := g.tryFreeze(ctx, try)
		if frozen || err != nil {
			return err
		}
		if err := g.Thaw(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("cgroup: freeze %s: %w", g.path, ErrNotFrozen)
		}
		if err := g.wait(ctx, freezePause); err != nil {
			return err
		}
	}
}

// tryFreeze stops the group and waits for it, but no longer than that.
func (g Group) tryFreeze(ctx context.Context, within time.Duration) (frozen bool, err error) {
	if err := write(g.freezeFile(), words[g.tree.version].freeze); err != nil {
		return false, err
	}
	for end := time.Now().Add(within); ; {
		frozen, err := g.Frozen()
		if frozen || err != nil || time.Now().After(end) {
			return frozen, err
		}
		if err := g.wait(ctx, freezePoll); err != nil {
			return false, err
		}
	}
}

func (g Group) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("cgroup: freeze %s: %w", g.path, ctx.Err())
	case <-time.After(d):
		return nil
	}
}

// Thaw lets the group's processes go on.
func (g Group) Thaw() error { return write(g.freezeFile(), words[g.tree.version].thaw) }

// Frozen reports whether every process of the group is frozen.
func (g Group) Frozen() (bool, error) {
	file, line := g.freezeFile(), words[V1].freeze
	if g.tree.version == V2 {
		file, line = g.file("", "cgroup.events"), "frozen 1"
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("cgroup: %w", err)
	}
	return slices.Contains(strings.Split(string(data), "\n"), line), nil
}

// Open returns the group at a path that an earlier Path gave.
func (t Tree) Open(path string) Group { return Group{tree: t, path: path} }
