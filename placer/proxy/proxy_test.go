package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// nomad is the little of Nomad that the proxy reads and writes.
type nomad struct {
	t  *testing.T
	mu sync.Mutex

	index   uint64
	job     map[string]any
	evals   []map[string]any
	bodies  []string // of writes, as they came
	plans   []string // bodies that the proxy itself had planned
	planned []string // and the tokens of these
	refuse  int      // status of plans and writes, if set
	tokens  []string // seen on reads
	deny    bool     // reads are forbidden
	fail    int      // so many reads of the job fail
}

func (n *nomad) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		n.t.Error(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch path := r.URL.Path; {
	case r.Method == http.MethodGet && path == "/v1/job/web" && n.deny:
		http.Error(w, "Permission denied", http.StatusForbidden)
	case r.Method == http.MethodGet && path == "/v1/job/web" && n.fail > 0:
		n.fail--
		http.Error(w, "No cluster leader", http.StatusInternalServerError)
	case r.Method == http.MethodGet && path == "/v1/job/web":
		n.tokens = append(n.tokens, r.Header.Get("X-Nomad-Token")+"@"+r.URL.Query().Get("namespace"))
		w.Header().Set("X-Nomad-Index", fmt.Sprint(n.index))
		n.answer(w, n.job)
	case path == "/v1/job/web/evaluations":
		n.answer(w, n.evals)
	case n.refuse != 0 && r.Method != http.MethodGet:
		n.bodies = append(n.bodies, string(data))
		http.Error(w, "Permission denied", n.refuse)
	case path == "/v1/job/web/plan" && bytes.Contains(data, []byte(`"NodePool":"placer"`)):
		n.plans = append(n.plans, string(data))
		n.planned = append(n.planned, r.Header.Get("X-Nomad-Token")+"@"+r.URL.Query().Get("namespace"))
		n.answer(w, map[string]any{})
	case path == "/v1/jobs/parse" && string(data) == `{"JobHCL":"job \"x\" {}"}`:
		n.answer(w, map[string]any{"ID": "x"})
	case path == "/v1/jobs" && r.Method == http.MethodPut, path == "/v1/job/web" && r.Method == http.MethodPost:
		n.bodies = append(n.bodies, string(data))
		var body struct{ Job map[string]any }
		if err := json.Unmarshal(data, &body); err != nil || body.Job == nil {
			http.Error(w, "Job must be specified", http.StatusBadRequest)
			return
		}
		n.put(body.Job)
		n.answer(w, map[string]any{"EvalID": fmt.Sprintf("eval-%d", n.index), "JobModifyIndex": n.index, "Warnings": "", "Index": n.index})
	case path == "/v1/job/web/plan":
		n.bodies = append(n.bodies, string(data))
		n.answer(w, map[string]any{"Warnings": "one of Nomad's own", "JobModifyIndex": 1})
	case path == "/v1/jobs/parse":
		n.bodies = append(n.bodies, string(data))
		n.answer(w, map[string]any{"ID": "web", "TaskGroups": []any{map[string]any{"Name": "g"}}})
	case strings.HasPrefix(path, "/v1/evaluation/"):
		n.answer(w, map[string]any{
			"ID": strings.TrimPrefix(path, "/v1/evaluation/"), "Status": "complete", "FailedTGAllocs": map[string]any{"g": map[string]any{}},
			"BlockedEval": "blocked", "DeploymentID": "held", "NextEval": "", "Kept": 1,
		})
	case path == "/v1/validate/job":
		n.answer(w, map[string]any{"ValidationErrors": nil, "Error": "", "DriverConfigValidated": true})
	default:
		n.bodies = append(n.bodies, r.Method+" "+r.URL.RequestURI()+" "+string(data))
		w.Header().Set("X-Own", "kept")
		fmt.Fprint(w, "as it is")
	}
}

func (n *nomad) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		n.t.Error(err)
	}
}

