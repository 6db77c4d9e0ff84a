package blockio

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

// Device is a block device.
type Device struct {
	Name         string // as under /sys/class/block
	Major, Minor uint32
	Bytes        int64
	// parts are the numbers of its partitions, whose I/Os are its own.
	parts []uint64
}

// FindDevice finds a device: by its name or path, or as that of the file system that a
// file or folder is on.
func FindDevice(name string) (Device, error) {
	path := name
	if !strings.Contains(name, "/") {
		path = "/dev/" + name
	}
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return Device{}, fmt.Errorf("%w: %s: %w", ErrDevice, path, err)
	}
	number := s.Dev
	if s.Mode&unix.S_IFMT == unix.S_IFBLK {
		number = s.Rdev
	}
	d := Device{Major: unix.Major(number), Minor: unix.Minor(number)}
	folder, err := filepath.EvalSymlinks(d.folder())
	if err != nil {
		return Device{}, fmt.Errorf("%w: %s is on no block device (%d:%d): a file system in memory, of a network or of layers; name the device", ErrDevice, path, d.Major, d.Minor)
	}
	d.Name = filepath.Base(folder)
	sectors, err := readNumber(filepath.Join(folder, "size"))
	if err != nil {
		return Device{}, fmt.Errorf("%w: %w", ErrDevice, err)
	}
	d.Bytes = sectors * 512 // the unit of that file, whatever the device has
	d.parts = partitions(folder)
	return d, nil
}

func (d Device) folder() string { return fmt.Sprintf("/sys/dev/block/%d:%d", d.Major, d.Minor) }

// Disk is the number, as in 254:0, of the whole disk that the device is, or is a partition of:
// control groups bound whole disks.
func (d Device) Disk() (string, error) {
	folder, err := filepath.EvalSymlinks(d.folder())
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDevice, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "partition")); err == nil {
		folder = filepath.Dir(folder)
	}
	number, err := os.ReadFile(filepath.Join(folder, "dev"))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDevice, err)
	}
	return strings.TrimSpace(string(number)), nil
}

// there says whether the device is still there.
func (d Device) there() bool {
	_, err := os.Stat(d.folder())
	return err == nil
}

// kernelMinorBits are those of the minor number inside the kernel.
const kernelMinorBits = 20

// filter is the condition on the kernel's events.
func (d Device) filter() string {
	conditions := []string{fmt.Sprintf("dev == %d", uint64(d.Major)<<kernelMinorBits|uint64(d.Minor))}
	for _, p := range d.parts {
		conditions = append(conditions, fmt.Sprintf("dev == %d", p))
	}
	return strings.Join(conditions, " || ")
}

// partitions are the kernel's numbers of a disk's partitions.
func partitions(folder string) []uint64 {
	files, _ := filepath.Glob(filepath.Join(folder, "*/partition")) // the pattern is good
	var out []uint64
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(f), "dev"))
		if err != nil {
			continue // it is gone
		}
		first, second, _ := strings.Cut(strings.TrimSpace(string(text)), ":")
		major, err1 := strconv.ParseUint(first, 10, 12)
		minor, err2 := strconv.ParseUint(second, 10, kernelMinorBits)
		if err1 == nil && err2 == nil {
			out = append(out, major<<kernelMinorBits|minor)
		}
	}
	slices.Sort(out)
	return out
}

func readNumber(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// ErrTasks: there are no threads to capture.
var ErrTasks = errors.New("no running threads")

// groupDepth is how far below the root control groups of an allocation are looked for.
const groupDepth = 6

// AllocationGroups finds the control groups whose names have an allocation's id.
func AllocationGroups(root, id string) ([]string, error) {
	if len(id) < 8 {
		return nil, fmt.Errorf("%w: %q is too short for the id of an allocation: 8 letters or more", ErrTasks, id)
	}
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil // groups come and go
		case strings.Contains(e.Name(), id):
			out = append(out, path)
			return filepath.SkipDir
		case strings.Count(strings.TrimPrefix(path, root), "/") >= groupDepth:
			return filepath.SkipDir
		}
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%w: no control group under %s has %s in its name; is the allocation running on this machine?", ErrTasks, root, id)
	}
	return out, err
}

// TasksOf are the threads of control groups and of those inside them.
func TasksOf(groups []string) ([]int, error) {
	processes, err := processesOf(groups)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, pid := range processes {
		threads, _ := filepath.Glob("/proc/" + pid + "/task/*")
		for _, t := range threads {
			if n, err := strconv.Atoi(filepath.Base(t)); err == nil {
				out = append(out, n)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrTasks, strings.Join(groups, ", "))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// processesOf are the processes of control groups and of those inside them.
func processesOf(groups []string) ([]string, error) {
	var out []string
	for _, g := range groups {
		err := filepath.WalkDir(g, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				if path == g {
					return err
				}
				return nil
			}
			if e.IsDir() || e.Name() != "cgroup.procs" {
				return nil
			}
			text, err := os.ReadFile(path) //nolint:gosec // control groups have no symbolic links
			if err != nil {
				return nil //nolint:nilerr // the group is gone
			}
			out = append(out, strings.Fields(string(text))...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTasks, err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil // in several hierarchies of control groups a process is once in each
}
