package worker

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// disk reads and writes a file that has no name any more.
type disk struct {
	file   *os.File
	buffer []byte
	size   int64
	at     int64
	random *rand.Rand // nil appends
}

// The block sizes of the two disk workers.
const (
	diskRandomBytes     = 64 << 10
	diskSequentialBytes = 256 << 10
)

// newDisk makes the file and writes it once: blocks never written are not read
// from the disk.
func newDisk(o Spec, block int, random *rand.Rand) (loop, error) {
	if o.Dir == "" {
		return nil, errors.New("needs a directory on a disk")
	}
	file, err := os.CreateTemp(o.Dir, ".validate-*")
	if err != nil {
		return nil, fmt.Errorf("disk worker: %w", err)
	}
	name := file.Name()
	_ = file.Close()
	direct, err := os.OpenFile(name, os.O_RDWR|unix.O_DIRECT, 0)
	err = errors.Join(err, os.Remove(name))
	if err != nil {
		return nil, fmt.Errorf("disk worker: %w", err)
	}
	buffer, err := mapMemory(int64(block), false)
	if err != nil {
		return nil, errors.Join(err, direct.Close())
	}
	d := &disk{file: direct, buffer: buffer, size: max(o.Bytes/int64(block), 1) * int64(block)}
	for !d.wrapped() {
		if _, err := d.append(); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	d.random = random
	return d, nil
}

// wrapped reports whether the file is full; the next append begins anew.
func (d *disk) wrapped() bool { return d.at >= d.size }

func (d *disk) append() (count, error) {
	n, err := d.file.WriteAt(d.buffer, d.at)
	if err != nil {
		return count{}, fmt.Errorf("disk worker: %w", err)
	}
	d.at += int64(n)
	return count{ops: uint64(n)}, nil
}

func (d *disk) step() (count, error) {
	if d.random == nil {
		if d.wrapped() {
			d.at = 0
		}
		return d.append()
	}
	block := int64(len(d.buffer))
	n, err := d.file.ReadAt(d.buffer, d.random.Int64N(d.size/block)*block)
	if err != nil {
		return count{}, fmt.Errorf("disk worker: %w", err)
	}
	return count{ops: uint64(n)}, nil
}

func (d *disk) close() error { return errors.Join(d.file.Close(), unmapMemory(d.buffer)) }

var diskRandomKind = Kind{
	Name: "disk-random", Unit: "bytes", Threads: 1, Does: "reads random blocks of 64 KiB of a file, past the page cache",
	open: func(o Spec, _ int, _ *commons) (loop, error) {
		return newDisk(o, diskRandomBytes, rand.New(rand.NewPCG(o.Seed, 3)))
	},
}

var diskSequentialKind = Kind{
	Name: "disk-append", Unit: "bytes", Threads: 1, Does: "writes a file block after block of 256 KiB, past the page cache",
	open: func(o Spec, _ int, _ *commons) (loop, error) { return newDisk(o, diskSequentialBytes, nil) },
}

// echo sends a message over loopback TCP and waits for it to come back.
type echo struct {
	conn   net.Conn
	server net.Listener
	buffer []byte
}

// echoTimeout bounds one round trip, so that a lost one is an error.
const echoTimeout = 5 * time.Second

func openEcho(o Spec, _ int, _ *commons) (loop, error) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("echo: %w", err)
	}
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn) // ends with the connection
	}()
	conn, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("echo: %w", err), server.Close())
	}
	return &echo{conn: conn, server: server, buffer: make([]byte, max(int(o.Bytes), 1))}, nil
}

func (e *echo) step() (count, error) {
	if err := e.conn.SetDeadline(time.Now().Add(echoTimeout)); err != nil {
		return count{}, fmt.Errorf("echo: %w", err)
	}
	if _, err := e.conn.Write(e.buffer); err != nil {
		return count{}, fmt.Errorf("echo: %w", err)
	}
	if _, err := io.ReadFull(e.conn, e.buffer); err != nil {
		return count{}, fmt.Errorf("echo: %w", err)
	}
	return count{ops: 1}, nil
}

