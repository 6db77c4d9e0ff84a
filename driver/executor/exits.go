package executor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// exits hears from the kernel's process connector how processes end: only a
// parent may ask, and a task is Nomad's child. It is used where nothing else
// tells that a workload has done its work.
type exits struct {
	now func() time.Time

	mu    sync.Mutex
	ended map[int]ending
	order []int // pids of ended, oldest first
}

// ending is how a process ended.
type ending struct {
	code int // as a shell says it: 128 and the signal for a killed one
	at   time.Time
}

// maxEndings bounds what is remembered: the newest count.
const maxEndings = 4096

// The layout of the connector's messages: nlmsghdr, cn_msg, proc_event; see
// linux/connector.h and linux/cn_proc.h.
const (
	connectorMessage = 16          // offset of cn_msg
	connectorEvent   = 16 + 20     // offset of proc_event
	eventBody        = 36 + 16     // offset of its union
	exitEventBytes   = 52 + 12     // up to exit_code
	procIndex        = 1           // CN_IDX_PROC and CN_VAL_PROC
	procListen       = uint32(1)   // PROC_CN_MCAST_LISTEN
	procExit         = 0x80000000  // PROC_EVENT_EXIT
	requestBytes     = 16 + 20 + 4 // with the operation
)

// hearExits subscribes until ctx ends. It needs root in the machine's first
// network namespace, and a kernel with the connector.
func hearExits(ctx context.Context, now func() time.Time) (*exits, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_CONNECTOR)
	if err != nil {
		return nil, fmt.Errorf("process connector: %w", err)
	}
	socket := os.NewFile(uintptr(fd), "process connector")
	if err := subscribe(fd); err != nil {
		return nil, errors.Join(fmt.Errorf("process connector: %w", err), socket.Close())
	}
	e := &exits{now: now, ended: map[int]ending{}}
	context.AfterFunc(ctx, func() { _ = socket.Close() }) // ends the reader
	go e.read(socket)
	return e, nil
}

func subscribe(fd int) error {
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: procIndex}); err != nil {
		return err
	}
	b := make([]byte, requestBytes)
	binary.NativeEndian.PutUint32(b[0:], requestBytes)
	binary.NativeEndian.PutUint16(b[4:], unix.NLMSG_DONE)
	binary.NativeEndian.PutUint32(b[connectorMessage:], procIndex)
	binary.NativeEndian.PutUint32(b[connectorMessage+4:], procIndex)
	binary.NativeEndian.PutUint16(b[connectorMessage+16:], 4) // bytes of the operation
	binary.NativeEndian.PutUint32(b[connectorEvent:], procListen)
	return unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// read records exits until the socket is closed. Messages that were lost, the
// socket's buffer being full, are ends that stay unknown.
func (e *exits) read(socket *os.File) {
	b := make([]byte, 4096)
	for {
		n, err := socket.Read(b)
		if errors.Is(err, unix.ENOBUFS) {
			continue
		}
		if err != nil {
			return
		}
		if pid, status, ok := exitEvent(b[:n]); ok {
			e.record(pid, status)
		}
	}
}

// exitEvent reads the end of a process; ends of mere threads are not ones.
func exitEvent(b []byte) (pid int, status unix.WaitStatus, ok bool) {
	if len(b) < exitEventBytes || binary.NativeEndian.Uint32(b[connectorEvent:]) != procExit {
		return 0, 0, false
	}
	thread, process := binary.NativeEndian.Uint32(b[eventBody:]), binary.NativeEndian.Uint32(b[eventBody+4:])
	return int(process), unix.WaitStatus(binary.NativeEndian.Uint32(b[eventBody+8:])), thread == process
}

func (e *exits) record(pid int, status unix.WaitStatus) {
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, again := e.ended[pid]; !again {
		e.order = append(e.order, pid)
	}
	e.ended[pid] = ending{code, e.now()}
	if len(e.order) > maxEndings {
		delete(e.ended, e.order[0])
		e.order = e.order[1:]
	}
}

// of returns how a process ended, if that was heard.
func (e *exits) of(pid int) (ending, bool) {
	if e == nil {
		return ending{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	end, ok := e.ended[pid]
	return end, ok
}
