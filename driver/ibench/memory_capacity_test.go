package ibench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

const mib = 1 << 20

// writeTree writes files below a new root.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// meminfo of 8 GiB with 4 GiB available: the reserve is 512 MiB.
const meminfo = "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n"

func TestMemoryReserve(t *testing.T) {
	t.Parallel()
	for total, want := range map[int64]int64{
		1 << 30:   128 * mib, // an eighth
		8 << 30:   512 * mib,
		100 << 30: 3 << 30, // 3 %
	} {
		if got := memoryReserve(total); got != want {
			t.Errorf("of %d MiB: %d, want %d", total/mib, got, want)
		}
	}
}

func TestMemoryRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  int64 // MiB
	}{
		"no groups": {map[string]string{}, 4096 - 512},
		"version 2": {map[string]string{
			"proc/self/cgroup":                    "0::/nomad/task\n",
			"sys/fs/cgroup/nomad/task/memory.max": "max\n",
			"sys/fs/cgroup/nomad/memory.max":      "1073741824\n",
			"sys/fs/cgroup/nomad/memory.current":  "536870912\n",
			"sys/fs/cgroup/nomad/memory.stat":     "anon 1\ninactive_file 100663296\nactive_file 33554432\n",
		}, 1024 - 512 + 128 - 128},
		"version 1": {map[string]string{
			"proc/self/cgroup":                                "9:cpu:/x\n4:memory:/task\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":      "9223372036854771712\n",
			"sys/fs/cgroup/memory/task/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/task/memory.usage_in_bytes": "1048576\n",
			"sys/fs/cgroup/memory/task/memory.stat":           "total_inactive_file 0\n",
		}, 1024 - 1 - 128},
		"a group beyond its reserve": {map[string]string{
			"proc/self/cgroup":                  "0::/task\n",
			"sys/fs/cgroup/task/memory.max":     "1073741824\n",
			"sys/fs/cgroup/task/memory.current": "1072693248\n",
		}, 1 - 128},
		"a group that is not to be seen": {map[string]string{"proc/self/cgroup": "0::/elsewhere\n"}, 4096 - 512},
	} {
		c.files["proc/meminfo"] = meminfo
		got, err := newMemoryRoom(writeTree(t, c.files)).bytes()
		if err != nil || got != c.want*mib {
			t.Errorf("%s: %d MiB, %v; want %d", name, got/mib, err, c.want)
		}
	}
}

func TestMemoryCapacityIsBounded(t *testing.T) {
	t.Parallel()
	room := newMemoryRoom(writeTree(t, map[string]string{"proc/meminfo": meminfo}))
	// 3584 MiB without the reserve, less the dead band of a 64th.
	if got, err := memoryCapacityOf(room, Setup{}); err != nil || got != 3528*mib {
		t.Errorf("%d MiB, %v", got/mib, err)
	}
	if got, err := memoryCapacityOf(room, Setup{MaxBytes: 7 * mib}); err != nil || got != 7*mib {
		t.Errorf("bounded: %d MiB, %v", got/mib, err)
	}
	short := newMemoryRoom(writeTree(t, map[string]string{"proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 409600 kB\n"}))
	if _, err := memoryCapacityOf(short, Setup{MaxBytes: mib}); err == nil || !strings.Contains(err.Error(), "112 MiB less than the reserve") {
		t.Errorf("no free memory: %v", err)
	}
	if err := memoryCapacity.Supported(Machine{MemoryTotalBytes: 8 << 30, MemoryAvailableBytes: 400 * mib}); err == nil {
		t.Error("supported without free memory")
	}
}

// eventually waits for a condition that another goroutine or process brings about,
// once it gets a CPU.
func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// residentPages counts the pages of memory that are present.
func residentPages(t *testing.T, data []byte) int64 {
	t.Helper()
	pages := make([]byte, len(data)/unix.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	n := int64(0)
	for _, p := range pages {
		n += int64(p & 1)
	}
	return n
}

func TestHoldFollowsItsGoal(t *testing.T) {
	t.Parallel()
	const capacity = 32 * mib
	var room atomic.Int64
	room.Store(1 << 40)
	h, err := newMemoryHold(capacity, func() (int64, error) { return room.Load(), nil })
	if err != nil {
		t.Fatal(err)
	}
	page := int64(unix.Getpagesize())
	for _, goal := range []int64{capacity, capacity / 2, capacity / 4 * 3, 0, capacity} {
		h.setGoal(goal)
		want := max(goal, holdBytesMin)
		eventually(t, "goal reached", func() bool { return h.held.Load() == want && residentPages(t, h.data)*page == want })
	}
	// Memory gets short by 10 MiB: that much is given back, and not taken again.
	room.Store(-10 * mib)
	eventually(t, "given back", func() bool { return h.held.Load() < capacity-10*mib })
	room.Store(0)
	eventually(t, "said so", func() bool { a := h.short.list(); return len(a) == 1 && strings.Contains(a[0], "memory is scarce") })
	held := h.held.Load()
	h.setGoal(capacity)
	if h.held.Load() > held {
		t.Error("it takes memory where there is none")
	}
	// And when there is room again, it goes on.
	room.Store(1 << 40)
	eventually(t, "taken again", func() bool { return h.held.Load() == capacity && len(h.short.list()) == 0 })
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestHoldThatCannotLook(t *testing.T) {
	t.Parallel()
	h, err := newMemoryHold(mib, func() (int64, error) { return 0, errors.New("no meminfo") })
	if err != nil {
		t.Fatal(err)
	}
	h.setGoal(mib)
	eventually(t, "said so", func() bool { a := h.short.list(); return len(a) == 1 && strings.Contains(a[0], "no meminfo") })
	if h.held.Load() != holdBytesMin {
		t.Error("it took memory without looking")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := newMemoryHold(holdBytesMin-1, nil); err == nil {
		t.Error("a hold of nothing")
	}
}

// The process holds what its report says, and gives it back.
func TestMemoryCapacityHoldsWhatItReports(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.MemoryCapacity))
	for _, percent := range []float64{100, 50} {
		if err := p.Set(t.Context(), percent); err != nil {
			t.Fatal(err)
		}
		want := int64(percent / 100 * testBytes)
		eventually(t, "held", func() bool {
			r, err := p.Report(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return r.ResidentBytes == want && r.Measures["held_bytes"] == float64(want) && r.Measures["goal_bytes"] == float64(want)
		})
	}
}
