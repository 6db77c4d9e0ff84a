package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// AllowedCPUs returns the logical CPUs a process may run on, in order.
func AllowedCPUs(pid int) ([]int, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return nil, fmt.Errorf("allowed CPUs: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return parseCPUs(strings.TrimSpace(list))
		}
	}
	return nil, fmt.Errorf("allowed CPUs: none listed for process %d", pid)
}

// parseCPUs reads the kernel's list format: "0-2,7".
func parseCPUs(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", list, err)
		}
		last, err := strconv.Atoi(high)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", list, err)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
