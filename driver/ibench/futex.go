package ibench

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2) between threads of one process (FUTEX_WAIT and
// FUTEX_WAKE with FUTEX_PRIVATE_FLAG, linux/futex.h).
const (
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// waitChange sleeps for d at most, or until the word is not old any more and
// wakeAll was called. A futex and not the Go runtime's timer: that overshoots
// by a millisecond. A raw system call: with a plain one the runtime's monitor
// thread would take the sleeping thread's processor away and stay awake for
// that; each rig brings processors enough (GOMAXPROCS). Early returns are no
// errors, as the caller looks at the word and the clock.
func waitChange(word *atomic.Uint32, old uint32, d time.Duration) {
	timeout := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate,
		uintptr(old), uintptr(unsafe.Pointer(&timeout)), 0, 0)
}

// awaitChange sleeps until the word is not old any more and wakeAll was called.
// A plain system call: the runtime takes the processor of the thread, and when
// all are idle its monitor thread sleeps too.
func awaitChange(word *atomic.Uint32, old uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(old), 0, 0, 0)
}

// wakeAll wakes every thread that waits for the word to change.
func wakeAll(word *atomic.Uint32) {
	const all = 1<<31 - 1
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, all, 0, 0, 0)
}
