package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// VolumeBytes is how large a volume is, in a file with holes.
	VolumeBytes = 3 << 30
	// MemoryBytes is what a workload has for itself and its page cache: less than its data, so
	// that what it reads again is read from the device.
	MemoryBytes = 256 << 20
)

// Volume is a file system on a loop device, and a control group with little memory.
type Volume struct {
	// Device is the loop device, and Dir where the file system is mounted, an absolute path.
	Device, Dir string

	image string
	group string // folder of the control group
	// direct says that the image is a disk's: its I/Os go past the page cache, to the disk.
	direct bool
}

// New makes both. The image is path.img; it is removed with them.
func New(ctx context.Context, path string) (v *Volume, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("run this as root: it makes a loop device")
	}
	v = &Volume{image: path + ".img", Dir: absolute(path + ".mnt")}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.Remove())
		}
	}()
	_ = v.release(ctx) // of a run that was killed
	if err := os.MkdirAll(v.Dir, 0o755); err != nil {
		return v, err
	}
	if err := EmptyImage(v.image, VolumeBytes); err != nil {
		return v, err
	}
	return v, v.attach(ctx, filepath.Base(path), true)
}

// EmptyImage makes a file with nothing in it.
func EmptyImage(path string, bytes int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(bytes), f.Close())
}

// attach puts a loop device on the image, with a new file system where it is empty, mounts it
// and makes the control group.
func (v *Volume) attach(ctx context.Context, name string, empty bool) error {
	if err := os.MkdirAll(v.Dir, 0o755); err != nil {
		return err
	}
	args := []string{"losetup", "--find", "--show", v.image}
	if v.direct {
		args = append(args, "--direct-io=on")
	}
	out, err := command(ctx, args...)
	if err != nil {
		return err
	}
	v.Device = strings.TrimSpace(out)
	if empty {
		if _, err := command(ctx, "mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", v.Device); err != nil {
			return err
		}
	}
	if _, err := command(ctx, "mount", "-o", "noatime", v.Device, v.Dir); err != nil {
		return err
	}
	v.group, err = memoryGroup(name)
	return err
}

// memoryGroup makes a control group with a limit, on version 2 or 1 of them.
func memoryGroup(name string) (string, error) {
	for _, at := range []struct{ root, limit string }{{"/sys/fs/cgroup", "memory.max"}, {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}} {
		folder := filepath.Join(at.root, "nomad-placer-disk-"+name)
		if _, err := os.Stat(filepath.Join(at.root, "cgroup.procs")); err != nil {
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(folder, at.limit), []byte(strconv.Itoa(MemoryBytes)), 0o644); err == nil {
			return folder, nil
		}
		_ = os.Remove(folder)
	}
	return "", errors.New("this machine has no control groups with a limit on memory")
}

// InGroup is a program that runs in the volume's control group, as another user where one is
// named.
func (v *Volume) InGroup(ctx context.Context, user string, args ...string) *exec.Cmd {
	if user != "" {
		args = append([]string{"setpriv", "--reuid", user, "--regid", user, "--clear-groups"}, args...)
	}
	args = append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, v.group}, args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = v.Dir
	return cmd
}

// Run runs a program in the group to its end.
func (v *Volume) Run(ctx context.Context, user string, args ...string) error {
	out, err := v.InGroup(ctx, user, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, out)
	}
	return nil
}

// Flush writes everything to the device.
func (v *Volume) Flush() error {
	f, err := os.Open(v.Dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// LikeSmall has the kernel read ahead for its file system, and keep what is written to it and not
// yet on the device, as a machine of little memory would: by default it reads ahead as much as a
// loop device takes at once, and keeps a fifth of the memory there is. It needs Linux 6.2.
func (v *Volume) LikeSmall(readAheadBytes, dirtyBytes int64) error {
	folder := filepath.Join("/sys/block", filepath.Base(v.Device), "bdi")
	for file, value := range map[string]int64{"read_ahead_kb": readAheadBytes >> 10, "strict_limit": 1, "max_bytes": dirtyBytes} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(strconv.FormatInt(value, 10)), 0); err != nil {
			return fmt.Errorf("bounds of a file system: %w", err)
		}
	}
	return nil
}

// Settle writes everything to the device, and forgets it.
func (v *Volume) Settle(ctx context.Context) error {
	if err := v.Flush(); err != nil {
		return err
	}
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("1"), 0o644)
}

// Remove leaves nothing behind, whatever of it is there.
func (v *Volume) Remove() error { return errors.Join(v.Detach(), os.RemoveAll(v.image)) }

// Detach leaves the image.
func (v *Volume) Detach() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := v.release(ctx)
	if v.group != "" {
		err = errors.Join(err, os.Remove(v.group))
	}
	return errors.Join(err, os.RemoveAll(v.Dir))
}

// release unmounts the file system and frees every loop device of the image.
func (v *Volume) release(ctx context.Context) error {
	var errs []error
	if mounted, err := os.ReadFile("/proc/self/mounts"); err == nil && strings.Contains(string(mounted), " "+v.Dir+" ") {
		_, err := command(ctx, "umount", v.Dir)
		errs = append(errs, err)
	}
	if _, err := os.Stat(v.image); err == nil {
		out, err := command(ctx, "losetup", "--noheadings", "--output", "NAME", "--associated", v.image)
		errs = append(errs, err)
		for _, device := range strings.Fields(out) {
			_, err := command(ctx, "losetup", "--detach", device)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func absolute(path string) string {
	out, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return out
}

// command runs a program to its end and returns what it prints.
func command(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}
