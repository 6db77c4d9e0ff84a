package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeRedis answers GET, SET and PING from a map.
type fakeRedis struct {
	net.Listener
	commands atomic.Int64
	// before is called before each answer; an error closes the connection.
	before func(n int64) error
	mu     sync.Mutex
	values map[string]string
	done   sync.WaitGroup
}

func startRedis(t *testing.T, before func(n int64) error) *fakeRedis {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeRedis{Listener: l, before: before, values: map[string]string{}}
	f.done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.done.Go(func() { f.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		f.done.Wait()
	})
	return f
}

func (f *fakeRedis) address() string { return f.Addr().String() }

func (f *fakeRedis) serve(conn net.Conn) {
	defer conn.Close()
	r, w := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		words, err := readCommand(r)
		if err != nil {
			return
		}
		n := f.commands.Add(1)
		if f.before != nil && f.before(n) != nil {
			return
		}
		f.answer(w, words)
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
	}
}

func (f *fakeRedis) answer(w io.Writer, words []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch words[0] {
	case "PING":
		fmt.Fprint(w, "+PONG\r\n")
	case "SET":
		f.values[words[1]] = words[2]
		fmt.Fprint(w, "+OK\r\n")
	case "GET":
		if v, ok := f.values[words[1]]; ok {
			fmt.Fprintf(w, "$%d\r\n%s\r\n", len(v), v)
		} else {
			fmt.Fprint(w, "$-1\r\n")
		}
	default:
		fmt.Fprint(w, "-ERR unknown command\r\n")
	}
}

func readCommand(r *bufio.Reader) ([]string, error) {
	var n int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
		return nil, err
	}
	words := make([]string, n)
	for i := range words {
		var length int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &length); err != nil {
			return nil, err
		}
		word := make([]byte, length+2)
		if _, err := io.ReadFull(r, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:length])
	}
	return words, nil
}

// redisLoad is a short load of exactly 200 requests.
func redisLoad(f *fakeRedis) Config {
	return Config{
		Protocol: Redis, Target: f.address(), RatePerSecond: 1000, Duration: 200 * time.Millisecond,
		Connections: 3, Keys: 50, ReadFraction: 0.5, Seed: 7,
	}
}

func TestRedisLoadSendsWhatIsDue(t *testing.T) {
	t.Parallel()
	f := startRedis(t, nil)
	config := redisLoad(f)
	config.Preload = true
	s, err := Load(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if s.Requests != 200 || s.Errors != 0 {
		t.Errorf("%v, want 200 requests and no errors", s)
	}
	if got, want := f.commands.Load(), int64(1+50+200); got != want { // ping, preload, load
		t.Errorf("the server saw %d commands, want %d", got, want)
	}
	if len(f.values) != 50 || len(f.values["key:49"]) != DefaultValueBytes {
		t.Errorf("%d keys of %d bytes, want 50 of %d", len(f.values), len(f.values["key:49"]), DefaultValueBytes)
	}
	if _, ok := s.Latency(99); !ok {
		t.Error("no latency")
	}
}

// TestLatencyCountsFromTheDueTime stalls the server once. A closed loop would
// see one slow request per connection; in an open loop every request that was
// due during the stall has waited.
func TestLatencyCountsFromTheDueTime(t *testing.T) {
	t.Parallel()
	const stall = 100 * time.Millisecond
	f := startRedis(t, func(n int64) error {
		if n == 50 {
			time.Sleep(stall)
		}
		return nil
	})
	config := redisLoad(f)
	config.Connections = 1
	s, err := Load(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	// 1,000 requests/s over a stall of 100 ms: some 100 of the 200 wait, the first
	// of them the whole stall, so the 75th percentile is half of it. A quarter is
	// asked for, because the bound must hold on a loaded machine, which can only
	// add delay.
	if p75, _ := s.Latency(75); p75 < stall/4 {
		t.Errorf("p75 is %v with a stall of %v: waiting is not counted", p75, stall)
	}
	if s.Requests != 200 {
		t.Errorf("%d requests, want 200: the schedule must not slow down", s.Requests)
	}
}

func TestRedisErrorsAreCountedNotTimed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before    func(n int64) error
		timeout   time.Duration
		lastError string
	}{
		"connection closed": {func(n int64) error { return errorFrom(n, 100) }, time.Second, "connection to"},
		"never answers": {func(n int64) error {
			if n > 1 {
				time.Sleep(300 * time.Millisecond)
			}
			return nil
		}, 20 * time.Millisecond, "i/o timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := redisLoad(startRedis(t, c.before))
			config.Timeout = c.timeout
			s, err := Load(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if s.Errors == 0 || s.Requests+s.Errors != 200 {
				t.Errorf("%v, want 200 outcomes, some of them errors", s)
			}
			if !strings.Contains(s.LastError, c.lastError) && s.LastError != errLate.Error() && s.LastError != errCut.Error() {
				t.Errorf("last error %q, want %q", s.LastError, c.lastError)
			}
		})
	}
}

