package dev

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// httpClient sends GET requests. Each connection has one request under way; the
// others of its queue wait, and their waiting counts.
type httpClient struct {
	config LoadConfig
	rec    *recorder
}

func newHTTPClient(config LoadConfig, rec *recorder) *httpClient {
	return &httpClient{config: config, rec: rec}
}

// connect returns a client that keeps one connection.
func (c *httpClient) connect() (*http.Client, *http.Transport) {
	transport := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}
	return &http.Client{
		Transport: transport, Timeout: c.config.Timeout,
		// A redirect is an answer; following it would load something else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, transport
}

func (c *httpClient) prepare(ctx context.Context) error {
	client, transport := c.connect()
	defer transport.CloseIdleConnections()
	return c.get(ctx, client)
}

func (c *httpClient) run(ctx context.Context, _ int, batches <-chan batch) {
	client, transport := c.connect()
	defer transport.CloseIdleConnections()
	for {
		select {
		case b, ok := <-batches:
			if !ok {
				return
			}
			c.runBatch(ctx, client, b)
		case <-ctx.Done():
			return
		}
	}
}

func (c *httpClient) runBatch(ctx context.Context, client *http.Client, b batch) {
	for sent := range b.count {
		err := c.get(ctx, client)
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

// get sends one request and reads the answer to its end.
func (c *httpClient) get(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.config.Target, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}
