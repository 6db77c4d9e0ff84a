package throttle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNoController: the disk bandwidth of groups cannot be bounded on this machine.
var ErrNoController = errors.New("this machine has no control groups for disks: neither the io controller of version 2 nor blkio of version 1")

// Tree is the machine's hierarchy of control groups for disks.
type Tree struct {
	root, proc string
	version    int
	// What the kernel does with control files and groups; tests have one of their own.
	write  func(file, text string) error
	remove func(dir string) error
	marks  marks
}

// Detect finds the hierarchy below a root. Where both versions are mounted a controller is in
// one of them: in the hybrid layout the disks' is in version 1. A tree that cannot bound
// anything still finds groups.
func Detect(root, proc string) *Tree {
	t := &Tree{root: root, proc: proc, version: 2, write: writeControl, remove: os.Remove, marks: xattrs{}}
	if isDir(filepath.Join(root, blkio)) || isDir(filepath.Join(root, freezer)) {
		t.version = 1
	}
	return t
}

// Usable says why the disk bandwidth of groups cannot be bounded; nil: it can.
func (t *Tree) Usable() error {
	if t.version == 1 {
		if !isDir(filepath.Join(t.root, blkio)) {
			return ErrNoController
		}
		return nil
	}
	text, err := os.ReadFile(filepath.Join(t.root, "cgroup.controllers"))
	switch {
	case err != nil:
		return fmt.Errorf("%w (%w)", ErrNoController, err)
	case !slices.Contains(strings.Fields(string(text)), "io"):
		return ErrNoController
	}
	return nil
}

// The hierarchies of version 1 that are looked at: that of disks, and one in which Nomad's own
// drivers have every task.
const (
	blkio   = "blkio"
	freezer = "freezer"
)

// groupDepth is how far below the root groups are looked for: a container of Docker is at the
// fourth folder of a client that is itself in a group of its own.
const groupDepth = 6

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func writeControl(file, text string) error {
	// No O_CREATE: a control file that the kernel did not make is an error.
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// marks are notes at groups, which last as long as these.
type marks interface {
	get(dir string) (string, error) // empty: there is none
	set(dir, text string) error
	remove(dir string) error
}

// markName is of the attributes that only root can write.
const markName = "trusted.nomad_placer_disk"

// maxMark is more than any mark of ours has.
const maxMark = 1024

type xattrs struct{}

func (xattrs) get(dir string) (string, error) {
	text := make([]byte, maxMark)
	n, err := unix.Getxattr(dir, markName, text)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOENT):
		return "", nil
	case err != nil:
		return "", &os.PathError{Op: "read mark", Path: dir, Err: err}
	}
	return string(text[:n]), nil
}

func (xattrs) set(dir, text string) error {
	if err := unix.Setxattr(dir, markName, []byte(text), 0); err != nil {
		return &os.PathError{Op: "mark", Path: dir, Err: err}
	}
	return nil
}

func (xattrs) remove(dir string) error {
	if err := unix.Removexattr(dir, markName); err != nil && !errors.Is(err, unix.ENODATA) {
		return &os.PathError{Op: "remove mark", Path: dir, Err: err}
	}
	return nil
}

// processes are those of a group, by number; none where the group is gone.
func (t *Tree) processes(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	switch {
	case gone(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	var out []int
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 { // 0 is one of another namespace
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out, nil
}

// gone says whether an error is that a group, or a process, is not there any more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH)
}
