package throttle

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// kernel is a tree of control groups in a folder that takes writes as Linux does.
type kernel struct {
	t    *testing.T
	root string
	tree *Tree
	// refuse fails writes to files of that name.
	refuse map[string]error
	marked marked
}

// marked are marks in memory: not every file system of a test has attributes of root's.
type marked map[string]string

func (m marked) get(dir string) (string, error) { return m[dir], nil }
func (m marked) set(dir, text string) error     { m[dir] = text; return nil }
func (m marked) remove(dir string) error        { delete(m, dir); return nil }

// boot makes the root of a machine with control groups of a version.
func boot(t *testing.T, version int) *kernel {
	t.Helper()
	k := &kernel{t: t, root: t.TempDir(), refuse: map[string]error{}, marked: marked{}}
	if version == 2 {
		k.file("cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n")
	} else {
		for _, hierarchy := range []string{blkio, freezer, "cpu", "cpuset", "memory", "unified"} {
			k.file(filepath.Join("cgroup", hierarchy, "cgroup.procs"), "")
		}
	}
	k.tree = Detect(k.path("cgroup"), k.path("proc"))
	k.tree.write, k.tree.remove, k.tree.marks = k.write, k.remove, k.marked
	return k
}

func (k *kernel) path(name string) string { return filepath.Join(k.root, name) }

func (k *kernel) file(name, text string) {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(k.path(name)), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(k.path(name), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kernel) read(name string) string {
	k.t.Helper()
	text, err := os.ReadFile(k.path(name))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(text)
}

// group makes a group below cgroup with processes; under version 1 it is of one hierarchy.
func (k *kernel) group(name string, pids ...int) string {
	k.t.Helper()
	name = filepath.Join("cgroup", name)
	text := ""
	for _, pid := range pids {
		text += fmt.Sprintln(pid)
	}
	k.file(filepath.Join(name, "cgroup.procs"), text)
	for _, s := range sides[k.tree.version] {
		k.file(filepath.Join(name, s.file), "")
	}
	return name
}

// process says which group of the disks' hierarchy of version 1 a process is in.
func (k *kernel) process(pid int, group string) {
	k.file(fmt.Sprintf("proc/%d/cgroup", pid), fmt.Sprintf("7:blkio:%s\n6:freezer:/elsewhere\n0::/\n", group))
}

// write is what the kernel does with what is written into a control file.
func (k *kernel) write(file, text string) error {
	if err := k.refuse[filepath.Base(file)]; err != nil {
		return &fs.PathError{Op: "write", Path: file, Err: err}
	}
	if filepath.Base(file) == "cgroup.procs" {
		return k.enter(filepath.Dir(file), text)
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return unix.EINVAL
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(old)) {
		disk, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines[disk] = rest
	}
	disk, value := fields[0], fields[1]
	if key, v, ok := strings.Cut(value, "="); ok {
		lines[disk] = ioMax(lines[disk], key, v)
	} else if lines[disk] = value; value == "0" {
		delete(lines, disk)
	}
	out := ""
	for _, disk := range slices.Sorted(maps.Keys(lines)) {
		if lines[disk] != "" {
			out += disk + " " + lines[disk] + "\n"
		}
	}
	return os.WriteFile(file, []byte(out), 0o600)
}

// ioMax changes one number of a line of io.max; a line without any is not shown.
func ioMax(line, key, value string) string {
	values := map[string]string{"rbps": "max", "wbps": "max", "riops": "max", "wiops": "max"}
	for _, f := range strings.Fields(line) {
		k, v, _ := strings.Cut(f, "=")
		values[k] = v
	}
	values[key] = value
	var out []string
	some := false
	for _, k := range []string{"rbps", "wbps", "riops", "wiops"} {
		out = append(out, k+"="+values[k])
		some = some || values[k] != "max"
	}
	if !some {
		return ""
	}
	return strings.Join(out, " ")
}

// enter moves a process inside the hierarchy of disks.
func (k *kernel) enter(dir, pid string) error {
	top := k.path("cgroup/" + blkio)
	if !isDir(dir) {
		return fs.ErrNotExist
	}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != "cgroup.procs" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(strings.Fields(string(text)), func(p string) bool { return p == pid })
		if filepath.Dir(path) == dir {
			left = append(left, pid)
		}
		return os.WriteFile(path, []byte(strings.Join(left, "\n")), 0o600)
	})
	if err != nil {
		return err
	}
	for _, s := range sides[1] { // the files that a new group is born with
		if _, err := os.Stat(filepath.Join(dir, s.file)); errors.Is(err, fs.ErrNotExist) {
			if err := os.WriteFile(filepath.Join(dir, s.file), nil, 0o600); err != nil {
				return err
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(pid), 0o600); err != nil {
			return err
		}
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return err
	}
	name := filepath.Clean("/" + rel)
	return os.WriteFile(k.path("proc/"+pid+"/cgroup"), []byte("7:blkio:"+name+"\n"), 0o600)
}

// remove is rmdir: a group with processes is busy.
func (k *kernel) remove(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	if len(strings.Fields(string(text))) > 0 {
		return unix.EBUSY
	}
	delete(k.marked, dir) // attributes go with what has them
	return os.RemoveAll(dir)
}

// state is every file of the hierarchy, to compare with later.
func (k *kernel) state() map[string]string {
	k.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(k.path("cgroup"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fields := strings.Fields(string(text))
		slices.Sort(fields) // the order of processes means nothing
		out[strings.TrimPrefix(path, k.root)] = strings.Join(fields, " ")
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

func (k *kernel) same(before map[string]string) {
	k.t.Helper()
	after := k.state()
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			k.t.Errorf("%s is %q and was %q", name, text, was)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			k.t.Errorf("%s is gone", name)
		}
	}
	if len(k.marked) > 0 {
		k.t.Errorf("marks are left: %v", k.marked)
	}
}
