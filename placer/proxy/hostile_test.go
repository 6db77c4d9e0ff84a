package proxy_test

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
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// Four requests cost the proxy at most 64 MiB, whatever is in them, and whether Nomad
// takes them or not: small texts that would make much of a value, and long ones.
func TestMemoryOfHostileBodies(t *testing.T) {
	t.Parallel()
	const size = 16 << 20
	fill := func(head, item, tail string) []byte {
		var b bytes.Buffer
		b.WriteString(head)
		for b.Len() < size-len(item)-len(tail)-8 {
			b.WriteString(item)
		}
		b.WriteString(tail)
		return b.Bytes()
	}
	for name, body := range map[string][]byte{
		"objects without a job":      fill(`{"x":[`, `{"":{}},`, `0]}`),
		"objects in a job":           fill(`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"{"}}],"x":[`, `{"":{}},`, `0]}}`),
		"text":                       fill(`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"{"}}],"x":"`, `\u003c`, `"}}`),
		"nested":                     fill(`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"{"}}],"x":`, `[`, ``),
		"keys, all of them the same": fill(`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"{"`, `,"performance":"{"`, `}}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if took := memoryOfFour(t, body); took > 64 {
				t.Errorf("%.0f MiB", took)
			}
		})
	}
}

// memoryOfFour is how much more memory a proxy had while it answered four requests.
func memoryOfFour(t *testing.T, body []byte) float64 {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r) // a held job, which is then not followed further
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"EvalID":"","JobModifyIndex":1}`)
	}))
	t.Cleanup(upstream.Close)
	address, pid := alone(t, upstream.URL)
	before := memoryMiB(t, pid, "VmHWM")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address+"/v1/jobs", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close() // it was not read
		})
	}
	group.Wait()
	return memoryMiB(t, pid, "VmHWM") - before
}

