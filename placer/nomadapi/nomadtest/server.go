package nomadtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Server is an in-memory Nomad.
type Server struct {
	URL string

	close func() // ends all connections

	// AutoPlace lets registered jobs have allocations at once.
	AutoPlace bool
	// Blocked are the blocked evaluations.
	Blocked []Object
	// Stats is the resource usage of any allocation.
	Stats Object
	// OnAlloc, where set, is called with each new allocation before anybody can
	// see it, and may change it (task states, client status). It must not call
	// back into the server.
	OnAlloc func(alloc Object)
	// Now, where set, is the server's clock: the Date of its answers, and when
	// Variables were written.
	Now func() time.Time
	// DatedBy, where set, is the clock that the answers are dated by instead: that of a
	// client which stands before the servers.
	DatedBy func() time.Time
	// OnRequest, where set, is called with the path of each request before it is answered.
	// It must not call back into the server.
	OnRequest func(path string)
	// OnSignal, where set, is called with the allocation of a task that was signalled. It must
	// not call back into the server.
	OnSignal func(allocID string)
	// OnCompared, where set, is called when a registration's index was compared and nothing is
	// written yet. It may call back into the server.
	OnCompared func(namespace, id string)
	// Tokens are the ACL tokens by secret; without any, access control is off.
	// Policies are shown, and not enforced: see Token.May.
	Tokens   map[string]Token
	Policies map[string]Policy
	// Namespaces are those besides the namespace default.
	Namespaces []string

	mu      sync.Mutex
	index   uint64
	tables  map[string]uint64 // last index of each table
	jobs    map[key]*job
	nodes   map[string]Object
	pools   map[string]Object
	allocs  map[string]Object
	vars    map[key]*variable
	files   map[string]map[string][]byte // allocation, path
	notes   []Note
	signals []string
	rolling map[key]string    // status of a job's newest deployment
	stats   map[string]Object // resources of allocations, as their clients tell
	faults  []*fault
	watches map[chan struct{}]bool
	changes []change // since the start, for the event streams
	seq     int
	writes  []string
}

type key struct{ namespace, id string }

// Note is a scaling event left without a count.
type Note struct {
	Job, Group, Message string
	Error               bool
}

type fault struct {
	method, prefix string
	status, left   int
	body           string
}

// refusal is an answer that is not 200.
type refusal struct {
	status int
	text   string
}

// New starts a server that ends with the test. It has the built-in node pools.
func New(tb testing.TB) *Server {
	tb.Helper()
	s, handler := Unconnected()
	server := httptest.NewServer(handler)
	s.URL, s.close = server.URL, server.CloseClientConnections
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// Unconnected is a server that no network reaches, and what answers its requests: for
// tests whose time is not the machine's.
func Unconnected() (*Server, http.Handler) {
	s := &Server{
		tables: map[string]uint64{}, jobs: map[key]*job{}, nodes: map[string]Object{},
		pools:  map[string]Object{"default": {"Name": "default"}, "all": {"Name": "all"}},
		allocs: map[string]Object{}, vars: map[key]*variable{}, files: map[string]map[string][]byte{},
		watches: map[chan struct{}]bool{}, rolling: map[key]string{}, stats: map[string]Object{}, index: 1,
	}
	return s, s.routes()
}

// Fail answers the next n requests of the method whose path starts with prefix
// with the status and body.
func (s *Server) Fail(method, prefix string, status, n int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{method, prefix, status, n, body})
}

// Writes are the requests so far that were no GET.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

