package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileSystems are the magic numbers of statfs(2) of file systems that Linux
// servers use.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC: "tmpfs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.F2FS_SUPER_MAGIC: "f2fs",
}

// fileSystem names the file system of a folder.
func fileSystem(folder string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return "", fmt.Errorf("file system of %s: %w", folder, err)
	}
	if name, ok := fileSystems[s.Type]; ok {
		return name, nil
	}
	return fmt.Sprintf("magic %#x", s.Type), nil
}