// A job with a block is held however its keys are spelt, whatever its path and headers
// look like, and whatever follows it: Nomad takes all of these. All else of the body is
// kept byte for byte.
func TestAJobIsHeldHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	const pool = `"NodePool":"placer",`
	for _, c := range []struct{ method, path, encoding, sent, want string }{
		{"PUT", "/v1/jobs", "", `{"job":{"id":"web","taskgroups":[{"meta":{"performance":"x"}}]}}`, `{"job":{` + pool + `"id":"web","taskgroups":[{"meta":{"performance":"x"}}]}}`},
		{"PUT", "/v1/jobs", "", `{"Job":{"ID":"web","TaſKGroups":[{"Meta":{"\u0070erformance":"x"}}]}}`, `{"Job":{` + pool + `"ID":"web","TaſKGroups":[{"Meta":{"\u0070erformance":"x"}}]}}`},
		{"PUT", "/v1/jobs", "identity", `{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, `{"Job":{` + pool + `"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`},
		{"PUT", "/v1/job%73", "", `{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, `{"Job":{` + pool + `"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`},
		{"PUT", "/v1/jobs", "", ` {"Job" : { "nodepool" : "default" , "ID":"web", "TaskGroups":[{"Meta":{"performance":"x"}}] } } and more`, ` {"Job" : { "nodepool" : "placer" , "ID":"web", "TaskGroups":[{"Meta":{"performance":"x"}}] } } and more`},
		{"POST", "/v1/job/web", "", `{"Job":{"ID":"web","NodePool":null,"TaskGroups":[{"Meta":{"performance":"x"}}],"x":[1e400,"\ud800",{"a":1,"a":2}]}}`, `{"Job":{"ID":"web","NodePool":"placer","TaskGroups":[{"Meta":{"performance":"x"}}],"x":[1e400,"\ud800",{"a":1,"a":2}]}}`},
		{"POST", "/v1/job/a/b", "", `{"Job":{"ID":"a/b","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, `{"Job":{` + pool + `"ID":"a/b","TaskGroups":[{"Meta":{"performance":"x"}}]}}`},
	} {
		var got []string
		var mu sync.Mutex
		f := before(t, func(w http.ResponseWriter, r *http.Request) {
			data, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !strings.HasSuffix(r.URL.Path, "/plan") && r.Method != http.MethodGet {
				got = append(got, string(data))
			}
			http.Error(w, "no", http.StatusForbidden) // so that nothing is followed
		})
		r, err := http.NewRequestWithContext(t.Context(), c.method, f.url+c.path, strings.NewReader(c.sent))
		if err != nil {
			t.Fatal(err)
		}
		if c.encoding != "" {
			r.Header.Set("Content-Encoding", c.encoding)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // it was not read
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %s %s\nNomad got %q", c.method, c.path, c.sent, got)
		}
	}
}

// A key that is there twice is a mixture to Nomad: such a job goes there as it is, and its
// user is told.
func TestAKeyThatIsThereTwice(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]},"job":{"Priority":60}}`,
		`{"Job":{"ID":"web","NodePool":"a","nodePool":"b","TaskGroups":[{"Meta":{"performance":"x"}}]}}`,
		`{"Job":{"ID":"web","Id":"db","TaskGroups":[{"Meta":{"performance":"x"}}]}}`,
	} {
		f := open(t, nil)
		status, answer, _ := f.send(t, "PUT", "/v1/jobs", body)
		if got := f.nomad.writes(); status != 200 || len(got) != 1 || got[0] != body || !strings.Contains(answer, "twice") {
			t.Errorf("%d %s, Nomad got %q", status, answer, got)
		}
	}
}

// Where a key deeper in a job is there twice, only Nomad knows what it means: the job is
// held as it came, and not decided on before.
func TestAKeyThatIsThereTwiceInTheJob(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.Progress = true })
	f.placer.admit = func(map[string]any) (map[string]any, string, error) {
		t.Error("decided on")
		return nil, "", errors.New("no")
	}
	if status, answer, _ := f.send(t, "PUT", "/v1/jobs", strings.Replace(withTargets, `"Priority"`, `"twice":1,"Priority"`, 1)); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	if got := f.nomad.writes(); len(got) != 1 || !strings.Contains(got[0], `"NodePool":"placer"`) {
		t.Errorf("Nomad got %q", got)
	}
}

// Nomad judges the user's token before the placer does anything for the job.
func TestNothingIsSpentOnAJobThatNomadRefuses(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	f.placer.admit = func(map[string]any) (map[string]any, string, error) {
		t.Error("a decision for a job that Nomad refuses")
		return nil, "", errors.New("no")
	}
	f.placer.preview = func(map[string]any) (map[string]any, error) {
		t.Error("a preview for a job that Nomad refuses")
		return nil, errors.New("no")
	}
	f.nomad.refuse = http.StatusForbidden
	for _, path := range []string{"/v1/jobs", "/v1/job/web/plan"} {
		status, body, _ := f.send(t, "PUT", path, withTargets)
		if status != http.StatusForbidden || body != "Permission denied\n" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if f.placer.checked > 0 {
		t.Error("the block was read")
	}
}

// The user's own token is what Nomad is asked with.
func TestAskedAsTheUser(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.Progress = true })
	f.send(t, "PUT", "/v1/jobs?namespace=team", withTargets)
	if len(f.nomad.planned) != 1 || f.nomad.planned[0] != "secret@team" {
		t.Errorf("planned as %q", f.nomad.planned)
	}
}

// One address has a bounded number of jobs decided on at once; the others are held.
func TestDecisionsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	const many = 24
	f := open(t, func(o *proxy.Options) { o.Progress, o.AdmitWithin = true, 200*time.Millisecond })
	var mu sync.Mutex
	var now, most int
	f.placer.admit = func(map[string]any) (map[string]any, string, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(300 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return nil, "", errors.New("unknown")
	}
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			if status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets); status != 200 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	group.Wait()
	if most > 16 || len(f.nomad.writes()) != many {
		t.Errorf("%d at once; %d registered", most, len(f.nomad.writes()))
	}
}

func inEast(context.Context) (string, error) { return "east", nil }

// A job for another region, or for several, is not this placer's, and goes to Nomad as it
// is. The body's region counts before the query's, and both before the job's.
func TestRegions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, body string
		held        bool
	}{
		{"", `{"Job":{"ID":"web","Region":"east","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, true},
		{"", `{"Job":{"ID":"web","Region":"global","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, true},
		{"", `{"Job":{"ID":"web","Region":null,"TaskGroups":[{"Meta":{"performance":"x"}}]}}`, true},
		{"", `{"Job":{"ID":"web","Region":"west","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, false},
		{"?region=west", `{"Job":{"ID":"web","Region":"east","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, false},
		{"?region=west", `{"Region":"east","Job":{"ID":"web","Region":"west","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, true},
		{"?region=east", `{"Region":"west","Job":{"ID":"web","TaskGroups":[{"Meta":{"performance":"x"}}]}}`, false},
		{"", `{"Job":{"ID":"web","Multiregion":{"Regions":[{"Name":"east"}]},"TaskGroups":[{"Meta":{"performance":"x"}}]}}`, false},
		{"", `{"Job":{"ID":"web","Multiregion":null,"TaskGroups":[{"Meta":{"performance":"x"}}]}}`, true},
	} {
		f := open(t, func(o *proxy.Options) { o.Progress, o.Region = true, inEast })
		status, answer, _ := f.send(t, "PUT", "/v1/jobs"+c.query, c.body)
		got := f.nomad.writes()
		if status != 200 || len(got) != 1 || strings.Contains(got[0], `"placer"`) != c.held || strings.Contains(answer, "region") == c.held {
			t.Errorf("%s %s: %d %s, Nomad got %q", c.query, c.body, status, answer, got)
		}
	}
}

// Of a long jobspec nothing is taken out, and where Nomad refuses it its user reads why.
func TestAJobspecThatIsNotRead(t *testing.T) {
	t.Parallel()
	const long = `{"JobHCL":"unread performance"}`
	f := open(t, nil)
	if status, _, _ := f.send(t, "POST", "/v1/jobs/parse", long); status != 200 || f.nomad.writes()[0] != long {
		t.Errorf("%d, Nomad got %q", status, f.nomad.writes())
	}
	f = before(t, func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if string(data) == long {
			http.Error(w, "Blocks of type performance are not expected here", http.StatusBadRequest)
		}
	})
	if status, body, _ := f.send(t, "POST", "/v1/jobs/parse", long); status != 400 || body != "Blocks of type performance are not expected here\nnomad-placer: performance blocks of this jobspec were not read: too long\n" {
		t.Errorf("%d %q", status, body)
	}
}

// What is too long to be looked into passes whole, and the answer to a registration says
// so; that to a jobspec is a job, and stays as it is.
func TestTooLongToBeLookedInto(t *testing.T) {
	t.Parallel()
	long := `{"Job":{"ID":"web"},"JobHCL":"` + strings.Repeat("x", 17<<20) + `"}`
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != int64(len(long)) {
			t.Errorf("Nomad got %d bytes, %v", n, err)
		}
		fmt.Fprint(w, `{"ID":"web"}`)
	})
	if _, body, _ := f.send(t, "PUT", "/v1/jobs", long); !strings.Contains(body, "longer than 16 MiB") {
		t.Error(body)
	}
	if _, body, _ := f.send(t, "POST", "/v1/jobs/parse", long); body != `{"ID":"web"}` {
		t.Error(body)
	}
}

// A client that waits for leave to send its body gets it once.
func TestLeaveToSendIsGivenOnce(t *testing.T) {
	t.Parallel()
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // the leave comes with the first read
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const job = `{"Job":{"ID":"web"}}`
	fmt.Fprintf(conn, "PUT /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(job))
	reader := bufio.NewReader(conn)
	if _, err := reader.Peek(1); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, job); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(reader)
	if err != nil || strings.Count(string(all), "100 Continue") != 1 || !strings.HasSuffix(string(all), job) {
		t.Errorf("%v: %q", err, all)
	}
}

// A body that stops coming is given up, and Nomad never hears of it.
func TestABodyThatStops(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.BodyWithin = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout || len(f.nomad.writes()) != 0 {
		t.Fatalf("%v %v", answer, err)
	}
	_ = answer.Body.Close() // it was not read
}

// A proxy that was given its own address as Nomad's says so, instead of asking itself for
// ever.
func TestAProxyBeforeItself(t *testing.T) {
	t.Parallel()
	self := httptest.NewUnstartedServer(nil)
	f := open(t, func(o *proxy.Options) {
		o.Nomad, o.Name = &url.URL{Scheme: "http", Host: self.Listener.Addr().String()}, "this"
	})
	self.Config.Handler = f.handler
	self.Start()
	t.Cleanup(self.Close)
	if status, body, _ := f.send(t, "GET", "/v1/jobs", ""); status != http.StatusLoopDetected || !strings.Contains(body, "-address") {
		t.Errorf("%d %s", status, body)
	}
}

// Parts of a file beside the UI's page may be asked for.
func TestPartOfAFileOfTheUI(t *testing.T) {
	t.Parallel()
	f := before(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Range")) })
	for path, want := range map[string]string{"/ui/favicon.ico": "bytes=0-3", "/ui/jobs": ""} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Range", "bytes=0-3")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s: Nomad was asked for %q, %v", path, got, err)
		}
	}
}

// connLimiter takes so many connections at once, as Nomad does: to more it writes an
// answer that nobody asked for, or nothing, and closes them.
type connLimiter struct {
	net.Listener
	free chan struct{}
	mute bool
}

// Accept implements net.Listener.
func (l *connLimiter) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case <-l.free:
			return &freeing{Conn: conn, done: sync.OnceFunc(func() { l.free <- struct{}{} })}, nil
		default:
		}
		if !l.mute {
			_, _ = io.WriteString(conn, "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
		_ = conn.Close()
	}
}

type freeing struct {
	net.Conn
	done func()
}

// Close implements net.Conn.
func (f *freeing) Close() error {
	defer f.done()
	return f.Conn.Close()
}

// Where Nomad takes no more connections from the proxy's address, its users read that,
// and not that Nomad is away.
func TestNomadTakesNoMoreConnections(t *testing.T) {
	t.Parallel()
	for _, mute := range []bool{true, false} {
		const most = 5
		l := &connLimiter{free: make(chan struct{}, most), mute: mute}
		for range most {
			l.free <- struct{}{}
		}
		stop := make(chan struct{})
		waiting := make(chan struct{}, most)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			waiting <- struct{}{}
			<-stop
		}))
		l.Listener = s.Listener
		s.Listener = l
		s.Start()
		f := open(t, func(o *proxy.Options) { o.Nomad, _ = url.Parse(s.URL) })
		var group sync.WaitGroup
		for range most {
			group.Go(func() { f.send(t, "GET", "/v1/jobs?index=9&wait=5m", "") })
		}
		for range most {
			<-waiting
		}
		for range 20 {
			for _, c := range []struct{ method, body string }{{"GET", ""}, {"PUT", `{"Job":{"ID":"web"}}`}} {
				status, body, _ := f.send(t, c.method, "/v1/jobs", c.body)
				said := strings.Contains(body, "http_max_conns_per_client")
				// Nomad's own answer comes through where there was time to read it.
				if status != http.StatusTooManyRequests && !said || !mute && c.method == "GET" && status != http.StatusTooManyRequests {
					t.Errorf("mute %v: %s: %d %s", mute, c.method, status, body)
				}
			}
		}
		close(stop)
		group.Wait()
		s.Close()
	}
}

// A limit of our own leaves connections to others, and counts web sockets and streams for
// as long as they last.
func TestRequestsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	stop, waiting := make(chan struct{}), make(chan struct{}, 2)
	f := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/event/stream" {
			return
		}
		fmt.Fprint(w, "{}")
		w.(http.Flusher).Flush()
		waiting <- struct{}{}
		<-stop
	}, func(o *proxy.Options) { o.MaxRequests = 2 })
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { f.send(t, "GET", "/v1/event/stream", "") })
		<-waiting
	}
	if status, body, header := f.send(t, "GET", "/v1/jobs", ""); status != http.StatusTooManyRequests || !strings.Contains(body, "-max-requests") || header.Get("Retry-After") == "" {
		t.Errorf("%d %s", status, body)
	}
	close(stop)
	group.Wait()
	for range 10 {
		if status, body, _ := f.send(t, "GET", "/v1/jobs", ""); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	}
}
