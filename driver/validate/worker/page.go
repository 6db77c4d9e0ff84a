package worker

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// threadsMax bounds the threads of one worker: their counters fit on the page.
const threadsMax = 60

// pageBytes is the size of the shared memory.
const pageBytes = 4096

// The commands.
const (
	commandPause uint32 = iota
	commandRun
)

// page is the memory shared by a worker and its parent.
type page struct {
	mem  []byte
	view *pageView
}

// pageView is its layout. Each counter has a cache line of its own, so that
// threads do not slow each other down.
type pageView struct {
	command atomic.Uint32
	_       [60]byte
	threads [threadsMax]counter
}

type counter struct {
	ops, nanoseconds atomic.Uint64
	_                [48]byte
}

// The layout fits: this does not compile otherwise.
var _ [pageBytes - unsafe.Sizeof(pageView{})]byte

// newPage makes the memory, as a file to hand to the worker.
func newPage() (*os.File, *page, error) {
	fd, err := unix.MemfdCreate("worker", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("shared page: %w", err)
	}
	file := os.NewFile(uintptr(fd), "worker")
	if err := file.Truncate(pageBytes); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("shared page: %w", err), file.Close())
	}
	p, err := mapPage(file)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, p, nil
}

func mapPage(file *os.File) (*page, error) {
	mem, err := unix.Mmap(int(file.Fd()), 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("shared page: %w", err)
	}
	return &page{mem: mem, view: (*pageView)(unsafe.Pointer(&mem[0]))}, nil
}

func (p *page) close() error { return unix.Munmap(p.mem) }

// awaitRun reports whether the command is to run; otherwise it sleeps until it
// changes, or for a while.
func (p *page) awaitRun() bool {
	if p.view.command.Load() == commandRun {
		return true
	}
	wait := unix.NsecToTimespec(pauseSleep.Nanoseconds())
	// An interrupted or late wait is as good as any: the caller looks again.
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&p.view.command)), futexWait,
		uintptr(commandPause), uintptr(unsafe.Pointer(&wait)), 0, 0)
	return false
}

// command changes it and wakes the threads.
func (p *page) command(c uint32) {
	p.view.command.Store(c)
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&p.view.command)), futexWake,
		uintptr(threadsMax), 0, 0, 0) // waking no thread is no failure
}

// FUTEX_WAIT and FUTEX_WAKE of futex(2), shared between processes.
const (
	futexWait = 0
	futexWake = 1
)

func (p *page) add(thread int, c count) {
	p.view.threads[thread].nanoseconds.Add(c.nanoseconds)
	p.view.threads[thread].ops.Add(c.ops)
}

// total sums the counters of all threads.
func (p *page) total() count {
	var sum count
	for i := range p.view.threads {
		sum.ops += p.view.threads[i].ops.Load()
		sum.nanoseconds += p.view.threads[i].nanoseconds.Load()
	}
	return sum
}
