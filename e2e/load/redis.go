package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// redisInFlight bounds the unanswered requests of one connection.
	redisInFlight = 4096
	// redisBufferBytes is the size of the read buffer, and from where on
	// pipelined requests are written out before the batch is complete.
	redisBufferBytes = 64 << 10
	// redialPause is the time between two attempts to connect.
	redialPause = 100 * time.Millisecond
	// preloadPipeline is the number of keys set at a time before a load.
	preloadPipeline = 256
)

// redisClient speaks RESP2, the redis serialization protocol.
type redisClient struct {
	config Config
	rec    *recorder
	value  []byte
}

func newRedisClient(config Config, rec *recorder) *redisClient {
	return &redisClient{config: config, rec: rec, value: bytes.Repeat([]byte{'x'}, config.ValueBytes)}
}

func (c *redisClient) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: c.config.Timeout}
	return d.DialContext(ctx, "tcp", c.config.Target)
}

// prepare pings the server and loads the keys if asked to.
func (c *redisClient) prepare(ctx context.Context) (err error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	r := bufio.NewReaderSize(conn, redisBufferBytes)
	if err := c.exchange(conn, r, appendCommand(nil, []byte("PING")), 1); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	if !c.config.Preload {
		return nil
	}
	for first := 0; first < c.config.Keys; first += preloadPipeline {
		var commands []byte
		last := min(first+preloadPipeline, c.config.Keys)
		for k := first; k < last; k++ {
			commands = appendCommand(commands, []byte("SET"), keyName(k), c.value)
		}
		if err := c.exchange(conn, r, commands, last-first); err != nil {
			return fmt.Errorf("load keys: %w", err)
		}
	}
	return nil
}

// exchange writes commands and reads as many replies. It is used before the
// load only, with commands the server can buffer.
func (c *redisClient) exchange(conn net.Conn, r *bufio.Reader, commands []byte, replies int) error {
	if err := conn.SetDeadline(time.Now().Add(c.config.Timeout)); err != nil {
		return err
	}
	if _, err := conn.Write(commands); err != nil {
		return err
	}
	for range replies {
		if err := readReply(r); err != nil {
			return err
		}
	}
	return nil
}

// run keeps a connection to the server and works off the queue. While there is
// no connection, due requests fail at once, as they would for any client.
func (c *redisClient) run(ctx context.Context, connection int, batches <-chan batch) {
	rng := rand.New(rand.NewPCG(c.config.Seed, uint64(connection)+1))
	for {
		conn, err := c.dial(ctx)
		if err == nil {
			if !c.session(ctx, conn, rng, batches) {
				return
			}
			continue
		}
		if !c.refuse(ctx, batches, err) {
			return
		}
	}
}

// refuse fails all requests that become due within redialPause. It reports
// whether more may come.
func (c *redisClient) refuse(ctx context.Context, batches <-chan batch, reason error) bool {
	pause := time.NewTimer(redialPause)
	defer pause.Stop()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return false
			}
			c.rec.failure(b.count, reason)
		case <-pause.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// redisSession is the life of one connection: a sender and a reader that share
// the queue of unanswered requests.
type redisSession struct {
	client   *redisClient
	conn     net.Conn
	rng      *rand.Rand
	inFlight chan time.Time // due times, in the order of sending
	unsent   []byte
	pending  atomic.Int64 // requests sent or about to be, without an outcome
	failed   chan struct{}
	err      error // why the reader stopped; read after failed is closed
}

// session sends until the queue ends or the connection breaks. It reports
// whether more may come.
func (c *redisClient) session(ctx context.Context, conn net.Conn, rng *rand.Rand, batches <-chan batch) bool {
	s := &redisSession{
		client: c, conn: conn, rng: rng,
		inFlight: make(chan time.Time, redisInFlight), failed: make(chan struct{}),
	}
	go s.read()
	// A server that has stopped reading blocks the sender's write: closing frees it.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	more := s.send(ctx, batches)
	close(s.inFlight)
	<-s.failed
	_ = conn.Close() // every request has its outcome
	reason := s.err
	if ctx.Err() != nil {
		reason = errCut
	}
	c.rec.failure(int(s.pending.Load()), reason)
	return more && ctx.Err() == nil
}

