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
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Memcached is a protocol of loops only.
const Memcached Protocol = "memcached" // get and set in the text protocol

// RequestsConfig describes a closed loop of clients: each sends a request, waits
// for the answer, and sends the next. It measures what a server can do, not how
// long its users wait; for that there is Load.
type RequestsConfig struct {
	Protocol Protocol
	// Target is host:port, or for HTTP a URL, on this machine's loopback.
	Target      string
	Connections int           // default DefaultConnections
	Timeout     time.Duration // of one answer; default DefaultTimeout
	Wait        time.Duration // until the server answers first; default 30 s
	Seed        uint64

	// For redis and memcached, as in Config. All keys are set once before
	// anything is counted.
	Keys         int
	ValueBytes   int
	ReadFraction float64
}

const (
	defaultServerWait = 30 * time.Second
	// preloadAtOnce requests are sent before their answers are read.
	preloadAtOnce = 64
)

// dialect is how one protocol asks and answers. It is used by one goroutine.
type dialect interface {
	// store appends the request that sets key k; nil where there are no keys.
	store(b []byte, k int) []byte
	// next appends a request.
	next(b []byte, random *rand.Rand) []byte
	// answer reads one answer.
	answer(r *bufio.Reader) error
}

func newDialect(c RequestsConfig) (dialect, error) {
	switch c.Protocol {
	case Redis:
		load := Config{Keys: c.Keys, ValueBytes: c.ValueBytes, ReadFraction: c.ReadFraction}
		return redisDialect{newRedisClient(load, nil)}, nil
	case Memcached:
		return memcachedDialect{c, bytes.Repeat([]byte{'x'}, c.ValueBytes)}, nil
	case HTTP:
		u, err := url.Parse(c.Target)
		if err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
		return httpDialect{"GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"}, nil
	default:
		return nil, fmt.Errorf("protocol %q: use %s, %s or %s", c.Protocol, Redis, Memcached, HTTP)
	}
}

func (c RequestsConfig) complete(ctx context.Context) (RequestsConfig, error) {
	setDefault(&c.Connections, DefaultConnections)
	setDefault(&c.Timeout, DefaultTimeout)
	setDefault(&c.Wait, defaultServerWait)
	setDefault(&c.Keys, DefaultKeys)
	setDefault(&c.ValueBytes, DefaultValueBytes)
	load := Config{
		Protocol: c.Protocol, Target: c.Target, Connections: c.Connections, Timeout: c.Timeout,
		Keys: c.Keys, ValueBytes: c.ValueBytes, ReadFraction: c.ReadFraction, RatePerSecond: 1,
	}
	return c, errors.Join(load.checkNumbers(), load.checkTarget(ctx))
}

// request starts the command, a server, loads its keys and then keeps its
// clients asking; a unit is one answer.
func request(ctx context.Context, c LoopConfig, count *progress) error {
	requests, err := c.Requests.complete(ctx)
	if err != nil {
		return err
	}
	if _, err := newDialect(requests); err != nil {
		return err
	}
	runner, err := newCommandRunner(c)
	if err != nil {
		return err
	}
	defer runner.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := runner.command(ctx)
	if err := cmd.Start(); err != nil {
		return runner.ended(ctx, cmd, err)
	}
	server := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if failure := runner.ended(ctx, cmd, err); failure != nil {
			server <- failure
			return
		}
		server <- fmt.Errorf("%w: the server has ended", ErrCommand)
	}()
	asking := make(chan error, 1)
	go func() { asking <- requests.ask(ctx, c.Pause, count) }()
	select {
	case err = <-server:
		cancel()
		<-asking //nolint:errcheck // it was cancelled
	case err = <-asking:
		cancel()
		<-server //nolint:errcheck // it was cancelled
	}
	return err
}