// put is a registration; the lock is held.
func (n *nomad) put(job map[string]any) {
	n.index++
	n.job = job
	n.job["JobModifyIndex"] = n.index
	n.evals = append(n.evals, map[string]any{"ID": fmt.Sprintf("eval-%d", n.index), "TriggeredBy": "job-register", "JobModifyIndex": n.index, "CreateIndex": n.index})
}

// release is what the placer's agent does.
func (n *nomad) release(pool string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	job := map[string]any{}
	for k, v := range n.job {
		job[k] = v
	}
	job["NodePool"] = pool
	n.put(job)
}

func (n *nomad) writes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.bodies...)
}

// placer answers as it was set to.
type placer struct {
	hang    bool  // the records do not answer
	panics  error // Check panics with it
	mu      sync.Mutex
	checked int
	none    bool // jobs have no targets
	note    string
	problem error
	preview func(job map[string]any) (map[string]any, error)
	admit   func(job map[string]any) (map[string]any, string, error) // nil: everything is held
	taken   bool                                                     // an agent works on jobs
	message string
	// evaluation is answered instead where it is set.
	evaluation *cluster.Evaluation
	released   []cluster.JobID
	// releasedIndex is of the last one.
	releasedIndex uint64
	release       func()
}

func (p *placer) Extract(jobspec string) (string, func(map[string]any) error, error) {
	if strings.Contains(jobspec, "wrong") {
		return "", nil, errors.New("input.hcl:3:5: error: unknown block \"wrong\"")
	}
	if strings.Contains(jobspec, "unread") {
		return "", nil, fmt.Errorf("%w: too long", proxy.ErrUnread)
	}
	stripped, found := strings.CutSuffix(jobspec, " performance")
	if !found {
		return jobspec, nil, nil
	}
	return stripped, func(job map[string]any) error {
		if strings.Contains(jobspec, "nogroup") {
			return errors.New(`group "h": the job has no such group`)
		}
		group := job["TaskGroups"].([]any)[0].(map[string]any)
		group["Meta"] = map[string]any{"performance": "text"}
		return nil
	}, nil
}

func (p *placer) Canonical(job map[string]any) error {
	if _, twice := job["twice"]; twice {
		return errors.New("a key is there twice")
	}
	return nil
}

func (p *placer) Check(job map[string]any) (bool, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.panics != nil {
		panic(p.panics)
	}
	p.checked++
	return !p.none, p.note, p.problem
}

func (p *placer) Preview(_ context.Context, job map[string]any) (map[string]any, error) {
	return p.preview(job)
}

func (p *placer) Admit(ctx context.Context, job map[string]any) (map[string]any, string, error) {
	if p.hang {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}
	if p.admit == nil {
		return nil, "", errors.New("nothing is known of it")
	}
	return p.admit(job)
}

