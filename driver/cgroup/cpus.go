package cgroup

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// CPUs is a sorted set of logical CPU numbers.
type CPUs []int

// ParseCPUs reads the kernel's list form, "0-3,8"; the empty text is no CPU.
func ParseCPUs(text string) (CPUs, error) {
	cpus, err := ibench.ParseCPUList(text)
	return cpus, err
}

// String writes the kernel's list form.
func (c CPUs) String() string { return ibench.FormatCPUList(c) }

// And returns the CPUs in both sets.
func (c CPUs) And(d CPUs) CPUs {
	return c.filter(func(cpu int) bool { return slices.Contains(d, cpu) })
}

// Without returns the CPUs of c that are not in d.
func (c CPUs) Without(d CPUs) CPUs {
	return c.filter(func(cpu int) bool { return !slices.Contains(d, cpu) })
}

func (c CPUs) filter(keep func(int) bool) CPUs {
	var out CPUs
	for _, cpu := range c {
		if keep(cpu) {
			out = append(out, cpu)
		}
	}
	return out
}
