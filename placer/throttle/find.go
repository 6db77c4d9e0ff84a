package throttle

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// group is the control group of one task.
type group struct {
	allocation string
	task       string // or what else the group is called by
	// dir is where its limit is; empty where its processes, under version 1, are in no group of
	// their own: then tasks is the group in another hierarchy that has them.
	dir   string
	tasks string
	ours  bool // dir is one that we made
}

func (g group) name() string { return g.allocation + "." + g.task }

// left says whether the group is one of ours whose task has ended.
func (g group) left() bool { return g.ours && g.tasks == "" }

var (
	// byAllocation is how Nomad's own drivers call groups, and we ours.
	byAllocation = regexp.MustCompile(`^(` + ownPrefix + `)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(.+?)(?:\.scope)?$`)
	// byContainer is how Docker calls groups, by itself or through systemd.
	byContainer = regexp.MustCompile(`^(?:docker-)?([0-9a-f]{64})(?:\.scope)?$`)
	// mountedFrom is the allocation's directory on the node, of which drivers mount parts into
	// a container. The first one counts: what comes after it a task could have named.
	mountedFrom = regexp.MustCompile(`^.*?/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/`)
)

// ownPrefix begins the names of groups that we make.
const ownPrefix = "nomad-placer-disk-"

// groups are those of tasks, sorted by name.
func (t *Tree) groups() ([]group, error) {
	top := t.root
	if t.version == 1 {
		top = filepath.Join(t.root, blkio)
	}
	found, err := t.below(top)
	if err != nil && (t.version == 2 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	if t.version == 1 {
		if found, err = t.withoutOwn(found); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b group) int { return cmp.Or(cmp.Compare(a.name(), b.name()), cmp.Compare(a.dir, b.dir)) })
	return found, nil
}

// withoutOwn adds tasks that only another hierarchy has a group of.
func (t *Tree) withoutOwn(found []group) ([]group, error) {
	has := map[string]int{}
	for i, g := range found {
		has[g.name()] = i
	}
	others, err := t.below(filepath.Join(t.root, freezer))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, g := range others {
		if i, ok := has[g.name()]; ok {
			found[i].tasks = g.dir
			continue
		}
		g.dir, g.tasks = "", g.dir
		found = append(found, g)
	}
	return found, nil
}

// below finds groups of tasks; what is inside of one is the task's own.
func (t *Tree) below(top string) ([]group, error) {
	var out []group
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == top:
			return err
		case err != nil || !e.IsDir():
			return nil // groups come and go
		}
		if g, is := t.groupAt(path, e.Name()); is {
			if g.allocation != "" {
				out = append(out, g)
			}
			return filepath.SkipDir
		}
		if strings.Count(strings.TrimPrefix(path, top), "/") >= groupDepth {
			return filepath.SkipDir
		}
		return nil
	})
	return out, err
}

// groupAt tells what a group is by its name; is says whether it is a task's or a container's,
// which may have nothing to do with Nomad.
func (t *Tree) groupAt(path, name string) (g group, is bool) {
	if m := byAllocation.FindStringSubmatch(name); m != nil {
		return group{allocation: m[2], task: m[3], dir: path, ours: m[1] != ""}, true
	}
	if m := byContainer.FindStringSubmatch(name); m != nil {
		return group{allocation: t.allocationIn(path), task: "container " + m[1][:12], dir: path}, true
	}
	return group{}, false
}

// allocationIn is the allocation whose directory is mounted into a container, as its first
// process sees it: see proc_pid_mountinfo(5). Empty where there is none.
func (t *Tree) allocationIn(dir string) string {
	pids, err := t.processes(dir)
	if err != nil || len(pids) == 0 {
		return ""
	}
	text, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pids[0]), "mountinfo"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !slices.Contains(mountPoints, fields[4]) {
			continue
		}
		if m := mountedFrom.FindStringSubmatch(fields[3] + "/"); m != nil {
			return m[1]
		}
	}
	return ""
}

// mountPoints are where Nomad mounts an allocation's directories in containers of Linux.
var mountPoints = []string{"/alloc", "/local", "/secrets"}

// blkioGroup is the folder of the group of version 1 that a process is in.
func (t *Tree) blkioGroup(pid int) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.proc, strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		// number:controllers:path
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || !slices.Contains(strings.Split(parts[1], ","), blkio) {
			continue
		}
		if path := parts[2]; path != "/.." && !strings.HasPrefix(path, "/../") {
			return filepath.Join(t.root, blkio, path), nil
		}
		return "", errors.New("its processes are in a group that is not mounted here")
	}
	return "", ErrNoController
}