func (p *placer) Evaluation(ctx context.Context, _ cluster.JobID) (cluster.Evaluation, error) {
	if p.hang {
		<-ctx.Done()
		return cluster.Evaluation{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.taken {
		return cluster.Evaluation{}, cluster.ErrNoRecord
	}
	if p.evaluation != nil {
		return *p.evaluation, nil
	}
	return cluster.Evaluation{StartedAt: time.Now(), Message: p.message}, nil
}

func (p *placer) Release(_ context.Context, id cluster.JobID, index uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released, p.releasedIndex = append(p.released, id), index
	p.release()
	return nil
}

// front is a proxy before a Nomad.
type front struct {
	nomad   *nomad
	placer  *placer
	handler http.Handler
	url     string
}

func open(t *testing.T, change func(*proxy.Options)) *front {
	t.Helper()
	f := &front{nomad: &nomad{t: t, index: 10}, placer: &placer{taken: true, message: "placed on node-1"}}
	behind := httptest.NewServer(f.nomad)
	t.Cleanup(behind.Close)
	u, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	o := proxy.Options{
		Nomad: u, Placer: f.placer, HoldPool: "placer", RunPool: "default", Clock: wallClock{},
		TakenUpWithin: time.Minute, Wait: 20 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	p, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	t.Cleanup(p.Close)
	f.url, f.handler = server.URL, p
	return f
}

func (f *front) send(t *testing.T, method, path, body string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", "secret")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data), answer.Header
}

// Whatever is not one of the four requests, and every job without targets, passes
// byte for byte.
func TestPassesThrough(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/agent/self?stale=", ""},
		{"PUT", "/v1/job/web/scale", `{"Count":  3}`},
		{"DELETE", "/v1/job/web?purge=true", ""},
		{"PUT", "/v1/job/a%2Fb/evaluate", "{}"},
		{"POST", "/ui/anything", "x"},
	} {
		f := open(t, nil)
		status, body, header := f.send(t, c.method, c.path, c.body)
		if status != 200 || body != "as it is" || header.Get("X-Own") != "kept" {
			t.Errorf("%s %s: %d %q %v", c.method, c.path, status, body, header)
		}
		if got, want := f.nomad.writes(), c.method+" "+c.path+" "+c.body; len(got) != 1 || got[0] != want {
			t.Errorf("Nomad got %q, want %q", got, want)
		}
	}
	f := open(t, nil)
	const job = `{"Job": {"ID":"web",  "TaskGroups":[{"Name":"g","Count":12345678901234567890}]}, "EnforceIndex":true}`
	if status, body, _ := f.send(t, "PUT", "/v1/jobs", job); status != 200 || strings.Contains(body, "nomad-placer") {
		t.Errorf("%d %s", status, body)
	}
	if got := f.nomad.writes(); got[0] != job {
		t.Errorf("Nomad got %q", got)
	}
}

// What is no JSON is Nomad's to refuse.
func TestMalformedRegistration(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{", "[]", `{"Job":`, `{"Job":null}`, `{"Job":{"ID":"web"}} trailing`} {
		f := open(t, nil)
		status, _, _ := f.send(t, "PUT", "/v1/jobs", body)
		if got := f.nomad.writes(); status != 400 || len(got) != 1 || got[0] != body {
			t.Errorf("%q: status %d, Nomad got %q", body, status, got)
		}
	}
}

// registered is what an answer to a registration says.
type registered struct {
	EvalID, Warnings string
	JobModifyIndex   uint64
}

// register sends a job with targets.
func (f *front) register(t *testing.T) registered {
	t.Helper()
	status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets)
	var answer registered
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	return answer
}

const withTargets = `{"Job":{"ID":"web","Namespace":"team","TaskGroups":[{"Meta":{"performance":"x"}}],"Priority":50,"Unknown":{"a":1.50}},"Submission":{"Source":"job"}}`

// A job with targets is held, and the answer names the released version.
func TestHeldUntilReleased(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	go func() {
		for len(f.nomad.writes()) == 0 {
			time.Sleep(time.Millisecond)
		}
		f.nomad.release("default")
	}()
	answer := f.register(t)
	if answer.EvalID != "eval-12" || answer.JobModifyIndex != 12 || answer.Warnings != "nomad-placer: placed on node-1" {
		t.Errorf("answer %+v", answer)
	}
	sent := f.nomad.writes()[0]
	for _, kept := range []string{`"NodePool":"placer"`, `"Unknown":{"a":1.50}`, `"Submission":{"Source":"job"}`} {
		if !strings.Contains(sent, kept) {
			t.Errorf("%s is not in %s", kept, sent)
		}
	}
	for _, token := range f.nomad.tokens {
		if token != "secret@team" {
			t.Errorf("read with %q", token)
		}
	}
}

// A job that can be decided on at once is registered once, as decided.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	var asked map[string]any
	f.placer.admit = func(job map[string]any) (map[string]any, string, error) {
		asked = job
		out := maps.Clone(job)
		out["NodePool"], out["Constraints"] = "default", []any{"shortlist"}
		return out, "placed on node-1", nil
	}
	answer := f.register(t)
	if answer.EvalID != "eval-11" || answer.JobModifyIndex != 11 || answer.Warnings != "nomad-placer: placed on node-1" {
		t.Errorf("answer %+v", answer)
	}
	if asked["NodePool"] != "placer" || asked["Namespace"] != "team" {
		t.Errorf("asked about %v", asked)
	}
	writes := f.nomad.writes()
	if len(writes) != 1 {
		t.Fatalf("%d registrations", len(writes))
	}
	for _, kept := range []string{`"NodePool":"default"`, `"Constraints":["shortlist"]`, `"Unknown":{"a":1.50}`, `"Submission":{"Source":"job"}`} {
		if !strings.Contains(writes[0], kept) {
			t.Errorf("%s is not in %s", kept, writes[0])
		}
	}
}

