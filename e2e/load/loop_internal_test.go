package load

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Rates between two samples carry neither the length of a step nor the time of
// asking: work at a constant speed, counted in steps of any length, reads as
// that speed.
func TestProgressIsExact(t *testing.T) {
	t.Parallel()
	const speed = 321.0 // units/s
	// The first step's beginning is the first tick, so half a step may be lost at
	// each end where times are cut to milliseconds; interpolated, nothing is.
	const tolerance = 1e-9
	for _, step := range []time.Duration{37 * time.Microsecond, 2 * time.Millisecond, 13 * time.Millisecond, 70 * time.Millisecond} {
		p, start := newProgress(), time.Unix(1_700_000_000, 123_456_789)
		random := rand.New(rand.NewPCG(7, uint64(step)))
		ask := start.Add(300 * time.Millisecond)
		var values []float64
		var times []time.Time
		for now := start; now.Sub(start) < 2*time.Second; now = now.Add(step) {
			p.tick(now, speed*step.Seconds())
			if now.After(ask) {
				v, at := p.sample(now.Add(time.Duration(random.Int64N(int64(step)))))
				values, times = append(values, v), append(times, at)
				ask = now.Add(200 * time.Millisecond)
			}
		}
		for i := 1; i < len(values); i++ {
			got := (values[i] - values[i-1]) / times[i].Sub(times[i-1]).Seconds()
			if math.Abs(got/speed-1) > tolerance {
				t.Errorf("steps of %s: %v units/s, want %v", step, got, speed)
			}
		}
	}
}

func TestProgressStandingStill(t *testing.T) {
	t.Parallel()
	p, start := newProgress(), time.Unix(1_700_000_000, 0)
	if v, at := p.sample(start); v != 0 || !at.Equal(start) {
		t.Errorf("before any work: %v at %v", v, at)
	}
	for i := range 50 {
		p.tick(start.Add(time.Duration(i)*10*time.Millisecond), 1)
	}
	last := start.Add(490 * time.Millisecond)
	if _, at := p.sample(last.Add(90 * time.Millisecond)); at.After(last) {
		t.Errorf("a sample of %v, when nothing was counted", at)
	}
	later := last.Add(2 * time.Second)
	if v, at := p.sample(later); v != 50 || !at.Equal(later) {
		t.Errorf("a count that stands still: %v at %v", v, at)
	}
	// A step that spans a pause is one odd step, not what is usual.
	p.tick(later, 1)
	if v, at := p.sample(later.Add(time.Second)); v != 51 || !at.Equal(later.Add(time.Second)) {
		t.Errorf("standing still after a pause: %v at %v", v, at)
	}
}

func TestProgressNeverFalls(t *testing.T) {
	t.Parallel()
	p, now := newProgress(), time.Unix(1_700_000_000, 0)
	random := rand.New(rand.NewPCG(7, 7))
	before := 0.0
	for range 5000 {
		now = now.Add(time.Duration(random.ExpFloat64() * float64(3*time.Millisecond)))
		p.tick(now, random.Float64())
		if random.IntN(3) == 0 {
			v, _ := p.sample(now.Add(time.Duration(random.ExpFloat64() * float64(50*time.Millisecond))))
			if v < before {
				t.Fatalf("%v after %v", v, before)
			}
			before = v
		}
	}
}

// serveLines answers each request that a function understands with a text.
func serveLines(t *testing.T, answer func(line string, r *bufio.Reader) string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if _, err := conn.Write([]byte(answer(strings.TrimSpace(line), r))); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func memcachedAnswer(line string, r *bufio.Reader) string {
	if strings.HasPrefix(line, "set ") {
		_, _ = r.ReadString('\n') // its value
		return "STORED\r\n"
	}
	return "VALUE " + strings.TrimPrefix(line, "get ") + " 0 5\r\nhello\r\nEND\r\n"
}

func httpAnswer(line string, r *bufio.Reader) string {
	for line != "" {
		text, err := r.ReadString('\n')
		if err != nil {
			return ""
		}
		line = strings.TrimSpace(text)
	}
	return "HTTP/1.1 200 OK\r\nServer: test\r\ncontent-length: 5\r\n\r\nhello"
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	tests := map[string]RequestsConfig{
		"memcached": {Protocol: Memcached, Target: serveLines(t, memcachedAnswer), Keys: 100, ValueBytes: 5, ReadFraction: 0.5},
		"http":      {Protocol: HTTP, Target: "http://" + serveLines(t, httpAnswer) + "/page"},
	}
	for name, config := range tests {
		config.Connections = 3
		got, err := Loop(t.Context(), LoopConfig{
			Mode: LoopRequests, Command: []string{"sleep", "60"}, Requests: config, Duration: 300 * time.Millisecond,
		})
		if err != nil || got.Units < 1 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestRequestsRefuseBadAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]RequestsConfig{
		"memcached": {Protocol: Memcached, Target: serveLines(t, func(string, *bufio.Reader) string { return "SERVER_ERROR out of memory\r\n" })},
		"http":      {Protocol: HTTP, Target: "http://" + serveLines(t, func(string, *bufio.Reader) string { return "HTTP/1.1 404 Not Found\r\n\r\n" })},
		"length":    {Protocol: HTTP, Target: "http://" + serveLines(t, func(string, *bufio.Reader) string { return "HTTP/1.1 200 OK\r\n\r\n" })},
	}
	for name, config := range tests {
		config.Wait, config.Timeout = time.Millisecond, time.Second
		if _, err := Loop(context.Background(), LoopConfig{Mode: LoopRequests, Command: []string{"sleep", "60"}, Requests: config}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A child that has ended and was waited for is in its parent's books too, and counts once.
func TestIOOfAChildThatEnded(t *testing.T) {
	t.Parallel()
	const each, runs = 30, 4 // MB of a child that lasts longer than it takes to find it
	script := fmt.Sprintf("for i in $(seq %d); do sh -c 'dd if=/dev/zero of=/dev/null bs=1000000 count=%d 2>/dev/null; sleep 0.3; true'; done; sleep 0.3", runs, each)
	cmd := exec.Command("/bin/sh", "-c", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop, count, followed := make(chan struct{}), newProgress(), make(chan error, 1)
	go func() { followed <- followIO(procDir, cmd.Process.Pid, IOWriteBytes, stop, count) }()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	close(stop)
	if err := <-followed; err != nil {
		t.Fatal(err)
	}
	if got := count.total; got < 0.9*each*runs || got > 1.1*each*runs {
		t.Errorf("%.0f MB were counted, and %d written", got, each*runs)
	}
}
