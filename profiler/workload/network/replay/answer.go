package replay

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// hello opens a connection between generators, and answers it. It is as long for every
// key, so that a wrong one is known at once.
func hello(key string) []byte {
	return fmt.Appendf(nil, "nomad-placer traffic 1 %x\n", sha256.Sum256([]byte(key)))
}

// greetTimeout is how long a peer may take to say who it is.
const greetTimeout = 5 * time.Second

// maxConnections is how many peers one machine serves at once.
const maxConnections = maxPeers

// Listener drops what generators of the same key send.
type Listener struct {
	listener net.Listener
	hello    []byte
	received atomic.Int64
	refused  atomic.Int64

	serving sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]struct{} // nil once closed
}

// Listen serves until Close.
func Listen(address, key string) (*Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for other generators: %w", err)
	}
	l := &Listener{listener: listener, hello: hello(key), open: map[net.Conn]struct{}{}}
	l.serving.Go(l.accept)
	return l, nil
}

// Address is host:port.
func (l *Listener) Address() string { return l.listener.Addr().String() }

// Received is how many bytes came, and how many connections were refused.
func (l *Listener) Received() (bytes, refused int64) { return l.received.Load(), l.refused.Load() }

// Close ends every connection.
func (l *Listener) Close() error {
	err := l.listener.Close()
	l.mu.Lock()
	for conn := range l.open {
		err = errors.Join(err, conn.Close())
	}
	l.open = nil
	l.mu.Unlock()
	l.serving.Wait()
	return err
}

func (l *Listener) accept() {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		if !l.add(conn) {
			l.refused.Add(1)
			conn.Close()
			continue
		}
		l.serving.Go(func() {
			l.serve(conn)
			l.remove(conn)
		})
	}
}

func (l *Listener) add(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil || len(l.open) >= maxConnections {
		return false
	}
	l.open[conn] = struct{}{}
	return true
}

func (l *Listener) remove(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[conn]; open {
		delete(l.open, conn)
		conn.Close()
	}
}

func (l *Listener) serve(conn net.Conn) {
	if err := greet(conn, l.hello, false); err != nil {
		l.refused.Add(1)
		return
	}
	n, _ := io.Copy(counter{&l.received}, conn) // until the peer, or Close, ends it
	_ = n
}

// counter counts what it drops.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// errStranger: who answers is no generator of the same key.
var errStranger = errors.New("who answers there is no generator of this job")

// greet exchanges hellos; first says ours before it reads the peer's.
func greet(conn net.Conn, own []byte, first bool) error {
	if err := conn.SetDeadline(time.Now().Add(greetTimeout)); err != nil {
		return err
	}
	steps := []func() error{func() error { return expect(conn, own) }, func() error { _, err := conn.Write(own); return err }}
	if first {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return conn.SetDeadline(time.Time{})
}

func expect(conn net.Conn, want []byte) error {
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil {
		return fmt.Errorf("%w: %w", errStranger, err)
	}
	if subtle.ConstantTimeCompare(got, want) != 1 {
		return errStranger
	}
	return nil
}