func errorFrom(n, first int64) error {
	if n >= first {
		return io.EOF
	}
	return nil
}

func TestRedisErrorReplyKeepsTheConnection(t *testing.T) {
	t.Parallel()
	r := bufio.NewReader(strings.NewReader("-ERR no\r\n$3\r\nabc\r\n$-1\r\n:4\r\n+OK\r\n"))
	if err := readReply(r); err == nil || err.Error() != "ERR no" {
		t.Errorf("error reply gave %v", err)
	}
	for i := range 4 {
		if err := readReply(r); err != nil {
			t.Errorf("reply %d: %v", i, err)
		}
	}
	for _, bad := range []string{"\r\n", "hello\r\n", "$x\r\n", "$-2\r\n", "$5\r\nab", "+OK"} {
		if err := readReply(bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("reply %q was accepted", bad)
		}
	}
}

func TestHTTPLoad(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%4 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	s, err := Load(t.Context(), Config{
		Protocol: HTTP, Target: server.URL, RatePerSecond: 500, Duration: 200 * time.Millisecond, Connections: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	// One request is the first look, and a quarter of all 101 fails.
	if s.Requests != 75 || s.Errors != 25 {
		t.Errorf("%v, want 75 requests and 25 errors", s)
	}
	if !strings.Contains(s.LastError, "503") {
		t.Errorf("last error %q", s.LastError)
	}
}

// TestHTTPConnectionsAreKept: one that rests may be closed by its server, and no request
// is lost for it.
func TestHTTPConnectionsAreKept(t *testing.T) {
	t.Parallel()
	var opened, served atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := served.Add(1)
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "secret" || r.URL.RequestURI() != "/page?x=1" {
			w.WriteHeader(http.StatusForbidden)
		}
		if n%100 == 0 {
			w.Header().Set("Connection", "close")
		}
		fmt.Fprintf(w, "%05000d", n) // more than one read
	}))
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
		if s == http.StateIdle && served.Load()%100 == 50 {
			_ = c.Close()
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s, err := Load(t.Context(), Config{
		Protocol: HTTP, Target: strings.Replace(server.URL, "http://", "http://me:secret@", 1) + "/page?x=1",
		RatePerSecond: 1000, Duration: 400 * time.Millisecond, Connections: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Errors > 0 || s.Requests != 400 {
		t.Errorf("%v, want 400 requests", s)
	}
	// The first look, four, and one for each that was closed: four times by a header,
	// four times while it rested, or a few more where several rest at that moment.
	if n := opened.Load(); n < 9 || n > 40 {
		t.Errorf("%d connections for 400 requests", n)
	}
}

func TestHTTPSlowAnswersFail(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	_, err := Load(t.Context(), Config{
		Protocol: HTTP, Target: server.URL, RatePerSecond: 10, Duration: 100 * time.Millisecond, Timeout: 50 * time.Millisecond,
	})
	var slow net.Error
	if !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("%v, want a timeout", err)
	}
}

// TestOverloadEnds aims far more at a server than it can do: the load still ends
// in time, and what was due but not done counts.
func TestOverloadEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }))
	t.Cleanup(server.Close)
	s, err := Load(t.Context(), Config{
		Protocol: HTTP, Target: server.URL, RatePerSecond: 20_000, Duration: 200 * time.Millisecond,
		Connections: 2, Timeout: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Errors == 0 || s.Requests+s.Errors != 4000 {
		t.Errorf("%v, want 4000 outcomes, most of them errors", s)
	}
}

func TestMetricsAndLines(t *testing.T) {
	t.Parallel()
	f := startRedis(t, nil)
	rec := newRecorder()
	due := time.Unix(100, 0)
	rec.answered(due, due.Add(3*time.Millisecond))
	rec.answered(due, due.Add(-time.Millisecond)) // a clock step; never negative
	rec.failure(2, io.EOF)
	rec.failure(0, nil)

	address := freeAddress(t)
	stop, err := serveMetrics(address, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := families["load_requests_total"].GetMetric()[0].GetCounter().GetValue(); got != 2 {
		t.Errorf("load_requests_total %g, want 2", got)
	}
	if got := families["load_errors_total"].GetMetric()[0].GetCounter().GetValue(); got != 2 {
		t.Errorf("load_errors_total %g, want 2", got)
	}
	histogram := families["load_request_seconds"].GetMetric()[0].GetHistogram()
	if histogram.GetSampleCount() != 2 {
		t.Errorf("%d samples, want 2", histogram.GetSampleCount())
	}
	if _, err := serveMetrics(f.address(), rec); err == nil {
		t.Error("an address in use was accepted")
	}

	var line bytes.Buffer
	if err := rec.line(&line, 5*time.Second, time.Second); err != nil {
		t.Fatal(err)
	}
	if want := "t=5s rate=2/s errors=2 p50="; !strings.HasPrefix(line.String(), want) || !strings.HasSuffix(line.String(), "error=\"EOF\"\n") {
		t.Errorf("line %q, want %q…", line.String(), want)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestBucketsAreFineEnough(t *testing.T) {
	t.Parallel()
	b := buckets()
	if b[0] != firstBucketSeconds || b[len(b)-1] != lastBucketSeconds {
		t.Errorf("buckets from %g to %g, want %g to %g", b[0], b[len(b)-1], firstBucketSeconds, lastBucketSeconds)
	}
	for i := 1; i < len(b); i++ {
		if step := b[i] / b[i-1]; step > bucketStep || step < 1.2 {
			t.Errorf("step %d is %g, want about %g", i, step, bucketStep)
		}
	}
}

// said keeps what is written, and does something at each line.
type said struct {
	bytes.Buffer
	then func()
}

func (s *said) Write(line []byte) (int, error) {
	s.then()
	return s.Buffer.Write(line)
}

func TestLoadStopsWithItsContext(t *testing.T) {
	t.Parallel()
	f := startRedis(t, nil)
	config := redisLoad(f)
	config.Duration = 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	output := said{then: cancel}
	config.Output = &output
	s, err := Load(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if s.Requests == 0 {
		t.Error("no requests")
	}
	if !strings.HasPrefix(output.String(), "t=1s rate=") {
		t.Errorf("output %q, want a line for the first second", output.String())
	}
}

func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	good := Config{Protocol: Redis, Target: "127.0.0.1:1", RatePerSecond: 1}
	for want, change := range map[string]func(*Config){
		"protocol":        func(c *Config) { c.Protocol = "ftp" },
		"arrivals":        func(c *Config) { c.Arrivals = "bursty" },
		"rate":            func(c *Config) { c.RatePerSecond = -1 },
		"give host:port":  func(c *Config) { c.Target = "127.0.0.1" },
		"give http://":    func(c *Config) { c.Protocol, c.Target = HTTP, "ftp://127.0.0.1" },
		"-allow-remote":   func(c *Config) { c.Target = "192.0.2.1:6379" },
		"read fraction":   func(c *Config) { c.ReadFraction = 1.5 },
		"connections":     func(c *Config) { c.Connections = -1 },
		"duration":        func(c *Config) { c.Duration = -1 },
		"keys × value":    func(c *Config) { c.Keys, c.ValueBytes = 1e9, 1<<20 },
		"connection refu": func(*Config) {},
	} {
		c := good
		change(&c)
		if _, err := Load(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestAwaitTargetWaitsForALateServer(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	calls := 0
	late := func(context.Context) error {
		if calls++; calls < 3 {
			return refused
		}
		return nil
	}
	if err := awaitTarget(t.Context(), time.Minute, late); err != nil || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
	never := func(context.Context) error { return refused }
	if err := awaitTarget(t.Context(), 0, never); !errors.Is(err, refused) {
		t.Errorf("no wait was asked for, got %v", err)
	}
}