// handler answers a request with the lock held; v is the body, index the table's.
type handler func(r *http.Request) (v any, index uint64, refused *refusal)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	s.jobRoutes(handle)
	s.nodeRoutes(handle)
	s.allocRoutes(handle)
	s.adjustRoutes(handle)
	s.variableRoutes(handle)
	s.aclRoutes(handle)
	s.agentRoutes(handle)
	mux.HandleFunc("GET /v1/event/stream", s.events)
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, h handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.OnRequest != nil {
		s.OnRequest(r.URL.Path)
	}
	if s.DatedBy != nil {
		w.Header().Set("Date", s.DatedBy().UTC().Format(http.TimeFormat))
	} else if s.Now != nil {
		w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat))
	}
	if r.Method != http.MethodGet {
		s.writes = append(s.writes, r.Method+" "+r.URL.Path)
	}
	if s.Tokens != nil && r.URL.Path != healthPath && r.Header.Get(authHeader) != "" && !s.knows(r) {
		http.Error(w, "ACL token not found", http.StatusForbidden)
		return
	}
	if s.denies(r) {
		http.Error(w, "Permission denied", http.StatusForbidden)
		return
	}
	if f := s.faultFor(r); f != nil {
		http.Error(w, f.body, f.status)
		return
	}
	v, index, refused := h(r)
	if refused != nil {
		w.WriteHeader(refused.status)
		if refused.status == http.StatusConflict {
			_ = json.NewEncoder(w).Encode(v)
			return
		}
		fmt.Fprint(w, refused.text)
		return
	}
	w.Header().Set("X-Nomad-Index", strconv.FormatUint(max(1, index), 10))
	w.Header().Set("X-Nomad-KnownLeader", "true")
	w.Header().Set("X-Nomad-LastContact", "0")
	if b, ok := v.([]byte); ok {
		_, _ = w.Write(b)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) faultFor(r *http.Request) *fault {
	for _, f := range s.faults {
		if f.left > 0 && f.method == r.Method && strings.HasPrefix(r.URL.Path, f.prefix) {
			f.left--
			return f
		}
	}
	return nil
}

// bump advances the index for a table and wakes the event streams, which wait
// for the lock until the change is sent.
func (s *Server) bump(table string) uint64 {
	s.index++
	s.tables[table] = s.index
	for c := range s.watches {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	return s.index
}

// change is one event: what a write made of an object.
type change struct {
	index       uint64
	topic, kind string
	payload     []byte
}

// tell notes a change for the event streams; call it after bump, with the lock
// held and the object as it is now.
func (s *Server) tell(index uint64, topic, kind string, o Object) {
	shown := maps.Clone(o)
	if topic == "Allocation" { // Nomad leaves the job out
		delete(shown, "JobVersion")
		delete(shown, "JobType")
	}
	payload, err := json.Marshal(Object{topic: shown})
	if err != nil {
		panic(err)
	}
	s.changes = append(s.changes, change{index, topic, kind, payload})
}

// eventsKept is how many events Nomad keeps (event_buffer_size): a stream that asks for no index
// begins with them, so that nothing is lost between its headers, which come first, and its
// subscription.
const eventsKept = 100

// events streams what is kept of the changes, and each from now on, one a line.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	s.mu.Lock()
	s.watches[wake] = true
	sent := max(0, len(s.changes)-eventsKept)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watches, wake)
		s.mu.Unlock()
	}()
	flusher, _ := w.(http.Flusher)
	fmt.Fprintln(w, "{}")
	flusher.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-wake:
		}
		s.mu.Lock()
		fresh := s.changes[sent:]
		sent = len(s.changes)
		s.mu.Unlock()
		for _, c := range fresh {
			fmt.Fprintf(w, "{\"Index\":%d,\"Events\":[{\"Topic\":%q,\"Type\":%q,\"Payload\":%s}]}\n", c.index, c.topic, c.kind, c.payload)
		}
		flusher.Flush()
	}
}

// Cut ends every event stream, as a server that goes away does.
func (s *Server) Cut() { s.close() }

func body(r *http.Request) (Object, *refusal) {
	var o Object
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	return o, nil
}

func namespaceOf(r *http.Request) string {
	if ns := r.URL.Query().Get("namespace"); ns != "" {
		return ns
	}
	return "default"
}

func inNamespace(r *http.Request, namespace string) bool {
	want := namespaceOf(r)
	return want == "*" || want == namespace
}

func text(o Object, field string) string {
	s, _ := o[field].(string)
	return s
}

func sub(o Object, field string) Object {
	m, _ := o[field].(Object)
	return m
}

func list(o Object, field string) []Object {
	items, _ := o[field].([]any)
	var out []Object
	for _, item := range items {
		if m, ok := item.(Object); ok {
			out = append(out, m)
		}
	}
	return out
}

func number(v any) int {
	switch n := v.(type) {
	case json.Number:
		i, _ := n.Int64()
		return int(i)
	case float64:
		return int(n)
	case int:
		return n
	case uint64:
		return int(n)
	default:
		return 0
	}
}

// plain gives o the types a JSON decoder gives, as a real server's answer has.
func plain(o Object) Object {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out Object
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		panic(err)
	}
	return out
}
