package cluster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

// mountData gives a data folder a file system of its own; 0 MB leaves it as it is.
func mountData(dir string, mb int) error {
	if mb == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=755,size=%dm", mb)); err != nil {
		return fmt.Errorf("mount a file system of %d MB at %s: %w", mb, dir, err)
	}
	return nil
}

// FillDisk leaves no room on the file system of client i's data: it is made as small as
// what it holds, so that the disk is full and the machine's memory is not.
func (c *Cluster) FillDisk(i int) error {
	dir := c.clients[i].dataDir()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fmt.Errorf("fill the disk of %s: %w", c.clients[i].name, err)
	}
	return c.resizeData(i, fmt.Sprintf("size=%d", (s.Blocks-s.Bfree)*uint64(s.Bsize)))
}

// FreeDisk gives client i's data its room back.
func (c *Cluster) FreeDisk(i int) error {
	return c.resizeData(i, fmt.Sprintf("size=%dm", c.config.Clients[i].DataMB))
}

func (c *Cluster) resizeData(i int, size string) error {
	if c.config.Clients[i].DataMB == 0 {
		return fmt.Errorf("client %s has no file system of its own: set DataMB", c.clients[i].name)
	}
	if err := unix.Mount("", c.clients[i].dataDir(), "tmpfs", unix.MS_REMOUNT, size); err != nil {
		return fmt.Errorf("resize the disk of %s to %s: %w", c.clients[i].name, size, err)
	}
	return nil
}

// LimitDisk gives client i a disk of its own, emulated: what its processes read from the disk
// that has a folder, and what they write to it, is bounded, each to so many bytes per second.
// Under control groups of version 1 that is what goes past the page cache only.
func (c *Cluster) LimitDisk(i int, folder string, bytesPerSec int64) error {
	found, err := blockio.FindDevice(folder)
	if err != nil {
		return fmt.Errorf("limit the disk of %s: %w", c.clients[i].name, err)
	}
	device, err := found.Disk()
	if err != nil {
		return fmt.Errorf("limit the disk of %s: %w", c.clients[i].name, err)
	}
	group := c.clients[i].group
	if c.hierarchies.Version == 2 {
		return writeControl(c.hierarchies.path("io", group), "io.max", fmt.Sprintf("%s rbps=%d wbps=%d", device, bytesPerSec, bytesPerSec))
	}
	if !c.hierarchies.has("blkio") {
		return fmt.Errorf("limit the disk of %s: this machine has no control groups for block devices", c.clients[i].name)
	}
	dir, limit := c.hierarchies.path("blkio", group), fmt.Sprintf("%s %d", device, bytesPerSec)
	return errors.Join(writeControl(dir, "blkio.throttle.read_bps_device", limit), writeControl(dir, "blkio.throttle.write_bps_device", limit))
}

// unmountBelow unmounts what mountData mounted below a run's folder.
func unmountBelow(dir string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read mounts: %w", err)
	}
	var below []string
	for line := range strings.Lines(string(text)) {
		// The fifth field is where it is mounted (proc(5)).
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			below = append(below, fields[4])
		}
	}
	for _, path := range slices.Backward(below) { // the last mounted first
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", path, err)
		}
	}
	return nil
}