// A placer that hangs over a decision costs a bounded time, and the job is held.
func TestAdmissionThatHangs(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.AdmitWithin = 20 * time.Millisecond })
	f.placer.hang = true
	f.placer.admit = func(map[string]any) (map[string]any, string, error) { panic("asked although it hangs") }
	go func() {
		for len(f.nomad.writes()) == 0 {
			time.Sleep(time.Millisecond)
		}
		f.nomad.release("default")
	}()
	if status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if sent := f.nomad.writes()[0]; !strings.Contains(sent, `"NodePool":"placer"`) {
		t.Errorf("not held: %s", sent)
	}
}

// A job that no agent takes up is released by the proxy to stock rules.
func TestNobodyTakesItUp(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.TakenUpWithin = 50 * time.Millisecond })
	f.placer.taken = false
	f.placer.release = func() { f.nomad.release("default") }
	status, body, _ := f.send(t, "POST", "/v1/job/web", withTargets)
	if status != 200 || !strings.Contains(body, "stock rules") || !strings.Contains(body, "eval-12") {
		t.Errorf("%d %s", status, body)
	}
	if len(f.placer.released) != 1 || f.placer.released[0] != (cluster.JobID{Namespace: "team", ID: "web"}) {
		t.Errorf("released %v", f.placer.released)
	}
}

// Where the job cannot be followed the registration stays, and the answer says so.
func TestNotFollowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		change     func(*proxy.Options)
		meanwhile  func(f *front)
	}{
		{"may not read", "Permission denied", nil, func(f *front) {}},
		{"stopped", "was stopped", nil, func(f *front) { f.nomad.job["Stop"] = true }},
		{"newer version", "newer version", nil, func(f *front) { f.nomad.put(map[string]any{"ID": "web", "NodePool": "placer"}) }},
		{"too long", "deadline", func(o *proxy.Options) { o.Wait = 100 * time.Millisecond }, func(f *front) {}},
	} {
		f := open(t, c.change)
		f.nomad.deny = c.name == "may not read"
		go func() {
			for len(f.nomad.writes()) == 0 {
				time.Sleep(time.Millisecond)
			}
			f.nomad.mu.Lock()
			defer f.nomad.mu.Unlock()
			c.meanwhile(f)
		}()
		status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets)
		if status != 200 || !strings.Contains(body, c.want) || !strings.Contains(body, "eval-11") {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
}

