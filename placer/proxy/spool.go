package proxy

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Bodies are looked into before anybody knows whose they are, so their memory is bounded
// for all requests together, and for those of one address.
const (
	pieceBytes  = 32 << 10
	roomPieces  = 24 << 20 / pieceBytes
	sharePieces = maxBodyBytes/pieceBytes + 1 // that one address may have
	roomWithin  = 5 * time.Second             // that a body waits for room
)

// piece is the unit of memory for bodies, used again and again.
type piece [pieceBytes]byte

// room is the memory for bodies.
type room struct {
	*quota
	free sync.Pool
}

func newRoom(clock cluster.Clock) *room {
	return &room{quota: newQuota(clock, roomPieces, sharePieces, roomWithin)}
}

// piece is nil where none became free in time.
func (m *room) piece(ctx context.Context, source string) *piece {
	if !m.take(ctx, source) {
		return nil
	}
	if p, ok := m.free.Get().(*piece); ok {
		return p
	}
	return new(piece)
}

// spool is a text in pieces of the room for bodies.
type spool struct {
	room   *room
	source string // the address that it came from
	pieces []*piece
	size   int
	sent   []*parts // its readers
}

// span is a part of a text.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// release gives the pieces back. The transport may read a body after it has answered, and
// httputil.ReverseProxy keeps Close from it, so the readers are closed here: what is in a
// piece may be another tenant's from now on.
func (s *spool) release() {
	for _, p := range s.sent {
		_ = p.Close() // never fails
	}
	for _, p := range s.pieces {
		s.room.free.Put(p)
	}
	s.room.give(s.source, len(s.pieces))
	s.pieces, s.sent, s.size = nil, nil, 0
}

// rest is what one piece holds from a place on; nothing at the end.
func (s *spool) rest(at, end int) []byte {
	if at >= end {
		return nil
	}
	p := s.pieces[at/pieceBytes]
	within := at % pieceBytes
	return p[within:min(pieceBytes, within+end-at)]
}

// bytes is a copy of a part.
func (s *spool) bytes(part span) []byte {
	out := make([]byte, 0, part.len())
	for at := part.from; at < part.to; {
		b := s.rest(at, part.to)
		out, at = append(out, b...), at+len(b)
	}
	return out
}

// has reports whether the text has a word in it. A word that two pieces share counts,
// too.
func (s *spool) has(word string) bool {
	for i := range s.pieces {
		from := i * pieceBytes
		if bytes.Contains(s.rest(from, s.size), []byte(word)) {
			return true
		}
		edge := span{max(0, from-len(word)), min(s.size, from+len(word))}
		if i > 0 && bytes.Contains(s.bytes(edge), []byte(word)) {
			return true
		}
	}
	return false
}

// part of a text that is sent: one of the spool, or other bytes.
type part struct {
	span
	other []byte
}

func (p part) len() int { return p.span.len() + len(p.other) }

// parts are a text to be read once. Its reader may outlive the request, so a part is
// copied under a lock, and nothing after Close.
type parts struct {
	spool *spool

	mu     sync.Mutex
	list   []part
	closed bool
}

func (p *parts) len() int {
	n := 0
	for _, part := range p.list {
		n += part.len()
	}
	return n
}

// Read implements io.Reader.
func (p *parts) Read(to []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0, io.ErrClosedPipe
	}
	for n < len(to) && len(p.list) > 0 {
		next := &p.list[0]
		var copied int
		if len(next.other) > 0 {
			copied = copy(to[n:], next.other)
			next.other = next.other[copied:]
		} else {
			copied = copy(to[n:], p.spool.rest(next.from, next.to))
			next.from += copied
		}
		n += copied
		if next.len() == 0 {
			p.list = p.list[1:]
		}
	}
	if n == 0 && len(p.list) == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer. It waits for a Read that is in progress.
func (p *parts) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}
