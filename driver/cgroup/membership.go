package cgroup

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Membership are the control groups that a process is in, by directory: what bounds the
// devices, memory and CPU time of whatever it starts.
type Membership struct {
	v1      []string // of every hierarchy of version 1 but the freezer's
	unified string   // empty where version 2 is not mounted
	events  string   // of the hierarchy by which events are counted; empty where there is none
	inRoot  bool     // events is the root group
}

// MembershipOf reads the groups of the process of procDir (/proc/PID). The freezer's is
// left out: it takes no right away, and whoever stops the process must not stop its
// visitors halfway.
func MembershipOf(mountinfo, procDir string) (Membership, error) {
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return Membership{}, fmt.Errorf("cgroup: %w", err)
	}
	groups, err := os.ReadFile(filepath.Join(procDir, "cgroup"))
	if err != nil {
		return Membership{}, fmt.Errorf("cgroup: %w", err)
	}
	var m Membership
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		point, kind, options, ok := mountLine(lines.Text())
		if !ok || kind != "cgroup" && kind != "cgroup2" || slices.Contains(options, controllerFreezer) {
			continue
		}
		path, ok := pathIn(groups, kind, options)
		if !ok {
			continue
		}
		if path == "/.." || strings.HasPrefix(path, "/../") {
			return Membership{}, fmt.Errorf("cgroup: the group %s is outside what is mounted here", path)
		}
		dir, counts := filepath.Join(point, path), slices.Contains(options, controllerPerfEvent)
		if kind == "cgroup2" {
			counts = m.events == m.unified // the kernel has it here unless it is mounted in version 1
			m.unified = dir
		} else {
			m.v1 = append(m.v1, dir)
		}
		if counts {
			m.events, m.inRoot = dir, path == "/"
		}
	}
	return m, lines.Err()
}

// EventsDir is the directory of the group by which the kernel counts events of the process;
// empty where it counts by none.
func (m Membership) EventsDir() string { return m.events }

// OwnEventsDir is the same. ErrShared: it is the root group, which every process is in that
// nobody has put into another one.
func (m Membership) OwnEventsDir() (string, error) {
	if m.events == "" || m.inRoot {
		return "", fmt.Errorf("%w by which its events are counted (on cgroup v1 that is the task driver's choice, on v2 every task has one)", ErrShared)
	}
	return m.events, nil
}

// pathIn is the path in one hierarchy, of the lines of /proc/PID/cgroup:
// hierarchy-ID:controllers:path.
func pathIn(groups []byte, kind string, options []string) (string, bool) {
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if kind == "cgroup2" {
			if parts[0] == "0" && parts[1] == "" {
				return parts[2], true
			}
			continue
		}
		if parts[1] != "" && slices.Contains(options, strings.Split(parts[1], ",")[0]) {
			return parts[2], true
		}
	}
	return "", false
}

// JoinThread moves the calling thread into the groups of version 1: what it starts is
// born there. The group of version 2 takes whole processes only; see Unified.
func (m Membership) JoinThread() error {
	for _, dir := range m.v1 {
		if err := write(filepath.Join(dir, "tasks"), fmt.Sprint(unix.Gettid())); err != nil {
			return err
		}
	}
	return nil
}

// OpenUnified opens the directory of the group of version 2, in which a process can be
// started; nil where there is none.
func (m Membership) OpenUnified() (*os.File, error) {
	if m.unified == "" {
		return nil, nil
	}
	f, err := os.Open(m.unified)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return f, nil
}
