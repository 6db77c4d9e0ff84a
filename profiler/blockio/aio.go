package blockio

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrIO: the kernel refused an I/O, or did not do all of it.
var ErrIO = errors.New("an I/O failed")

// mostIOBytes bounds one I/O (chosen by us: block devices take less at once).
const mostIOBytes = 16 << 20

// iocb asks the kernel for an I/O, as in linux/aio_abi.h on a little-endian machine.
type iocb struct {
	data   uint64
	_      uint64 // key and flags of the kernel's
	opcode uint16
	_      int16 // priority
	fd     uint32
	buffer uint64
	bytes  uint64
	offset int64
	_      [2]uint64 // reserved, flags and where ends are told besides
}

// ioEvent is its end.
type ioEvent struct {
	data, iocb      uint64
	result, result2 int64
}

// The opcodes of an iocb.
const (
	opPread  = 0
	opPwrite = 1
)

// mostEvents are taken from the kernel at once.
const mostEvents = 64

// aio has I/Os of one file in flight, past the page cache. One goroutine uses it, on one thread.
type aio struct {
	fd    int
	queue uintptr
	// All I/Os read into the same bytes and write the same ones: what they are does not matter.
	into, from []byte
	events     [mostEvents]ioEvent
}

func openAIO(path string, depth int) (a *aio, err error) {
	a = &aio{fd: -1}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	if a.fd, err = unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0); err != nil {
		return a, fmt.Errorf("%w: %s: %w", ErrDirect, path, err)
	}
	for _, buffer := range []*[]byte{&a.into, &a.from} {
		if *buffer, err = unix.Mmap(-1, 0, mostIOBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE); err != nil {
			return a, err
		}
	}
	_, _ = rand.NewChaCha8([32]byte{1}).Read(a.from[:chunkBytes]) // a file system may drop zeros; it cannot fail
	for done := chunkBytes; done < len(a.from); done *= 2 {
		copy(a.from[done:], a.from[:done])
	}
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&a.queue)), 0); errno != 0 {
		return a, fmt.Errorf("%w: the kernel has no asynchronous I/O for this process: %w", ErrIO, errno)
	}
	return a, nil
}

// close waits for what is in flight.
func (a *aio) close() error {
	var errs []error
	if a.queue != 0 {
		if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, a.queue, 0, 0); errno != 0 {
			errs = append(errs, errno)
		}
	}
	for _, buffer := range [][]byte{a.into, a.from} {
		if buffer != nil {
			errs = append(errs, unix.Munmap(buffer))
		}
	}
	if a.fd >= 0 {
		errs = append(errs, unix.Close(a.fd))
	}
	return errors.Join(errs...)
}

// submit gives an I/O to the kernel; its slot comes back with its end.
func (a *aio) submit(slot int, write bool, offset, bytes int64) error {
	if bytes > mostIOBytes {
		return fmt.Errorf("%w: one of %d bytes; at most %d can be played", ErrIO, bytes, mostIOBytes)
	}
	c := iocb{data: uint64(slot), opcode: opPread, fd: uint32(a.fd), buffer: uint64(uintptr(unsafe.Pointer(&a.into[0]))), bytes: uint64(bytes), offset: offset}
	if write {
		c.opcode, c.buffer = opPwrite, uint64(uintptr(unsafe.Pointer(&a.from[0])))
	}
	list := [1]*iocb{&c}
	for {
		_, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, a.queue, 1, uintptr(unsafe.Pointer(&list[0])))
		switch errno {
		case 0:
			return nil
		case unix.EINTR, unix.EAGAIN: // a signal; or the kernel's own bound
			continue
		default:
			return fmt.Errorf("%w: %d bytes at %d: %w", ErrIO, bytes, offset, errno)
		}
	}
}

// ended are the I/Os that have ended: of those that have, or after waiting for the first of
// them for so long.
func (a *aio) ended(wait time.Duration) ([]ioEvent, error) {
	timeout := unix.NsecToTimespec(max(0, wait).Nanoseconds())
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, a.queue, 1, mostEvents, uintptr(unsafe.Pointer(&a.events[0])), uintptr(unsafe.Pointer(&timeout)), 0)
	switch {
	case errno == unix.EINTR:
		return nil, nil
	case errno != 0:
		return nil, fmt.Errorf("%w: %w", ErrIO, errno)
	}
	return a.events[:n], nil
}

// lookEvery is between two looks whether playing is to end.
const lookEvery = 100 * time.Millisecond

// waitFor is how long to wait: until a time, but not longer than until the next look.
func waitFor(ctx context.Context, until time.Duration) (time.Duration, error) {
	return min(until, lookEvery), ctx.Err()
}
