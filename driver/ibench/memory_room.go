package ibench

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The memory left to everybody else: the larger of both. On small machines and
// in small groups that would be most of the memory, so it ends at a share of it.
const (
	memoryReserveBytes       = 512 << 20
	memoryReserveFraction    = 0.03
	memoryReserveFractionMax = 0.125
)

// memoryReserve is what must stay available of a total of bytes.
func memoryReserve(total int64) int64 {
	wanted := max(memoryReserveBytes, memoryReserveFraction*float64(total))
	return int64(min(wanted, memoryReserveFractionMax*float64(total)))
}

// memoryRoom tells how much memory may still be taken: of the machine, and of
// every control group with a limit that this process is in. The files are read
// anew each time, as both change.
type memoryRoom struct {
	meminfo string
	groups  []memoryGroup
}

// memoryGroup is one control group with its limit, in either version.
type memoryGroup struct {
	dir          string
	limit, usage string   // names of files
	reclaimable  []string // fields of memory.stat
}

// newMemoryRoom finds the groups of this process below root, "/" on a running
// machine. Groups whose files are not to be seen, as in containers, are left
// out: their limits are not known.
func newMemoryRoom(root string) memoryRoom {
	room := memoryRoom{meminfo: filepath.Join(root, "proc/meminfo")}
	text, err := readText(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return room // a kernel without control groups
	}
	for line := range strings.Lines(text) {
		// A line is hierarchy:controllers:path (cgroups(7)); version 2 has no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		g := memoryGroup{limit: "memory.max", usage: "memory.current", reclaimable: []string{"inactive_file", "active_file"}}
		top := filepath.Join(root, "sys/fs/cgroup")
		if strings.Contains(","+parts[1]+",", ",memory,") {
			g = memoryGroup{limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", reclaimable: []string{"total_inactive_file", "total_active_file"}}
			top = filepath.Join(top, "memory")
		} else if parts[1] != "" {
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
			g.dir = filepath.Join(top, path)
			if _, ok := g.room(); ok {
				room.groups = append(room.groups, g)
			}
			if path == "/" {
				break
			}
		}
	}
	return room
}

// room is what may still be taken of a group's limit; ok is false where the
// group has none.
func (g memoryGroup) room() (bytes int64, ok bool) {
	limit, ok := readBytes(filepath.Join(g.dir, g.limit))
	if !ok || limit > math.MaxInt64/2 { // version 1 writes a huge number for no limit
		return 0, false
	}
	usage, ok := readBytes(filepath.Join(g.dir, g.usage))
	if !ok {
		return 0, false
	}
	return limit - usage + g.reclaimableBytes() - memoryReserve(limit), true
}

// reclaimableBytes is page cache that counts as used but gives way, whether it was
// used a moment ago or not, as in the machine's own MemAvailable (proc_meminfo(5)).
func (g memoryGroup) reclaimableBytes() int64 {
	text, err := readText(filepath.Join(g.dir, "memory.stat"))
	if err != nil {
		return 0
	}
	sum := int64(0)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && slices.Contains(g.reclaimable, name) {
			sum += n
		}
	}
	return sum
}

func readBytes(path string) (bytes int64, ok bool) {
	text, err := readText(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// bytes is what may be taken without the reserves; negative where memory is
// already short.
func (r memoryRoom) bytes() (int64, error) {
	available, total, err := readAvailable(r.meminfo)
	if err != nil {
		return 0, err
	}
	least := available - memoryReserve(total)
	for _, g := range r.groups {
		if room, ok := g.room(); ok {
			least = min(least, room)
		}
	}
	return least, nil
}

// readAvailable reads what the machine could still give out, and what it has.
func readAvailable(meminfo string) (available, total int64, err error) {
	var m Machine
	if err := m.readMemory(meminfo); err != nil {
		return 0, 0, err
	}
	return m.MemoryAvailableBytes, m.MemoryTotalBytes, nil
}

// residentAnonymous is how much anonymous memory of this process is in RAM,
// as the kernel adds it up over its mappings.
func residentAnonymous(root string) (int64, error) {
	fields, err := readFields(filepath.Join(root, "proc/self/smaps_rollup"))
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	bytes, err := parseKiB(fields["Anonymous"])
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	return bytes, nil
}
