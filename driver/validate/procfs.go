package validate

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Anonymous reads it from smaps_rollup of procfs.
func (b *machineBench) Anonymous(pid int) (int64, error) {
	file, err := os.Open(procPath(pid, "smaps_rollup"))
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == "Anonymous:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("memory of process %d: %w", pid, err)
			}
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("memory of process %d: smaps_rollup does not say", pid)
}

// CPUTime sums what the scheduler counts for each thread, in nanoseconds.
func (b *machineBench) CPUTime(pid int) (time.Duration, error) {
	files, err := filepath.Glob(procPath(pid, "task/*/schedstat"))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("processor time of process %d: schedstat is not there: %w", pid, errors.Join(err, fs.ErrNotExist))
	}
	var sum time.Duration
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // a thread that just ended
		}
		if err != nil {
			return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
		}
		first, _, _ := strings.Cut(string(data), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// bytesPerBlock is the unit of st_blocks (stat(2)).
const bytesPerBlock = 512

// DiskBytes sums the regular files below the process's file descriptors, each
// once.
func (b *machineBench) DiskBytes(pid int) (int64, error) {
	entries, err := os.ReadDir(procPath(pid, "fd"))
	if err != nil {
		return 0, fmt.Errorf("files of process %d: %w", pid, err)
	}
	seen := map[uint64]bool{}
	sum := int64(0)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(procPath(pid, "fd"), e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue // closed meanwhile, or no file
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || seen[st.Ino] || st.Nlink > 0 {
			continue // the scratch files of kernels have no name
		}
		seen[st.Ino] = true
		sum += st.Blocks * bytesPerBlock
	}
	return sum, nil
}

func procPath(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// busyShare is the load average per CPU from which a machine counts as busy
// with other things before the validation begins (chosen by us).
const busyShare = 0.5

// busyNote says that the machine was busy before this run; empty where it was
// not, or does not say.
func busyNote(loadavg string, cpus int) string {
	data, err := os.ReadFile(loadavg)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil || load <= busyShare*float64(cpus) {
		return ""
	}
	return fmt.Sprintf("the load average was %s on %d CPUs before this run: what else the machine did is in the numbers", first, cpus)
}