func (e *echo) close() error { return errors.Join(e.conn.Close(), e.server.Close()) }

var echoKind = Kind{Name: "echo", Unit: "round trips", Threads: 1, Does: "sends a message over loopback TCP and waits for its echo", open: openEcho}

// mailbox is two lines that two threads hand to each other.
type mailbox struct {
	_          [64]byte
	ball, back atomic.Uint64
	_          [48]byte
	closed     atomic.Bool
}

// pinger is one side of the mailbox; only the first counts.
type pinger struct {
	box   *mailbox
	first bool
	sent  uint64
}

const pingQuantum = 256

// patience is how often a side looks before it lets others run: on one CPU the
// other side cannot answer otherwise.
const patience = 1 << 12

func (p *pinger) step() (count, error) {
	for range pingQuantum {
		if p.first {
			p.sent++
			p.box.ball.Store(p.sent)
			if !p.await(&p.box.back, p.sent) {
				return count{}, nil
			}
			continue
		}
		next := p.box.back.Load() + 1
		if !p.await(&p.box.ball, next) {
			return count{}, nil
		}
		p.box.back.Store(next)
	}
	if p.first {
		return count{ops: pingQuantum}, nil
	}
	return count{}, nil
}

// await reports whether the value came before the mailbox closed.
func (p *pinger) await(v *atomic.Uint64, want uint64) bool {
	for looks := 0; v.Load() < want; looks++ {
		if looks%patience == patience-1 {
			if p.box.closed.Load() {
				return false
			}
			runtime.Gosched()
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // cannot fail
		}
	}
	return true
}

func (p *pinger) close() error {
	p.box.closed.Store(true)
	return nil
}

var pingKind = Kind{
	Name: "ping", Unit: "round trips", Threads: 2, Does: "two threads hand a cache line to each other",
	open: func(_ Spec, thread int, shared *commons) (loop, error) {
		return &pinger{box: &shared.mailbox, first: thread == 0}, nil
	},
}

// toucher reads a file through the page cache, at random places: what a
// workload does that lives on the memory others leave.
type toucher struct {
	file   *os.File
	buffer []byte
	size   int64
	random *rand.Rand
}

func openTouch(o Spec, _ int, _ *commons) (loop, error) {
	if o.Dir == "" {
		return nil, errors.New("needs a directory on a disk")
	}
	file, err := os.CreateTemp(o.Dir, ".validate-*")
	if err != nil {
		return nil, fmt.Errorf("cached-file worker: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("cached-file worker: %w", err), file.Close())
	}
	t := &toucher{file: file, buffer: make([]byte, smallPage), size: max(o.Bytes, smallPage) / smallPage * smallPage, random: rand.New(rand.NewPCG(o.Seed, 4))}
	chunk := make([]byte, diskSequentialBytes)
	for at := int64(0); at < t.size; at += int64(len(chunk)) {
		if _, err := file.WriteAt(chunk[:min(int64(len(chunk)), t.size-at)], at); err != nil {
			return nil, errors.Join(fmt.Errorf("cached-file worker: %w", err), file.Close())
		}
	}
	// Dirty pages cannot be dropped: only written ones are at others' mercy.
	if err := file.Sync(); err != nil {
		return nil, errors.Join(fmt.Errorf("cached-file worker: %w", err), file.Close())
	}
	return t, nil
}

const touchQuantum = 16

func (t *toucher) step() (count, error) {
	for range touchQuantum {
		if _, err := t.file.ReadAt(t.buffer, t.random.Int64N(t.size/smallPage)*smallPage); err != nil {
			return count{}, fmt.Errorf("cached-file worker: %w", err)
		}
	}
	return count{ops: touchQuantum}, nil
}

func (t *toucher) close() error { return t.file.Close() }

var touchKind = Kind{Name: "touch", Unit: "pages", Threads: 1, Does: "reads random pages of a file through the page cache", open: openTouch}