// A wrong block is refused before anything is registered; a pool of the user's own
// is kept, with a warning.
func TestNotHeld(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	f.placer.problem = errors.New("web/g:1:3: error: unknown target")
	status, body, _ := f.send(t, "PUT", "/v1/jobs", withTargets)
	if status != 400 || !strings.Contains(body, "web/g:1:3") || len(f.nomad.writes()) != 0 {
		t.Errorf("%d %s, Nomad got %q", status, body, f.nomad.writes())
	}
	f = open(t, nil)
	own := strings.Replace(withTargets, `"Priority":50`, `"NodePool":"gpu"`, 1)
	status, body, _ = f.send(t, "PUT", "/v1/jobs", own)
	if status != 200 || !strings.Contains(body, `node_pool \"gpu\"`) || f.nomad.writes()[0] != own {
		t.Errorf("%d %s, Nomad got %q", status, body, f.nomad.writes())
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	f.placer.preview = func(job map[string]any) (map[string]any, error) {
		if job["NodePool"] != "placer" || job["Namespace"] != "team" {
			t.Errorf("asked about %v", job)
		}
		return map[string]any{"ID": "web", "NodePool": "default", "Constraints": "ours"}, nil
	}
	status, body, _ := f.send(t, "PUT", "/v1/job/web/plan", withTargets)
	if got := f.nomad.writes(); status != 200 || !strings.Contains(got[0], `"Constraints":"ours"`) || strings.Contains(body, "nomad-placer") {
		t.Errorf("%d %s, Nomad got %q", status, body, got)
	}
	f.placer.preview = func(map[string]any) (map[string]any, error) { return nil, errors.New("no snapshot") }
	status, body, _ = f.send(t, "PUT", "/v1/job/web/plan", withTargets)
	if got := f.nomad.writes(); status != 200 || got[1] != withTargets || !strings.Contains(body, "one of Nomad's own\\nnomad-placer: this plan is that of stock Nomad: no snapshot") {
		t.Errorf("%d %s, Nomad got %q", status, body, got)
	}
}

func TestParseAndValidate(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	status, body, _ := f.send(t, "POST", "/v1/jobs/parse", `{"JobHCL":"job performance","Canonicalize":true}`)
	if got := f.nomad.writes(); status != 200 || !strings.Contains(body, `"performance":"text"`) || got[0] != `{"JobHCL":"job","Canonicalize":true}` {
		t.Errorf("%d %s, Nomad got %q", status, body, got)
	}
	if status, body, _ := f.send(t, "POST", "/v1/jobs/parse", `{"JobHCL":"wrong performance"}`); status != 400 || !strings.Contains(body, "input.hcl:3:5") {
		t.Errorf("%d %s", status, body)
	}
	if status, body, _ := f.send(t, "POST", "/v1/jobs/parse", `{"JobHCL":"nogroup performance"}`); status != 400 || body != `group "h": the job has no such group` {
		t.Errorf("%d %s", status, body)
	}
	plain := `{"JobHCL":"plain",  "Canonicalize":true}`
	if f.send(t, "POST", "/v1/jobs/parse", plain); f.nomad.writes()[2] != plain {
		t.Errorf("Nomad got %q", f.nomad.writes())
	}
	f.placer.problem = errors.New("web/g:1:3: error: unknown target")
	if _, body, _ := f.send(t, "PUT", "/v1/validate/job", withTargets); !strings.Contains(body, `"ValidationErrors":["performance block: web/g:1:3`) {
		t.Errorf("%s", body)
	}
}

// Streams pass as they come: a line is read before the next one is written.
func TestStreamsAreNotBuffered(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "{\"Index\":%d}\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(behind.Close)
	f := open(t, func(o *proxy.Options) { o.Nomad, _ = url.Parse(behind.URL) })
	answer, err := http.Get(f.url + "/v1/event/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for i := range 3 {
		if !lines.Scan() || lines.Text() != fmt.Sprintf("{\"Index\":%d}", i) {
			t.Fatalf("line %d: %q", i, lines.Text())
		}
		next <- struct{}{}
	}
}

func TestNomadIsDown(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *proxy.Options) { o.Nomad = &url.URL{Scheme: "http", Host: "127.0.0.1:1"} })
	for _, path := range []string{"/v1/jobs", "/v1/agent/self"} {
		status, body, _ := f.send(t, "PUT", path, withTargets)
		if status != http.StatusBadGateway || !strings.Contains(body, "does not answer") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestOptionsAreNeeded(t *testing.T) {
	t.Parallel()
	if _, err := proxy.New(proxy.Options{}); err == nil {
		t.Error("no error")
	}
}
