package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// A namespace in the query counts before one in the body, and that before the job's own,
// as in Nomad: a user of one namespace must not have the job of another one released.
func TestTheNamespaceIsTheOneThatNomadTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, body, want string }{
		{"/v1/jobs?namespace=mine", `{"Namespace":"other","Job":{"ID":"web","Namespace":"theirs","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, "mine"},
		{"/v1/jobs", `{"Namespace":"other","Job":{"ID":"web","Namespace":"theirs","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, "other"},
		{"/v1/jobs", `{"Job":{"ID":"web","Namespace":"theirs","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, "theirs"},
		{"/v1/jobs", `{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, "default"},
	} {
		f := open(t, func(o *proxy.Options) { o.TakenUpWithin = time.Millisecond })
		f.placer.taken = false
		f.placer.release = func() { f.nomad.release("default") }
		if status, body, _ := f.send(t, "PUT", c.path, c.body); status != 200 || !strings.Contains(body, "under stock rules") {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
		want := cluster.JobID{Namespace: c.want, ID: "web"}
		if !slices.Contains(f.placer.released, want) || len(f.placer.released) > 1 || f.placer.releasedIndex != 11 {
			t.Errorf("released %v at index %d, want %v at 11, which was registered", f.placer.released, f.placer.releasedIndex, want)
		}
		if seen := f.nomad.tokens; len(seen) == 0 || seen[0] != "secret@"+c.want {
			t.Errorf("read as %q", seen)
		}
	}
}

// Nomad is started again while a job is held: it is followed all the same.
func TestAHeldJobIsFollowedThroughAnOutage(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.TakenUpWithin = time.Millisecond })
	f.placer.taken = false
	f.placer.release = func() { f.nomad.release("default") }
	f.nomad.fail = 2
	if answer := f.register(t); !strings.Contains(answer.Warnings, "under stock rules") {
		t.Errorf("answer %+v: want the job released by the proxy once Nomad answers again", answer)
	}
}

// A client that closes its side early gets no answer at all where its request was given
// up: an empty one with status 200 would say that the job is registered.
func TestARequestThatWasGivenUpIsNoSuccess(t *testing.T) {
	t.Parallel()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // as much as comes
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	address := proxyBefore(t, slow.URL)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const job = `{"Job":{"ID":"web"}}`
	fmt.Fprintf(conn, "PUT /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(job), job)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
		t.Errorf("answered %s", answer.Status)
	}
}

// proxyBefore is the address of a proxy before a Nomad.
func proxyBefore(t *testing.T, nomad string) string {
	t.Helper()
	u, err := url.Parse(nomad)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{Nomad: u, Placer: &placer{}, HoldPool: "placer", RunPool: "default", Clock: wallClock{}, TakenUpWithin: time.Minute, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Cleanup(p.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Nomad is asked for a compressed answer only by a client that wants one.
func TestCompressionIsTheClients(t *testing.T) {
	t.Parallel()
	for _, wanted := range []string{"", "gzip"} {
		var asked string
		nomad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.Header.Get("Accept-Encoding")
			w.Header().Set("Content-Length", "2")
			fmt.Fprint(w, "{}")
		}))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+proxyBefore(t, nomad.URL)+"/v1/nodes", nil)
		if err != nil {
			t.Fatal(err)
		}
		if wanted != "" {
			r.Header.Set("Accept-Encoding", wanted)
		}
		client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // it was not read
		nomad.Close()
		if asked != wanted || answer.ContentLength != 2 {
			t.Errorf("the client wants %q: Nomad was asked for %q, length %d", wanted, asked, answer.ContentLength)
		}
	}
}
