package ibench

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// openSink opens a sink on the loopback interface.
func openSink(t *testing.T) *Sink {
	t.Helper()
	s, err := ListenSink("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Not parallel: it looks at every goroutine of the process.
func TestSinkEchoesAndDrops(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := openSink(t)
	echo, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	message := bytes.Repeat([]byte{7}, echoBytes)
	if _, err := echo.Write(append([]byte(echoHello), message...)); err != nil {
		t.Fatal(err)
	}
	back := make([]byte, echoBytes)
	if _, err := io.ReadFull(echo, back); err != nil || !bytes.Equal(back, message) {
		t.Errorf("echoed %v, %v", back, err)
	}
	bulk, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	for range 64 { // more than any socket buffer holds
		if _, err := bulk.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	closeQuietly(echo)
	closeQuietly(bulk)
	goleak.VerifyNone(t, before)
}

func TestSinkMain(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- sinkMain(ctx, []string{"-listen", "127.0.0.1:0"}, write, os.Stderr) }()
	line := make([]byte, 64)
	n, err := read.Read(line)
	address, found := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "listening on ")
	if err != nil || !found {
		t.Fatalf("it said %q, %v", line[:n], err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	closeQuietly(conn)
	cancel()
	if got := <-code; got != ExitStopped {
		t.Errorf("exit code %d", got)
	}
	for _, c := range []struct {
		args []string
		want int
	}{
		{nil, ExitUsage},
		{[]string{"-what"}, ExitUsage},
		{[]string{"-listen", "127.0.0.1:0", "more"}, ExitUsage},
		{[]string{"-h"}, ExitStopped},
		{[]string{"-listen", "nowhere"}, ExitFailed},
	} {
		if got := sinkMain(t.Context(), c.args, io.Discard, io.Discard); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.args, got, c.want)
		}
	}
}

// To a sink of its own, of another process, and to a peer that is no sink.
func TestNetworkMeasuresRoundTrips(t *testing.T) {
	t.Parallel()
	sink := openSink(t)
	t.Cleanup(func() { _ = sink.Close() })
	for _, c := range []struct {
		name, peer, variant string
		known               bool
	}{
		{"own sink", "", networkTCP, true},
		{"a sink", sink.Address(), networkTCP, true},
		{"a sink over UDP", sink.Address(), networkUDP, true},
		{"no sink", newPeer(t).address, networkTCP, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := testSpec(t, interference.NetworkBandwidth)
			spec.Peer, spec.Variant, spec.IntensityPercent = c.peer, c.variant, 20
			p := start(t, spec)
			eventually(t, "known, or said to be unknown", func() bool {
				r, err := p.Report(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				measured := r.Measures["round_trip_p50_microseconds"] > 0
				if measured && !c.known || len(r.Alerts) > 0 && c.known {
					t.Fatalf("%+v", r)
				}
				return r.Ops > 0 && (measured || len(r.Alerts) == 1)
			})
		})
	}
}

// A kernel ends with the reason when its peer goes away, whether it sends or
// not.
func TestNetworkPeerGoesAway(t *testing.T) {
	t.Parallel()
	for name, percent := range map[string]float64{"sending": 50, "idle": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := openSink(t)
			spec := testSpec(t, interference.NetworkBandwidth)
			spec.Peer, spec.IntensityPercent = sink.Address(), percent
			said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			defer said.Close()
			spec.Stderr = said
			p := start(t, spec)
			eventually(t, "an echo", func() bool {
				r, err := p.Report(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return len(r.Measures) > 0
			})
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			exit, err := p.Wait(t.Context())
			text, readErr := os.ReadFile(said.Name())
			if err != nil || readErr != nil || exit.Code != ExitFailed || !strings.Contains(string(text), "network peer "+sink.Address()+" went away") {
				t.Errorf("exit %v, %v, %v, saying %q", exit, err, readErr, text)
			}
		})
	}
}
