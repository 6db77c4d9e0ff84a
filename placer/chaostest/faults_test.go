package chaostest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// where a fault strikes.
type where int

const (
	anywhere where = iota
	reads
	writes
	jobWrites
	records
	events
)

// fault is one way in which what an agent asks of Nomad goes wrong. Exactly one of its
// functions is set: before the request is answered, on the answer, or on a line of the
// event stream, which becomes several or none.
type fault struct {
	name   string
	where  where
	before func(l *link, r *http.Request) (*http.Response, error)
	after  func(l *link, r *http.Request, answer *http.Response) (*http.Response, error)
	line   func(l *link, line []byte) [][]byte
}

// slowness is below the margin of a leader's lease: no check before a write can see what
// happens after it.
const slowness = 1500 * time.Millisecond

var errNetwork = errors.New("connection reset by peer")

// faults are all that is tried.
var faults = []fault{
	{name: "permission denied", where: writes, before: status(http.StatusForbidden, "Permission denied")},
	{name: "too many requests", where: anywhere, before: status(http.StatusTooManyRequests, "busy")},
	{name: "no leader", where: anywhere, before: status(http.StatusInternalServerError, "No cluster leader")},
	{name: "bad gateway", where: anywhere, before: status(http.StatusBadGateway, "<html>")},
	{name: "lost before it took effect", where: anywhere, before: lost},
	{name: "lost after it took effect", where: writes, after: lostAnswer},
	{name: "job write lost after it took effect", where: jobWrites, after: lostAnswer},
	{name: "slow", where: anywhere, before: slow},
	{name: "torn answer", where: anywhere, after: torn},
	{name: "stale read", where: reads, after: stale},
	{name: "record too large", where: records, before: status(http.StatusRequestEntityTooLarge, "variable is too large")},
	{name: "record corrupt", where: records, after: corrupt},
	{name: "record forged", where: records, after: forged},
	{name: "event lost", where: events, line: func(*link, []byte) [][]byte { return nil }},
	{name: "event twice", where: events, line: func(_ *link, line []byte) [][]byte { return [][]byte{line, line} }},
	{name: "events in another order", where: events, line: reordered},
	{name: "event torn", where: events, line: func(_ *link, line []byte) [][]byte { return [][]byte{append(line[:len(line)/2:len(line)/2], '\n')} }},
}

func status(code int, text string) func(*link, *http.Request) (*http.Response, error) {
	return func(_ *link, r *http.Request) (*http.Response, error) { return answerOf(r, code, text), nil }
}

func answerOf(r *http.Request, code int, text string) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r,
	}
}

func lost(*link, *http.Request) (*http.Response, error) { return nil, errNetwork }

func lostAnswer(_ *link, _ *http.Request, answer *http.Response) (*http.Response, error) {
	return nil, errors.Join(errNetwork, answer.Body.Close())
}

func slow(l *link, r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(slowness):
		return nil, nil
	}
}

func torn(_ *link, _ *http.Request, answer *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), brokenReader{}))
	return answer, err
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// stale answers as Nomad answered the same question before.
func stale(l *link, r *http.Request, answer *http.Response) (*http.Response, error) {
	if old := l.earlier(r.URL.String()); old != nil {
		answer.Body = io.NopCloser(bytes.NewReader(old))
	}
	return answer, nil
}

func corrupt(_ *link, r *http.Request, answer *http.Response) (*http.Response, error) {
	if r.Method == http.MethodGet && answer.StatusCode == http.StatusOK {
		answer.Body = io.NopCloser(strings.NewReader(`{"Path":"x","Items":{"data":"AAAA"},"ModifyIndex":7}`))
	}
	return answer, nil
}

// forged is a record that somebody else wrote: well formed, and of no use.
func forged(_ *link, r *http.Request, answer *http.Response) (*http.Response, error) {
	if r.Method == http.MethodGet && answer.StatusCode == http.StatusOK && !strings.Contains(r.URL.RawQuery, "prefix") {
		answer.Body = io.NopCloser(strings.NewReader(`{"Path":"x","Items":{"json":"{\"format\":1,\"workload\":{\"namespace\":\"\",\"job\":\"\",\"group\":\"\"},\"count\":-7,\"candidates\":null}"},"ModifyIndex":7}`))
	}
	return answer, nil
}

// reordered holds a line back until the next has gone.
func reordered(l *link, line []byte) [][]byte {
	if held := l.held; held != nil {
		l.held = nil
		return [][]byte{line, held}
	}
	l.held = line
	return nil
}

// strikes reports whether a request is one that the fault is about.
func (f fault) strikes(r *http.Request) bool {
	record := strings.HasPrefix(r.URL.Path, "/v1/var")
	lock := strings.Contains(r.URL.RawQuery, "lock-")
	read := r.Method == http.MethodGet
	switch f.where {
	case reads:
		return read && !record && r.URL.Path != eventPath
	case writes:
		return !read && !lock
	case jobWrites:
		return !read && (strings.HasPrefix(r.URL.Path, "/v1/job/") || r.URL.Path == "/v1/jobs")
	case records:
		return record && !lock
	case events:
		return false
	default:
		return true
	}
}
