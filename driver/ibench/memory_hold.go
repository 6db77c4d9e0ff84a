package ibench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The steps in which memory is taken and given back: some milliseconds each,
// between which a new goal is seen and the machine's memory is looked at.
const (
	holdTakeBytes = 8 << 20
	holdFreeBytes = 256 << 20
)

// holdBytesMin is always held, so that there is something to touch at any
// level; capacities below it are refused.
const holdBytesMin = 256 << 10

// holdRecheck is how often a held goal is compared with the machine's memory.
const holdRecheck = 100 * time.Millisecond

// holdSlackFraction of the capacity is a dead band between taking and giving
// back, so that the kernel does not do both in turn; holdSlackBytes at most.
const (
	holdSlackFraction = 1.0 / 64
	holdSlackBytes    = 64 << 20
)

// memoryHold holds as much memory as its goal says, as long as the machine and
// the groups of this process keep their reserves.
type memoryHold struct {
	filling
	data  []byte // mapped; present up to held
	slack int64
	room  func() (int64, error)
}

// newMemoryHold maps capacity bytes and starts the goroutine. room says how
// much may still be taken.
func newMemoryHold(capacity int64, room func() (int64, error)) (*memoryHold, error) {
	if capacity < holdBytesMin {
		return nil, fmt.Errorf("%d bytes of memory are too few for the kernel; it needs %d at least", capacity, holdBytesMin)
	}
	data, err := unix.Mmap(-1, 0, int(capacity), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("map %d MiB of memory: %w", capacity>>20, err)
	}
	// A kernel without huge pages refuses the advice; small pages do as well.
	_ = unix.Madvise(data, unix.MADV_NOHUGEPAGE)
	h := &memoryHold{data: data, slack: int64(min(holdSlackBytes, holdSlackFraction*float64(capacity))), room: room}
	h.least, h.most = holdBytesMin, capacity
	if err := h.take(holdBytesMin); err != nil {
		return nil, errors.Join(err, unix.Munmap(data))
	}
	h.start(h.step, holdRecheck)
	return h, nil
}

// step takes or gives back one slice; it reports whether it did.
func (h *memoryHold) step(context.Context) bool {
	held, goal := h.held.Load(), max(h.goal.Load(), holdBytesMin)
	if held > goal {
		h.free(max(goal, held-holdFreeBytes))
		return true
	}
	if held == holdBytesMin && goal == holdBytesMin {
		return false
	}
	room, err := h.room()
	switch {
	case err != nil:
		h.short.set("takes no more memory: " + err.Error())
	case room < 0 && held > holdBytesMin:
		h.short.set(fmt.Sprintf("memory became scarce: gives back %d MiB of %d MiB", -room>>20, held>>20))
		h.free(max(holdBytesMin, held+room-h.slack/2))
		return true
	case goal == held:
		h.short.set("")
	case room < h.slack:
		h.short.set(fmt.Sprintf("memory is scarce: holds %d MiB of %d MiB", held>>20, goal>>20))
	default:
		return h.grow(min(goal, held+min(holdTakeBytes, room)))
	}
	return false
}

func (h *memoryHold) grow(to int64) bool {
	if err := h.take(to); err != nil {
		h.short.set("takes no more memory: " + err.Error())
		return false
	}
	h.short.set("")
	return true
}

// take makes the memory up to that many bytes present.
func (h *memoryHold) take(to int64) error {
	from := h.held.Load()
	part := h.data[pageFloor(from):to]
	err := unix.Madvise(part, unix.MADV_POPULATE_WRITE)
	if errors.Is(err, unix.EINVAL) { // before Linux 5.14
		err = nil
		for i := 0; i < len(part); i += unix.Getpagesize() {
			part[i] = 1
		}
	}
	if err != nil {
		return fmt.Errorf("take %d MiB of memory: %w", to>>20, err)
	}
	h.held.Store(to)
	return nil
}

// free gives back the memory beyond that many bytes. The workers learn it
// first: what they touch later would come back as the shared zero page.
func (h *memoryHold) free(to int64) {
	from := h.held.Swap(to)
	_ = unix.Madvise(h.data[pageCeiling(to):from], unix.MADV_DONTNEED) // cannot fail on own anonymous memory
}

func pageFloor(bytes int64) int64 { return bytes &^ (int64(unix.Getpagesize()) - 1) }

func pageCeiling(bytes int64) int64 { return pageFloor(bytes + int64(unix.Getpagesize()) - 1) }

// Close gives everything back.
func (h *memoryHold) Close() error {
	h.end()
	if err := unix.Munmap(h.data); err != nil {
		return fmt.Errorf("unmap memory: %w", err)
	}
	return nil
}