// ask prepares the server and drives all connections until one fails or the
// context ends.
func (c RequestsConfig) ask(ctx context.Context, pause time.Duration, count *progress) error {
	if err := awaitTarget(ctx, c.Wait, c.prepare); err != nil {
		return fmt.Errorf("target %s: %w", c.Target, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make(chan error, c.Connections)
	for i := range c.Connections {
		go func() { failures <- c.converse(ctx, i, pause, count) }()
	}
	var first error
	for range c.Connections {
		if err := <-failures; first == nil {
			first = err
		}
		cancel()
	}
	return first
}

// conversation opens a connection that ends with the context.
func (c RequestsConfig) conversation(ctx context.Context) (net.Conn, func(), error) {
	address := c.Target
	if c.Protocol == HTTP {
		u, err := url.Parse(c.Target)
		if err != nil {
			return nil, nil, err
		}
		address = u.Host
	}
	conn, err := (&net.Dialer{Timeout: c.Timeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() {
		stop()
		_ = conn.Close()
	}, nil
}

// prepare sets all keys, or asks once where there are none.
func (c RequestsConfig) prepare(ctx context.Context) error {
	conn, closing, err := c.conversation(ctx)
	if err != nil {
		return err
	}
	defer closing()
	d, err := newDialect(c)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(conn, redisBufferBytes)
	keys := c.Keys
	if d.store(nil, 0) == nil {
		return c.exchange(conn, r, d, d.next(nil, rand.New(rand.NewPCG(c.Seed, 0))), 1)
	}
	for first := 0; first < keys; first += preloadAtOnce {
		var b []byte
		last := min(first+preloadAtOnce, keys)
		for k := first; k < last; k++ {
			b = d.store(b, k)
		}
		if err := c.exchange(conn, r, d, b, last-first); err != nil {
			return fmt.Errorf("load keys: %w", err)
		}
	}
	return nil
}

func (c RequestsConfig) exchange(conn net.Conn, r *bufio.Reader, d dialect, b []byte, answers int) error {
	if err := conn.SetDeadline(time.Now().Add(c.Timeout)); err != nil {
		return err
	}
	if _, err := conn.Write(b); err != nil {
		return err
	}
	for range answers {
		if err := d.answer(r); err != nil {
			return err
		}
	}
	return nil
}

// deadlineEvery answers the connection's deadline is moved, for that costs as
// much as a small answer.
const deadlineEvery = 256

// converse is one client: ask, wait, count, rest.
func (c RequestsConfig) converse(ctx context.Context, connection int, pause time.Duration, count *progress) error {
	conn, closing, err := c.conversation(ctx)
	if err != nil {
		return fmt.Errorf("target %s: %w", c.Target, err)
	}
	defer closing()
	d, err := newDialect(c)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(c.Seed, uint64(connection)+1))
	r := bufio.NewReaderSize(conn, redisBufferBytes)
	var b []byte
	for n := 0; ; n++ {
		if n%deadlineEvery == 0 {
			if err := conn.SetDeadline(time.Now().Add(deadlineEvery * (c.Timeout + pause))); err != nil {
				return err
			}
		}
		b = d.next(b[:0], random)
		if _, err := conn.Write(b); err != nil {
			return fmt.Errorf("connection %d: %w", connection, err)
		}
		if err := d.answer(r); err != nil {
			return fmt.Errorf("connection %d: %w", connection, err)
		}
		count.tick(time.Now(), 1)
		if pause > 0 && !rest(ctx, pause) {
			return ctx.Err()
		}
	}
}

type redisDialect struct{ client *redisClient }

func (d redisDialect) store(b []byte, k int) []byte {
	return appendCommand(b, []byte("SET"), keyName(k), d.client.value)
}

func (d redisDialect) next(b []byte, random *rand.Rand) []byte {
	return d.client.appendRequest(b, random)
}

func (d redisDialect) answer(r *bufio.Reader) error { return readReply(r) }

// memcachedDialect is the text protocol: doc/protocol.txt of memcached.
type memcachedDialect struct {
	config RequestsConfig
	value  []byte
}

func (d memcachedDialect) store(b []byte, k int) []byte {
	b = fmt.Appendf(b, "set %s 0 0 %d\r\n", keyName(k), len(d.value))
	return append(append(b, d.value...), "\r\n"...)
}

func (d memcachedDialect) next(b []byte, random *rand.Rand) []byte {
	k := random.IntN(d.config.Keys)
	if random.Float64() >= d.config.ReadFraction {
		return d.store(b, k)
	}
	b = append(b, "get "...)
	b = append(b, keyName(k)...)
	return append(b, "\r\n"...)
}

func (d memcachedDialect) answer(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	word := string(bytes.TrimRight(line, "\r\n"))
	switch {
	case word == "STORED", word == "END": // END alone: evicted
		return nil
	case !strings.HasPrefix(word, "VALUE "):
		return fmt.Errorf("answer %q", word)
	}
	length, err := strconv.Atoi(word[strings.LastIndexByte(word, ' ')+1:])
	if err != nil || length < 0 {
		return fmt.Errorf("answer %q", word)
	}
	_, err = r.Discard(length + len("\r\nEND\r\n"))
	return err
}

// httpDialect asks for one page over kept connections. Answers must have a
// Content-Length, as those of files have.
type httpDialect struct{ text string }

func (httpDialect) store([]byte, int) []byte { return nil }

func (d httpDialect) next(b []byte, _ *rand.Rand) []byte { return append(b, d.text...) }

func (httpDialect) answer(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if status := bytes.Fields(line); len(status) < 2 || len(status[1]) != 3 || status[1][0] != '2' {
		return fmt.Errorf("answer %q", bytes.TrimSpace(line))
	}
	length := -1
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return fmt.Errorf("content length: %w", err)
			}
		}
	}
	if length < 0 {
		return errors.New("an answer without Content-Length")
	}
	_, err = r.Discard(length)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
