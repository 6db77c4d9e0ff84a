package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// httpClient sends GET requests. Each connection has one request under way; the
// others of its queue wait, and their waiting counts.
//
// It writes and reads its connections itself: the client of net/http hands each request
// to two more goroutines and leaves so much garbage that the collector's pauses were the
// greater part of a 99th percentile where the load has to share a CPU.
type httpClient struct {
	config Config
	rec    *recorder
	ask    *http.Request
	wire   []byte // the request as it is sent
}

func newHTTPClient(config Config, rec *recorder) (*httpClient, error) {
	ask, err := http.NewRequest(http.MethodGet, config.Target, http.NoBody)
	if err != nil {
		return nil, err
	}
	if u := ask.URL.User; u != nil {
		password, _ := u.Password()
		ask.SetBasicAuth(u.Username(), password)
	}
	var wire bytes.Buffer
	if err := ask.Write(&wire); err != nil {
		return nil, err
	}
	return &httpClient{config: config, rec: rec, ask: ask, wire: wire.Bytes()}, nil
}

// httpConnection is one connection, dialled when it is needed.
type httpConnection struct {
	client *httpClient
	conn   net.Conn // nil: closed
	reader *bufio.Reader
	used   bool        // it has answered
	uncut  func() bool // its end no longer depends on the context
}

func (c *httpClient) prepare(ctx context.Context) error {
	connection := httpConnection{client: c}
	defer connection.close()
	return connection.get(ctx)
}

func (c *httpClient) run(ctx context.Context, _ int, batches <-chan batch) {
	connection := httpConnection{client: c}
	defer connection.close()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return
			}
			c.runBatch(ctx, &connection, b)
		case <-ctx.Done():
			return
		}
	}
}

func (c *httpClient) runBatch(ctx context.Context, connection *httpConnection, b batch) {
	for sent := range b.count {
		err := connection.get(ctx)
		if ctx.Err() != nil {
			c.rec.failure(b.count-sent, errCut)
			return
		}
		if err != nil {
			c.rec.failure(1, err)
			continue
		}
		c.rec.answered(b.due, time.Now())
	}
}

// get sends one request and reads the answer to its end. A server may close a connection
// that rests: the request is sent once more then, over a new one, as any client would.
func (h *httpConnection) get(ctx context.Context) error {
	deadline := time.Now().Add(h.client.config.Timeout)
	again := h.used
	err := h.try(ctx, deadline)
	if again && errors.Is(err, errUnanswered) && ctx.Err() == nil {
		err = h.try(ctx, deadline)
	}
	return err
}

// errUnanswered: the connection ended before the first byte of an answer.
var errUnanswered = errors.New("the server closed the connection")

func (h *httpConnection) try(ctx context.Context, deadline time.Time) error {
	if h.conn == nil {
		if err := h.dial(ctx, deadline); err != nil {
			return err
		}
	}
	keep, err := h.exchange(deadline)
	if !keep {
		h.close()
	}
	return err
}

func (h *httpConnection) dial(ctx context.Context, deadline time.Time) error {
	dialer := net.Dialer{Deadline: deadline}
	target := h.client.ask.URL
	address := target.Host
	if target.Port() == "" {
		address = net.JoinHostPort(target.Hostname(), target.Scheme)
	}
	dial := dialer.DialContext
	if target.Scheme == "https" {
		dial = (&tls.Dialer{NetDialer: &dialer}).DialContext
	}
	conn, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	h.conn, h.reader, h.used = conn, bufio.NewReader(conn), false
	h.uncut = context.AfterFunc(ctx, func() { _ = conn.Close() }) // frees whoever waits for it
	return nil
}

// exchange reports whether the connection may be used again.
func (h *httpConnection) exchange(deadline time.Time) (keep bool, err error) {
	if err := h.conn.SetDeadline(deadline); err != nil {
		return false, err
	}
	if _, err := h.conn.Write(h.client.wire); err != nil {
		return false, errors.Join(errUnanswered, err)
	}
	if _, err := h.reader.Peek(1); err != nil {
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() {
			return false, err
		}
		return false, errors.Join(errUnanswered, err)
	}
	h.used = true
	response, err := http.ReadResponse(h.reader, h.client.ask)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return false, fmt.Errorf("read answer: %w", err)
	}
	// A redirect is an answer; following it would load something else.
	if response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("status %s", response.Status)
	}
	return !response.Close, err
}

func (h *httpConnection) close() {
	if h.conn != nil {
		h.uncut()
		_ = h.conn.Close() // every request has its outcome
		h.conn = nil
	}
}
