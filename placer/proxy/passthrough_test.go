package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// before opens a proxy before a handler.
func before(t *testing.T, behind http.HandlerFunc, change ...func(*proxy.Options)) *front {
	t.Helper()
	s := httptest.NewServer(behind)
	t.Cleanup(s.Close)
	return open(t, func(o *proxy.Options) {
		o.Nomad, _ = url.Parse(s.URL)
		for _, f := range change {
			f(o)
		}
	})
}

// exec's web sockets pass in both directions, and one side's end reaches the
// other.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.URL.RawQuery != "task=x&tty=true" || r.Header.Get("X-Nomad-Token") != "secret" {
			t.Errorf("Nomad got %s %v", r.URL, r.Header)
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, err = io.Copy(conn, buffered) // an echo
		ended <- err
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /v1/client/allocation/a/exec?task=x&tty=true HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Nomad-Token: secret\r\n\r\n")
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", answer, err)
	}
	for _, frame := range []string{"\x81\x05hello", "\x00binary\xff"} {
		if _, err := io.WriteString(conn, frame); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(frame))
		if _, err := io.ReadFull(reader, got); err != nil || string(got) != frame {
			t.Fatalf("%q came back as %q, %v", frame, got, err)
		}
	}
	conn.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("Nomad's side did not hear that the client has gone")
	}
}

// Over HTTP/2 streams are as immediate as over HTTP/1.1, and writes are looked
// into.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			_, _ = io.Copy(w, r.Body)
			return
		}
		for i := range 3 {
			fmt.Fprintf(w, "{\"Index\":%d}\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
	})
	secure := httptest.NewUnstartedServer(f.handler)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	answer, err := secure.Client().Get(secure.URL + "/v1/event/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.ProtoMajor != 2 {
		t.Fatalf("%s", answer.Proto)
	}
	lines := bufio.NewScanner(answer.Body)
	for i := range 3 {
		if !lines.Scan() || lines.Text() != fmt.Sprintf("{\"Index\":%d}", i) {
			t.Fatalf("line %d: %q", i, lines.Text())
		}
		next <- struct{}{}
	}
	f.placer.problem = errors.New("web/g:1:3: error: unknown target")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, secure.URL+"/v1/jobs", strings.NewReader(withTargets))
	if err != nil {
		t.Fatal(err)
	}
	refused, err := secure.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Body.Close()
	if data, _ := io.ReadAll(refused.Body); refused.StatusCode != http.StatusBadRequest || !strings.Contains(string(data), "web/g:1:3") {
		t.Errorf("%s %s", refused.Status, data)
	}
}

// A blocking query blocks as long as Nomad wants, and ends in Nomad when its
// client goes away.
func TestBlockingQuery(t *testing.T) {
	t.Parallel()
	arrived, change, gone := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-change:
			w.Header().Set("X-Nomad-Index", "7")
			fmt.Fprint(w, "changed")
		case <-r.Context().Done():
			close(gone)
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+"/v1/jobs?index=6&wait=5m", nil)
		if err == nil {
			_, err = http.DefaultTransport.RoundTrip(r)
		}
		left <- err
	}()
	<-arrived
	leave()
	if err := <-left; err == nil {
		t.Error("the query that was left has an answer")
	}
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
		t.Fatal("Nomad still works for a client that has gone")
	}
	go func() {
		<-arrived
		change <- struct{}{}
	}()
	status, body, header := f.send(t, "GET", "/v1/jobs?index=6&wait=5m", "")
	if status != 200 || body != "changed" || header.Get("X-Nomad-Index") != "7" {
		t.Errorf("%d %q %v", status, body, header)
	}
}

// An answer that breaks off is not made whole, and one that never begins is a
// clear error.
func TestNomadBreaksOff(t *testing.T) {
	t.Parallel()
	half := before(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	answer, err := http.Get(half.url + "/v1/jobs")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if data, err := io.ReadAll(answer.Body); string(data) != "half" || err == nil {
		t.Errorf("%q, %v", data, err)
	}
	never := before(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	status, body, _ := never.send(t, "PUT", "/v1/jobs", withTargets)
	if status != http.StatusBadGateway || !strings.Contains(body, "does not answer") || !strings.Contains(body, "NOMAD_ADDR") {
		t.Errorf("%d %q", status, body)
	}
	// The connection's other half stays open: what is asked there must end too.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*net.TCPConn).CloseWrite()
			defer conn.Close() // open until the test ends
		}
	}()
	f := open(t, func(o *proxy.Options) { o.Nomad = &url.URL{Scheme: "http", Host: listener.Addr().String()} })
	if status, body, _ := f.send(t, "GET", "/v1/jobs", ""); status != http.StatusBadGateway {
		t.Errorf("half closed: %d %q", status, body)
	}
}

// Bodies of any size pass whole; a request that is looked into is held in memory
// up to a bound, and others are not held at all.
func TestHugeBodies(t *testing.T) {
	t.Parallel()
	huge := append([]byte(`{"Job":{"ID":"web","Meta":{"performance":"x"},"Payload":"`), bytes.Repeat([]byte("a"), 20<<20)...)
	huge = append(huge, `"}}`...)
	first := make(chan struct{})
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/var/x" {
			one := make([]byte, 1)
			_, _ = io.ReadFull(r.Body, one)
			close(first)
		}
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%d %x %v", n, sum.Sum(nil), err)
	})
	status, body, _ := f.send(t, "PUT", "/v1/jobs", string(huge))
	if want := fmt.Sprintf("%d %x <nil>", len(huge), sha256.Sum256(huge)); status != 200 || body != want {
		t.Errorf("%d %q, want %q", status, body, want)
	}
	// The first byte arrives while the last one is not sent yet.
	reader, writer := io.Pipe()
	go func() {
		_, _ = writer.Write([]byte("abc"))
		select {
		case <-first:
		case <-time.After(20 * time.Second):
			t.Error("the body was held back")
		}
		_ = writer.Close()
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, f.url+"/v1/var/x", reader)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if data, _ := io.ReadAll(answer.Body); !strings.HasPrefix(string(data), "2 ") {
		t.Errorf("%q", data)
	}
}

// What Nomad refuses is refused in its own words, and nothing is followed.
func TestRefusedByNomad(t *testing.T) {
	t.Parallel()
	for _, progress := range []bool{false, true} {
		behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Own", "kept")
			http.Error(w, "Permission denied", http.StatusForbidden)
		}))
		t.Cleanup(behind.Close)
		f := open(t, func(o *proxy.Options) {
			o.Nomad, _ = url.Parse(behind.URL)
			o.Progress = progress
		})
		for _, c := range []struct{ method, path string }{
			{"PUT", "/v1/jobs"}, {"POST", "/v1/job/web"}, {"PUT", "/v1/validate/job"}, {"GET", "/v1/jobs"}, {"GET", "/v1/evaluation/x"},
		} {
			status, body, header := f.send(t, c.method, c.path, withTargets)
			if status != 403 || body != "Permission denied\n" || header.Get("X-Own") != "kept" {
				t.Errorf("%s %s: %d %q %v", c.method, c.path, status, body, header)
			}
		}
	}
}

// The line that Nomad 1.11.2 begins its event stream with is no HTTP; it becomes
// some on the way.
func TestEventStreamOfNomad1112(t *testing.T) {
	t.Parallel()
	f := before(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/0.0 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"Index\":1}\n")
	})
	answer, err := http.Get(f.url + "/v1/event/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || string(data) != "{\"Index\":1}\n" || answer.Proto != "HTTP/1.1" {
		t.Errorf("%s %q %v", answer.Proto, data, err)
	}
}
