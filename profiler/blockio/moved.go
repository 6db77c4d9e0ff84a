package blockio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// allocationID is how Nomad writes the id of an allocation.
var allocationID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Allocations are the control groups whose names have the id of an allocation, or something like
// it, by that id.
func Allocations(root string) (map[string][]string, error) {
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil || !e.IsDir():
			return nil // groups come and go
		}
		if id := allocationID.FindString(e.Name()); id != "" {
			out[id] = append(out[id], path)
			return filepath.SkipDir
		}
		if strings.Count(strings.TrimPrefix(path, root), "/") >= groupDepth {
			return filepath.SkipDir
		}
		return nil
	})
	return out, err
}

// BytesMoved is what the processes of control groups have read from and written to devices since
// they began, with the children that they waited for. Writes through the page cache count when
// they are made, and not when they reach the device. It never gets smaller, but where a process
// ends whose parent is outside of the groups.
func BytesMoved(groups []string) (int64, error) {
	processes, err := processesOf(groups)
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, pid := range processes {
		text, err := os.ReadFile("/proc/" + pid + "/io")
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
			continue // it ended
		case err != nil:
			return 0, fmt.Errorf("what process %s has read and written: %w", pid, err)
		}
		n, err := movedIn(string(text))
		if err != nil {
			return 0, fmt.Errorf("what process %s has read and written: %w", pid, err)
		}
		sum += n
	}
	return sum, nil
}

// movedIn adds the bytes of a process's io file up (proc(5)).
func movedIn(text string) (int64, error) {
	sum, found := int64(0), 0
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "read_bytes" && name != "write_bytes" {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return 0, err
		}
		sum, found = sum+n, found+1
	}
	if found != 2 {
		return 0, fmt.Errorf("%d of the lines read_bytes and write_bytes are there: %q", found, text)
	}
	return sum, nil
}