// send works off the queue. It reports whether the queue has not ended.
func (s *redisSession) send(ctx context.Context, batches <-chan batch) bool {
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return false
			}
			if !s.sendBatch(b) {
				return true
			}
		case <-s.failed:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// sendBatch sends a batch and reports whether the connection still works.
func (s *redisSession) sendBatch(b batch) bool {
	s.pending.Add(int64(b.count))
	for range b.count {
		select {
		case s.inFlight <- b.due:
		default:
			// Too many are unanswered. What is in the buffer must go out first, or
			// the answers we are about to wait for would never come.
			if !s.flush() || !s.enqueue(b.due) {
				return false
			}
		}
		s.unsent = s.client.appendRequest(s.unsent, s.rng)
		if len(s.unsent) >= redisBufferBytes && !s.flush() {
			return false
		}
	}
	return s.flush()
}

func (s *redisSession) enqueue(due time.Time) bool {
	select {
	case s.inFlight <- due:
		return true
	case <-s.failed:
		return false
	}
}

func (s *redisSession) flush() bool {
	if len(s.unsent) == 0 {
		return true
	}
	err := s.conn.SetWriteDeadline(time.Now().Add(s.client.config.Timeout))
	if err == nil {
		_, err = s.conn.Write(s.unsent)
	}
	s.unsent = s.unsent[:0]
	if err != nil {
		_ = s.conn.Close() // the reader reports the broken connection
	}
	return err == nil
}

// read records the answers, in the order of the requests. It ends when the
// sender has finished and all is answered, or when the connection breaks.
func (s *redisSession) read() {
	defer close(s.failed)
	r := bufio.NewReaderSize(s.conn, redisBufferBytes)
	for due := range s.inFlight {
		if r.Buffered() == 0 {
			// Only before the kernel is asked: a deadline per reply would cost
			// more than the reply.
			if s.err = s.conn.SetReadDeadline(time.Now().Add(s.client.config.Timeout)); s.err != nil {
				return
			}
		}
		err := readReply(r)
		var refused replyError
		switch {
		case err == nil:
			s.client.rec.answered(due, time.Now())
		case errors.As(err, &refused):
			s.client.rec.failure(1, refused)
		default:
			s.err = fmt.Errorf("connection to %s: %w", s.client.config.Target, err)
			_ = s.conn.Close() // frees a sender that is blocked in a write
			return
		}
		s.pending.Add(-1)
	}
}

func (c *redisClient) appendRequest(b []byte, rng *rand.Rand) []byte {
	key := keyName(rng.IntN(c.config.Keys))
	if rng.Float64() < c.config.ReadFraction {
		return appendCommand(b, []byte("GET"), key)
	}
	return appendCommand(b, []byte("SET"), key, c.value)
}

func keyName(k int) []byte { return strconv.AppendInt([]byte("key:"), int64(k), 10) }

// appendCommand writes a RESP array of bulk strings.
func appendCommand(b []byte, words ...[]byte) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(words)), 10)
	b = append(b, "\r\n"...)
	for _, w := range words {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(w)), 10)
		b = append(b, "\r\n"...)
		b = append(b, w...)
		b = append(b, "\r\n"...)
	}
	return b
}

// replyError is an error the server answered with.
type replyError string

func (e replyError) Error() string { return string(e) }

// readReply reads one RESP2 reply of the kinds that PING, GET and SET have: a
// simple string, an error, an integer, or a bulk string.
func readReply(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 {
		return errors.New("empty reply line")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+', ':':
		return nil
	case '-':
		return replyError(rest)
	case '$':
		return skipBulk(r, rest)
	default:
		return fmt.Errorf("reply %q is not RESP", line)
	}
}

func skipBulk(r *bufio.Reader, length []byte) error {
	n, err := strconv.Atoi(string(length))
	if err != nil || n < -1 {
		return fmt.Errorf("bulk length %q", length)
	}
	if n == -1 {
		return nil // no such key
	}
	_, err = r.Discard(n + len("\r\n"))
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
