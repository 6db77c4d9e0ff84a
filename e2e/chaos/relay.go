package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// relay passes TCP connections on to a target, and can cut or slow down those of one
// peer, as a network would: what is sent while it is cut is not delivered, and nobody
// is told.
type relay struct {
	listener net.Listener
	target   string
	peerOf   func(port int) string // the peer whose process has a local port; "" is unknown

	mu    sync.Mutex
	links map[string]link
	conns map[*relayed]bool
}

// link is how a peer's connections are.
type link struct {
	cut  bool
	slow time.Duration // that each piece of data takes more
}

// relayed is a pair of connections.
type relayed struct {
	peer     string
	from, to net.Conn
}

func (r *relayed) close() error { return errors.Join(r.from.Close(), r.to.Close()) }

// newRelay listens at a port.
func newRelay(port int, target string, peerOf func(port int) string) (*relay, error) {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &relay{listener: l, target: target, peerOf: peerOf, links: map[string]link{}, conns: map[*relayed]bool{}}
	go r.accept()
	return r, nil
}

func (r *relay) accept() {
	for {
		from, err := r.listener.Accept()
		if err != nil {
			return // it was closed
		}
		go r.serve(from)
	}
}

func (r *relay) serve(from net.Conn) {
	peer := ""
	if a, ok := from.RemoteAddr().(*net.TCPAddr); ok {
		peer = r.peerOf(a.Port)
	}
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		_ = from.Close() // as the target itself would refuse it
		return
	}
	c := &relayed{peer: peer, from: from, to: to}
	r.mu.Lock()
	r.conns[c] = true
	r.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { r.pump(peer, from, to) })
	both.Go(func() { r.pump(peer, to, from) })
	both.Wait()
	r.mu.Lock()
	delete(r.conns, c)
	r.mu.Unlock()
}

// cutPoll is how often data that waits for a cut link looks again.
const cutPoll = 20 * time.Millisecond

// pump copies one direction until it ends, and ends the other with it.
func (r *relay) pump(peer string, from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		for n > 0 && r.link(peer).cut {
			time.Sleep(cutPoll)
		}
		time.Sleep(r.link(peer).slow)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) link(peer string) link {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.links[peer]
}

// set changes how a peer's connections are. What was sent into a cut is lost with its
// connection when that ends.
func (r *relay) set(peer string, l link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.links[peer]
	if was.cut && !l.cut {
		for c := range r.conns {
			if c.peer == peer {
				_ = c.close() // both ends are told so
			}
		}
	}
	r.links[peer] = l
}

func (r *relay) close() error {
	err := r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.close() // the pumps end with it
	}
	return err
}

// ownsPort reports whether a process has a connection from a local TCP port.
func ownsPort(pid, port int) bool {
	inode := inodeOf(port)
	if inode == "" {
		return false
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && to == "socket:["+inode+"]" {
			return true
		}
	}
	return false
}

// inodeOf finds the socket of an established connection from a local port (proc(5)); ""
// where there is none.
func inodeOf(port int) string {
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(f)
		_ = f.Close() // it was only read
		if err != nil {
			continue
		}
		suffix := fmt.Sprintf(":%04X", port)
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == "01" {
				return fields[9]
			}
		}
	}
	return ""
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
