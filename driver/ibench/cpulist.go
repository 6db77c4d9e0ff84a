package ibench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuMax bounds a CPU number, so that a broken list cannot ask for a huge set.
const cpuMax = 1 << 16

// ParseCPUList reads the kernel's list format, for example "0-3,8". The
// result is sorted and free of duplicates; an empty text is an empty list.
func ParseCPUList(text string) ([]int, error) {
	var out []int
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		lo, err := parseCPU(first)
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", text, err)
		}
		hi := lo
		if isRange {
			if hi, err = parseCPU(last); err != nil {
				return nil, fmt.Errorf("CPU list %q: %w", text, err)
			}
		}
		if hi < lo {
			return nil, fmt.Errorf("CPU list %q: range %s runs backwards", text, part)
		}
		for cpu := lo; cpu <= hi; cpu++ {
			out = append(out, cpu)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func parseCPU(text string) (int, error) {
	cpu, err := strconv.Atoi(text)
	if err != nil || cpu < 0 || cpu >= cpuMax {
		return 0, fmt.Errorf("%q is not a CPU number", text)
	}
	return cpu, nil
}

// FormatCPUList writes CPUs in the kernel's list format, for example "0-3,8".
func FormatCPUList(cpus []int) string {
	sorted := slices.Clone(cpus)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
