// Package machine says what a measurement ran on, and in what state it was: without
// that, numbers of different machines or minutes cannot be compared.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Description is the processor and the memory, from the kernel's own words.
func Description() string {
	model, memory := "an unknown processor", "unknown memory"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d", &kib); err == nil {
			memory = fmt.Sprintf("%d GiB", kib>>20)
		}
	}
	return fmt.Sprintf("%d CPUs (%s), %s", runtime.NumCPU(), model, memory)
}

// LoadAverages are those of the last 1, 5 and 15 minutes.
func LoadAverages() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
