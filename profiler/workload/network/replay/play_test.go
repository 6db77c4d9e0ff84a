package replay

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "a key of one job"

// steady is a model of two servers of a rack: the first sends 20,000 bytes every 20 ms, the
// second answers with a tenth.
func steady(t testing.TB) *network.Model {
	t.Helper()
	top, err := network.Uniform(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var records []network.Record
	for at := time.Duration(0); at < time.Minute; at += 20 * time.Millisecond {
		records = append(records,
			network.Record{At: at, Source: 0, Destination: 1, Bytes: 20_000},
			network.Record{At: at, Source: 1, Destination: 0, Bytes: 2_000, Direction: network.Read})
	}
	traffic, err := network.NewTable(top, network.Span{To: time.Minute, Bin: time.Second}, records)
	if err != nil {
		t.Fatal(err)
	}
	o := network.DefaultFit()
	o.Windows = network.OneWindow()
	m, err := network.Fit(t.Context(), traffic, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func request(t testing.TB, server int, peers ...Peer) Request {
	t.Helper()
	row, err := Row(steady(t), server)
	if err != nil {
		t.Fatal(err)
	}
	return Request{Format: Format, Row: row, Server: server, Listen: "127.0.0.1:0", Peers: peers, Key: key, LimitBytesPerSecond: 100e6, Seed: 1}
}

func listen(t testing.TB, key string) *Listener {
	t.Helper()
	l, err := Listen("127.0.0.1:0", key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a test may have closed it
	return l
}

// play plays until its report is as it is to be, and returns the last one.
func play(t testing.TB, r Request, done func(Report) bool) Report {
	t.Helper()
	part, err := r.Part()
	if err != nil {
		t.Fatal(err)
	}
	p := New(r, part)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.Play(ctx) }()
	for !done(p.Report()) {
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v, %s", err, p.Report())
		case <-time.After(10 * time.Millisecond):
		}
		if r := p.Report(); r.Seconds > 2*mostPlayed {
			t.Fatalf("after %.0f s its report is not as it is to be: %s", r.Seconds, r)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return p.Report()
}

// A machine that is busy sends late, and makes up for it: what is sent is looked at again for
// so long.
const (
	leastPlayed = 3.0 // seconds
	mostPlayed  = 60.0
)

// TestSendsWhatTheModelAsks: within 5 % of the model's rate, and what was sent was
// received.
func TestSendsWhatTheModelAsks(t *testing.T) {
	t.Parallel()
	to := listen(t, key)
	var seen Report
	asked := func() float64 { return seen.AskedBytesPerSecond * seen.Seconds }
	asItAsks := func() bool { return float64(seen.Sent) >= 0.95*asked() && float64(seen.Sent) <= 1.05*asked() }
	last := play(t, request(t, 0, Peer{1, to.Address()}), func(r Report) bool {
		seen = r
		return r.Seconds >= leastPlayed && (asItAsks() || r.Seconds > mostPlayed)
	})
	if seen.AskedBytesPerSecond < 0.99e6 || seen.AskedBytesPerSecond > 1.01e6 {
		t.Errorf("the model asks for %g bytes/s, want 1e6", seen.AskedBytesPerSecond)
	}
	t.Logf("%.4g bytes sent in %.3f s, %.4g by the model", float64(seen.Sent), seen.Seconds, asked())
	if !asItAsks() {
		t.Errorf("%d bytes were sent in %.3f s, want %.4g", seen.Sent, seen.Seconds, asked())
	}
	if last.Capped != 0 || last.Unanswered != 0 || len(last.Silent) != 0 {
		t.Errorf("left out: %+v", last)
	}
	received := eventually(func() int64 { n, _ := to.Received(); return n }, last.Sent)
	if received != last.Sent {
		t.Errorf("%d bytes received of %d", received, last.Sent)
	}
}

// eventually waits until a number is reached, for at most twenty seconds.
func eventually(number func() int64, want int64) int64 {
	for range 2000 {
		if number() >= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return number()
}

// TestKeepsTheCap: the model asks for ten times the cap. That is never passed, and reached in a
// second in which the machine lets it.
func TestKeepsTheCap(t *testing.T) {
	t.Parallel()
	to := listen(t, key)
	q := request(t, 0, Peer{1, to.Address()})
	q.LimitBytesPerSecond = 100_000
	var before Report
	reached := false
	last := play(t, q, func(r Report) bool {
		if most := q.LimitBytesPerSecond*r.Seconds + float64(burst(q.LimitBytesPerSecond)); float64(r.Sent) > most {
			t.Errorf("%d bytes sent in %.2f s under a cap of %g, so %.0f at most", r.Sent, r.Seconds, q.LimitBytesPerSecond, most)
		}
		if window := r.Seconds - before.Seconds; window >= 1 {
			reached = reached || float64(r.Sent-before.Sent) >= 0.9*q.LimitBytesPerSecond*window
			before = r
		}
		return t.Failed() || reached && r.Capped > 0 || r.Seconds > mostPlayed
	})
	if !reached {
		t.Errorf("the cap of %g was not reached in any second: %s", q.LimitBytesPerSecond, last)
	}
	if last.Capped == 0 {
		t.Error("nothing was left out")
	}
	if !strings.Contains(last.String(), "over the cap") {
		t.Errorf("report: %s", last)
	}
}

// TestNothingForStrangers: a peer that is no generator of the job gets the greeting
// and not a byte more, and is named.
func TestNothingForStrangers(t *testing.T) {
	t.Parallel()
	stranger, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []byte, 1)
	go func() {
		conn, err := stranger.Accept()
		if err != nil {
			got <- nil
			return
		}
		defer conn.Close()
		text := make([]byte, len(hello(key)))
		_, _ = io.ReadFull(conn, text)                     // what came is looked at
		_, _ = conn.Write(bytes.Repeat([]byte("x"), 1000)) // an answer, but not the right one
		rest, _ := io.ReadAll(conn)
		got <- append(text, rest...)
	}()
	silent := func(r Report) bool { return r.Unanswered > 0 && len(r.Silent) == 1 }
	r := play(t, request(t, 0, Peer{1, stranger.Addr().String()}), silent)
	stranger.Close()
	if text := <-got; !bytes.Equal(text, hello(key)) {
		t.Errorf("a stranger got %d bytes", len(text))
	}
	if r.Sent != 0 {
		t.Errorf("%+v", r)
	}
	other := listen(t, "the key of another job")
	r = play(t, request(t, 0, Peer{1, other.Address()}), silent)
	eventually(func() int64 { _, refused := other.Received(); return refused }, 1)
	if n, refused := other.Received(); r.Sent != 0 || n != 0 || refused != 1 {
		t.Errorf("sent %d to another job, which received %d and refused %d", r.Sent, n, refused)
	}
}

// TestPeerGoes: what was for it is counted, and the player goes on.
func TestPeerGoes(t *testing.T) {
	t.Parallel()
	to := listen(t, key)
	var gone sync.Once // it is closed again at the end
	play(t, request(t, 0, Peer{1, to.Address()}), func(r Report) bool {
		if r.Sent > 0 {
			gone.Do(func() { _ = to.Close() })
		}
		return r.Sent > 0 && r.Unanswered > 0 && len(r.Silent) == 1
	})
}

// TestServerWithoutTask: what is for a server that nobody plays is not sent.
func TestServerWithoutTask(t *testing.T) {
	t.Parallel()
	r := play(t, request(t, 0), func(r Report) bool { return r.Elsewhere > 0 })
	if r.Sent != 0 || r.Asked != 0 {
		t.Errorf("%+v", r)
	}
}

// TestSameSeedSameMessages: what is asked for does not depend on chance.
func TestSameSeedSameMessages(t *testing.T) {
	t.Parallel()
	part, err := request(t, 0).Part()
	if err != nil {
		t.Fatal(err)
	}
	draw := func() []network.Record {
		p := New(request(t, 0), part)
		made, err := p.part.Generate(t.Context(), network.Generation{Span: network.Span{To: time.Minute, Bin: time.Second}, Seed: p.seed(3), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return made.Records()
	}
	a, b := draw(), draw()
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d messages", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("message %d: %+v and %+v", i, a[i], b[i])
		}
	}
}

// TestEndlessBurst: a row whose messages are few by the second, and millions at once, is an error
// and not memory that never ends.
func TestEndlessBurst(t *testing.T) { // not parallel: it takes a processor from tests of rates
	m := steady(t)
	features := m.Chains[0].Pairs[0].Features
	long, endless := features[0], features[0]
	long.Count, long.GapSeconds = 1, 1e9
	endless.Count, endless.GapSeconds, endless.GapCV = 5e6, 0, 0
	m.Chains[0].Pairs[0].Features = []network.Feature{long, endless}
	r := request(t, 0)
	var err error
	if r.Row, err = Row(m, 0); err != nil {
		t.Fatal(err)
	}
	part, err := r.Part()
	if err != nil {
		t.Fatal(err)
	}
	p := New(r, part)
	p.stretch = 365 * 24 * time.Hour // in which the burst is due
	if err := p.Play(t.Context()); !errors.Is(err, network.ErrGenerate) || !strings.Contains(err.Error(), "more than 2000000 records") {
		t.Errorf("it ended with %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Request){
		"newer format":    func(r *Request) { r.Format = Format + 1 },
		"no row":          func(r *Request) { r.Row = "" },
		"row of no model": func(r *Request) { r.Row = base64.StdEncoding.EncodeToString([]byte("{}")) },
		"endless messages": func(r *Request) {
			m := steady(t)
			m.Chains[0].Pairs[0].Features[0].Count = 1e12
			r.Row, _ = Row(m, 0) // the test above has it without an error
		},
		"row cut short":       func(r *Request) { r.Row = r.Row[:len(r.Row)/8*4] },
		"no key":              func(r *Request) { r.Key = "" },
		"key of two lines":    func(r *Request) { r.Key = "12345678\n" },
		"no cap":              func(r *Request) { r.LimitBytesPerSecond = 0 },
		"server too many":     func(r *Request) { r.Server = 2 },
		"no port":             func(r *Request) { r.Listen = "127.0.0.1" },
		"peer is itself":      func(r *Request) { r.Peers = []Peer{{0, "127.0.0.1:1"}} },
		"peer twice":          func(r *Request) { r.Peers = []Peer{{1, "127.0.0.1:1"}, {1, "127.0.0.1:2"}} },
		"peer without a port": func(r *Request) { r.Peers = []Peer{{1, "127.0.0.1"}} },
		"moment of no week":   func(r *Request) { r.BeginSeconds = 8 * 24 * 3600 },
	} {
		r := request(t, 0)
		spoil(&r)
		if _, err := r.Part(); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
