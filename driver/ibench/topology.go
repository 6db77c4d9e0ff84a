package ibench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CPU is one online logical CPU.
type CPU struct {
	ID       int   `json:"id"`
	Core     int   `json:"core"`     // -1 where the machine does not say
	Package  int   `json:"package"`  // -1 where the machine does not say
	Node     int   `json:"node"`     // NUMA node, -1 where the machine does not say
	Siblings []int `json:"siblings"` // hardware threads of the same core, itself included
}

// CacheType is the kernel's word for what a cache holds.
type CacheType string

// The cache types of sysfs.
const (
	CacheData        CacheType = "Data"
	CacheInstruction CacheType = "Instruction"
	CacheUnified     CacheType = "Unified"
)

// Cache is one cache as sysfs, or else the processor, reports it. On virtual machines the size may be
// untrue: calibration has the last word.
type Cache struct {
	Level      int       `json:"level"`
	Type       CacheType `json:"type"`
	SizeBytes  int64     `json:"size_bytes"`
	LineBytes  int       `json:"line_bytes"`
	Ways       int       `json:"ways"` // 0 where not reported
	Sets       int       `json:"sets"` // 0 where not reported
	SharedCPUs []int     `json:"shared_cpus"`
}

// readCPUs reads the online CPUs below root/sys/devices/system/cpu.
func readCPUs(root string) ([]CPU, error) {
	dir := filepath.Join(root, "sys/devices/system/cpu")
	text, err := readText(filepath.Join(dir, "online"))
	if err != nil {
		return nil, fmt.Errorf("online CPUs: %w", err)
	}
	online, err := ParseCPUList(text)
	if err != nil {
		return nil, fmt.Errorf("online CPUs: %w", err)
	}
	nodes := readNodes(root)
	cpus := make([]CPU, 0, len(online))
	for _, id := range online {
		topology := filepath.Join(dir, "cpu"+strconv.Itoa(id), "topology")
		cpu := CPU{
			ID:       id,
			Core:     readIntOr(filepath.Join(topology, "core_id"), -1),
			Package:  readIntOr(filepath.Join(topology, "physical_package_id"), -1),
			Node:     -1,
			Siblings: readListOr(filepath.Join(topology, "thread_siblings_list"), []int{id}),
		}
		for node, members := range nodes {
			if slices.Contains(members, id) {
				cpu.Node = node
			}
		}
		cpus = append(cpus, cpu)
	}
	return cpus, nil
}

// readNodes returns the CPUs of each NUMA node; a machine without the
// directory has none.
func readNodes(root string) map[int][]int {
	nodes := map[int][]int{}
	paths, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/node/node[0-9]*"))
	for _, path := range paths {
		id, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), "node"))
		if err != nil {
			continue
		}
		nodes[id] = readListOr(filepath.Join(path, "cpulist"), nil)
	}
	return nodes
}

// readCaches reads every distinct cache of the given CPUs. Entries that lack a
// level, type or size, as containers and virtual machines show them, are left
// out: such a cache is unknown, and its kernels are unsupported, unless the processor itself
// tells (askProcessor).
func readCaches(root string, cpus []CPU) ([]Cache, error) {
	var out []Cache
	for _, cpu := range cpus {
		dir := filepath.Join(root, "sys/devices/system/cpu", "cpu"+strconv.Itoa(cpu.ID), "cache")
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("caches of CPU %d: %w", cpu.ID, err)
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), "index") {
				continue
			}
			cache, ok := readCache(filepath.Join(dir, entry.Name()), cpu.ID)
			if ok && !slices.ContainsFunc(out, cache.same) {
				out = append(out, cache)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Cache) int { return a.Level - b.Level })
	return out, nil
}

func readCache(dir string, cpu int) (Cache, bool) {
	size, err := readText(filepath.Join(dir, "size"))
	if err != nil {
		return Cache{}, false
	}
	bytes, err := parseSize(size)
	kind, kindErr := readText(filepath.Join(dir, "type"))
	cache := Cache{
		Level:      readIntOr(filepath.Join(dir, "level"), 0),
		Type:       CacheType(kind),
		SizeBytes:  bytes,
		LineBytes:  readIntOr(filepath.Join(dir, "coherency_line_size"), defaultLineBytes),
		Ways:       readIntOr(filepath.Join(dir, "ways_of_associativity"), 0),
		Sets:       readIntOr(filepath.Join(dir, "number_of_sets"), 0),
		SharedCPUs: readListOr(filepath.Join(dir, "shared_cpu_list"), []int{cpu}),
	}
	return cache, err == nil && kindErr == nil && cache.Level > 0 && cache.SizeBytes > 0
}

// defaultLineBytes is the line size of every x86-64 and nearly every arm64
// server core, used where sysfs does not report one.
const defaultLineBytes = 64

func (c Cache) same(other Cache) bool {
	return c.Level == other.Level && c.Type == other.Type && slices.Equal(c.SharedCPUs, other.SharedCPUs)
}

// parseSize reads sysfs sizes such as "32K", "8M" or "4096".
func parseSize(text string) (int64, error) {
	unit := int64(1)
	switch {
	case strings.HasSuffix(text, "K"):
		unit = 1 << 10
	case strings.HasSuffix(text, "M"):
		unit = 1 << 20
	case strings.HasSuffix(text, "G"):
		unit = 1 << 30
	}
	n, err := strconv.ParseInt(strings.TrimRight(text, "KMG"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", text, err)
	}
	return n * unit, nil
}

func readText(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}

func readIntOr(path string, fallback int) int {
	text, err := readText(path)
	if err != nil {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return fallback
	}
	return n
}

func readListOr(path string, fallback []int) []int {
	text, err := readText(path)
	if err != nil {
		return fallback
	}
	list, err := ParseCPUList(text)
	if err != nil || len(list) == 0 {
		return fallback
	}
	return list
}
