package chaostest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"
)

const eventPath = "/v1/event/stream"

// link is the network between one agent and Nomad.
type link struct {
	run    *run
	agent  int
	server http.Handler

	mu    sync.Mutex
	dead  bool
	until time.Time         // paused
	seen  map[string][]byte // answers to reads
	held  []byte            // an event that is kept back

	told map[string]version // that the agent was told of, by job; of the run's lock
}

// version is that of a job, as an agent read it.
type version struct {
	index uint64
	at    time.Time
}

// newLink connects an agent, or the proxy.
func newLink(r *run, agent int) *link {
	return &link{run: r, agent: agent, server: r.handler, seen: map[string][]byte{}, told: map[string]version{}}
}

// cut ends the agent's world: nothing that it still does has an effect.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *link) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// pause stops the agent for a while: it notices nothing, and gets no answers.
func (l *link) pause(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(d)
}

func (l *link) pauseLeft() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until)
}

// goOn waits until a pause is over.
func (l *link) goOn(ctx context.Context) {
	left := l.pauseLeft()
	if left <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(left):
	}
}

func (l *link) earlier(url string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen[url]
}

// RoundTrip implements http.RoundTripper.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		l.goOn(r.Context()) // a write was judged right before: it goes out
	}
	if l.isDead() {
		return nil, errNetwork
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	f := l.run.faultFor(l, r)
	if f != nil && f.before != nil {
		if answer, err := f.before(l, r); answer != nil || err != nil {
			return answer, err
		}
		if l.isDead() {
			return nil, errNetwork
		}
	}
	if r.URL.Path == eventPath {
		return l.stream(r)
	}
	if strings.Contains(r.URL.RawQuery, "wait=") { // it waits for a change, and there is one each second
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(time.Second):
		}
	}
	answer, err := l.ask(r)
	if err != nil {
		return nil, err
	}
	if f == nil && r.Method == http.MethodGet && answer.StatusCode == http.StatusOK {
		l.tell(r, answer)
	}
	if f != nil && f.after != nil {
		answer, err = f.after(l, r, answer)
	}
	l.goOn(r.Context())
	return answer, err
}

// tell notes which version of its user the agent reads of a job.
func (l *link) tell(r *http.Request, answer *http.Response) {
	id, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/v1/job/"))
	if err != nil || id != idIn(r) {
		return
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(text))
	_, rest, _ := strings.Cut(string(text), `"JobModifyIndex":`)
	var index uint64
	if _, err := fmt.Sscan(rest, &index); err != nil {
		return
	}
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	if index > l.told[id].index && !l.run.byAgents[index] {
		l.told[id] = version{index, time.Now()}
	}
}

// ask has Nomad answer.
func (l *link) ask(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	inner := r.Clone(context.Background())
	inner.Body, inner.RequestURI = io.NopCloser(bytes.NewReader(body)), r.URL.RequestURI()
	if r.Method != http.MethodGet {
		l.run.writing.Lock()
		defer l.run.writing.Unlock()
	}
	written := l.run.watch(l, r, body)
	recorder := httptest.NewRecorder()
	l.server.ServeHTTP(recorder, inner)
	answer := recorder.Result()
	answer.Request = r
	written(answer.StatusCode)
	if r.Method == http.MethodGet && answer.StatusCode == http.StatusOK {
		l.mu.Lock()
		if l.seen[r.URL.String()] == nil || l.run.at()%2 == 0 { // old ones stay for a while
			l.seen[r.URL.String()] = bytes.Clone(recorder.Body.Bytes())
		}
		l.mu.Unlock()
	}
	return answer, nil
}

// stream passes events on, a line at a time.
func (l *link) stream(r *http.Request) (*http.Response, error) {
	fromNomad, toUs := io.Pipe()
	toAgent, fromUs := io.Pipe()
	ctx, cancel := context.WithCancel(r.Context())
	inner := r.Clone(ctx)
	go func() {
		l.server.ServeHTTP(&streamWriter{pipe: fromUs, header: http.Header{}}, inner)
		_ = fromUs.Close() // never fails
	}()
	go func() {
		defer cancel()
		defer func() { _ = toUs.Close() }() // never fails
		l.passOn(ctx, toAgent, toUs)
	}()
	answer := answerOf(r, http.StatusOK, "")
	answer.Body = closer{fromNomad, func() {
		cancel()
		_, _ = toAgent.Close(), fromNomad.Close() // never fail
	}}
	return answer, nil
}

func (l *link) passOn(ctx context.Context, from io.Reader, to io.Writer) {
	context.AfterFunc(ctx, func() { _ = from.(*io.PipeReader).Close() }) // never fails
	buffer, pending := make([]byte, 64<<10), []byte(nil)
	for {
		n, err := from.Read(buffer)
		pending = append(pending, buffer[:n]...)
		for {
			end := bytes.IndexByte(pending, '\n')
			if end < 0 {
				break
			}
			line := bytes.Clone(pending[:end+1])
			pending = pending[end+1:]
			l.goOn(ctx)
			if l.isDead() {
				return
			}
			for _, out := range l.run.linesOf(l, line) {
				if _, err := to.Write(out); err != nil {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error {
	c.close()
	return nil
}

// streamWriter is an http.ResponseWriter over a pipe.
type streamWriter struct {
	pipe   *io.PipeWriter
	header http.Header
}

func (w *streamWriter) Header() http.Header         { return w.header }
func (w *streamWriter) WriteHeader(int)             {}
func (w *streamWriter) Write(b []byte) (int, error) { return w.pipe.Write(b) }
func (w *streamWriter) Flush()                      {}
