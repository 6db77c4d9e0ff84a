package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// clock does not wait.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }
func (c *clock) After(d time.Duration) <-chan time.Time {
	c.now = c.now.Add(d)
	out := make(chan time.Time, 1)
	out <- c.now
	return out
}

// nodes is a cluster that does a unit by writing it twice.
type nodes struct {
	t     *testing.T
	ready int
	// what goes wrong with the n-th dispatch, from 1 on; nil: nothing
	wrong func(n int, s State, result []byte) (State, []byte, error)
	// and with the n-th call of the server
	refuses func(call int) error

	job        string
	calls      int
	dispatches int
	most       int
	results    map[string][]byte
	states     map[string]State
	failures   map[string]error
	ended      bool
}

func newNodes(t *testing.T) *nodes {
	t.Helper()
	return &nodes{t: t, ready: 3, results: map[string][]byte{}, states: map[string]State{}, failures: map[string]error{}}
}

func (n *nodes) call() error {
	if n.calls++; n.refuses != nil {
		return n.refuses(n.calls)
	}
	return nil
}

func (n *nodes) Begin(_ context.Context, job *api.Job) error {
	n.job = *job.ID
	return nil
}

func (n *nodes) Dispatch(ctx context.Context, job string, payload []byte) (string, error) {
	if err := n.call(); err != nil {
		return "", err
	}
	if len(payload) > MostPayloadBytes {
		n.t.Errorf("a payload of %d bytes", len(payload))
	}
	n.dispatches++
	id, folder := fmt.Sprintf("%s/dispatch-%d", job, n.dispatches), n.t.TempDir()
	now := time.Unix(0, 0)
	later := func() time.Time { now = now.Add(time.Second); return now }
	_, err := Work(ctx, payload, folder, later, func(_ context.Context, input []byte) ([]byte, error) {
		if bytes.HasPrefix(input, []byte("bad")) {
			return nil, errors.New("it is bad")
		}
		return append(slices.Clone(input), input...), nil
	})
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(folder, ResultFile))
	if err != nil {
		return "", err
	}
	s := State{Ended: true, Node: "alpha", Allocation: &api.AllocationListStub{ID: id}}
	if n.wrong != nil {
		s, data, n.failures[id] = n.wrong(n.dispatches, s, data)
	}
	n.states[id], n.results[id] = s, data
	n.most = max(n.most, len(n.states))
	return id, nil
}

func (n *nodes) States(context.Context, string) (map[string]State, error) {
	if err := n.call(); err != nil {
		return nil, err
	}
	out := map[string]State{}
	for id, s := range n.states {
		if s.Why != "vanished" {
			out[id] = s
		}
	}
	return out, nil
}

func (n *nodes) Register(context.Context, map[string]any) error {
	return errors.New("not of this test")
}

func (n *nodes) Read(_ context.Context, s State, _ string) ([]byte, error) {
	return n.results[s.Allocation.ID], n.failures[s.Allocation.ID]
}

func (n *nodes) Forget(_ context.Context, id string) error {
	delete(n.states, id)
	return n.call()
}

func (n *nodes) End(context.Context, string) error {
	n.ended = true
	clear(n.states)
	return nil
}

func (n *nodes) Blocked(context.Context, string) (string, error) {
	return "of 3 nodes 3 are excluded (raw_exec) and 0 have no room (none)", nil
}
func (n *nodes) Nodes(context.Context) (int, error) { return n.ready, nil }

func someUnits(n int) [][]byte {
	var out [][]byte
	for i := range n {
		out = append(out, fmt.Appendf(nil, "unit %d.", i))
	}
	return out
}

// ran is what came of a run.
type ran struct {
	results map[int]string
	said    []string
	err     error
}

func runOn(t *testing.T, n *nodes, units [][]byte, o Options) ran {
	t.Helper()
	out := ran{results: map[int]string{}}
	now := &clock{}
	o.Job, o.Now, o.After, o.Says = "sweep", now.Now, now.After, func(text string) { out.said = append(out.said, text) }
	out.err = Run(t.Context(), n, o, units, func(i int, result []byte) error {
		if _, twice := out.results[i]; twice {
			t.Errorf("unit %d is done twice", i)
		}
		out.results[i] = string(result)
		return nil
	})
	if !n.ended || len(n.states) > 0 {
		t.Errorf("left on the cluster: %v", n.states)
	}
	return out
}

func whole(t *testing.T, got ran, n int) {
	t.Helper()
	if got.err != nil {
		t.Fatal(got.err)
	}
	for i := range n {
		if want := strings.Repeat(fmt.Sprintf("unit %d.", i), 2); got.results[i] != want {
			t.Errorf("unit %d: %q and not %q", i, got.results[i], want)
		}
	}
}

// Everything is done once, several units to a dispatch, and no more at once than was asked for.
func TestRun(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	whole(t, runOn(t, n, someUnits(200), Options{}), 200)
	if n.most > perNode*n.ready || n.dispatches >= 100 {
		t.Errorf("%d dispatches, %d at once", n.dispatches, n.most)
	}
}

// What goes wrong on the way costs time, and nothing else.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(n int, s State, result []byte) (State, []byte, error){
		"a node dies": func(_ int, s State, r []byte) (State, []byte, error) {
			s.Failed, s.Why = true, "its node was lost"
			return s, r, nil
		},
		"a result is torn":  func(_ int, s State, r []byte) (State, []byte, error) { return s, r[:len(r)/2], nil },
		"it is empty":       func(_ int, s State, _ []byte) (State, []byte, error) { return s, nil, nil },
		"it cannot be read": func(_ int, s State, r []byte) (State, []byte, error) { return s, r, errors.New("no file") },
		"Nomad forgot it":   func(_ int, s State, r []byte) (State, []byte, error) { s.Why = "vanished"; return s, r, nil },
		"it is of others":   func(_ int, s State, r []byte) (State, []byte, error) { return s, otherUnits(t, r), nil },
		"a bit is another": func(_ int, s State, r []byte) (State, []byte, error) {
			r = slices.Clone(r)
			r[len(r)-3] ^= 1
			return s, r, nil
		},
		"there is more of it": func(_ int, s State, r []byte) (State, []byte, error) { return s, append(slices.Clone(r), r...), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNodes(t)
			n.wrong = func(i int, s State, r []byte) (State, []byte, error) {
				if i%5 == 2 {
					return wrong(i, s, r)
				}
				return s, r, nil
			}
			got := runOn(t, n, someUnits(60), Options{})
			whole(t, got, 60)
			if len(got.said) == 0 || !strings.Contains(got.said[0], "handed out again") {
				t.Errorf("said %q", got.said)
			}
		})
	}
}

// otherUnits is a whole result of other units.
func otherUnits(t *testing.T, data []byte) []byte {
	t.Helper()
	_, text, _ := bytes.Cut(data, []byte("\n"))
	text = bytes.ReplaceAll(text, []byte(checksum([]byte("unit 1."))), []byte(checksum([]byte("unit x."))))
	for i := range 60 {
		text = bytes.ReplaceAll(text, []byte(checksum(fmt.Appendf(nil, "unit %d.", i))), []byte(checksum([]byte("unit y."))))
	}
	return append([]byte(checksum(text)+"\n"), text...)
}

// A server that is busy is asked again, and one that refuses is not.
func TestServer(t *testing.T) {
	t.Parallel()
	answers := func(code int) error {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		defer server.Close()
		client, err := api.NewClient(&api.Config{Address: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Nomad{client}.Nodes(t.Context())
		return err
	}
	n := newNodes(t)
	n.refuses = func(call int) error {
		if call%3 == 0 {
			return answers(429)
		}
		return nil
	}
	whole(t, runOn(t, n, someUnits(40), Options{}), 40)
	n = newNodes(t)
	n.refuses = func(int) error { return answers(403) }
	if got := runOn(t, n, someUnits(4), Options{}); got.err == nil || n.calls != 1 {
		t.Errorf("refused: %v after %d calls", got.err, n.calls)
	}
	n = newNodes(t)
	n.refuses = func(int) error { return answers(500) }
	if got := runOn(t, n, someUnits(4), Options{}); !errors.Is(got.err, errServer) || n.calls != mostFaults+1 {
		t.Errorf("never answers: %v after %d calls", got.err, n.calls)
	}
	n = newNodes(t)
	n.ready = 0
	n.ended = true // it never began
	if got := runOn(t, n, someUnits(4), Options{}); got.err == nil || !strings.Contains(got.err.Error(), "no node") {
		t.Errorf("without nodes: %v", got.err)
	}
}

// A unit that cannot be done ends the run, and says why; the others of its dispatch are done.
func TestBadUnit(t *testing.T) {
	t.Parallel()
	units := append(someUnits(30), []byte("bad"))
	got := runOn(t, newNodes(t), units, Options{AtOnce: 2})
	if got.err == nil || !strings.Contains(got.err.Error(), "it is bad") || !strings.Contains(got.err.Error(), "5 times") {
		t.Errorf("%v", got.err)
	}
	if len(got.results) != 30 {
		t.Errorf("%d of 30 are done", len(got.results))
	}
	large := make([]byte, 1<<20)
	for i := range large {
		large[i] = byte(i * i >> 3)
	}
	copy(large, "large")
	sum := 0
	for i := range large { // what does not fold
		sum = sum*1103515245 + 12345
		large[i] ^= byte(sum >> 16)
	}
	if got := runOn(t, newNodes(t), [][]byte{large}, Options{}); !errors.Is(got.err, ErrTooLarge) {
		t.Errorf("too large: %v", got.err)
	}
}

// Another build of the program is found out before anything is believed.
func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	payload, err := bundle{Program: "another", Inputs: someUnits(1)}.encode()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	done, err := Work(t.Context(), payload, folder, time.Now, func(context.Context, []byte) ([]byte, error) {
		t.Error("it works for another")
		return nil, nil
	})
	if err != nil || done != (Done{Refused: true}) {
		t.Fatalf("%+v, %v", done, err)
	}
	data, err := os.ReadFile(filepath.Join(folder, ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeReturned(data, bundle{Program: "another", Inputs: someUnits(1)}); !errors.Is(err, ErrProgram) {
		t.Errorf("%v", err)
	}
}

// Nothing runs: that is said, with the reason, now and then.
func TestNothingRuns(t *testing.T) {
	t.Parallel()
	n := newNodes(t)
	begun := 0
	n.wrong = func(_ int, s State, r []byte) (State, []byte, error) { return State{}, r, nil }
	n.refuses = func(call int) error {
		if begun++; begun == 100 {
			for id, s := range n.states {
				s.Ended, s.Allocation = true, &api.AllocationListStub{ID: id}
				n.states[id] = s
			}
			n.wrong = nil
		}
		return nil
	}
	got := runOn(t, n, someUnits(3), Options{})
	whole(t, got, 3)
	if len(got.said) == 0 || len(got.said) > 6 || !strings.Contains(got.said[0], "nothing runs: of 3 nodes 3 are excluded (raw_exec)") {
		t.Errorf("said %q", got.said)
	}
}

func TestJob(t *testing.T) {
	t.Parallel()
	j := Options{Job: "sweep", Program: "/bin/sim", Arguments: []string{"unit"}, CPUMHz: 500, MemoryMB: 100, NodePool: "batch", Artifact: "https://example.com/sim"}.job()
	task := j.TaskGroups[0].Tasks[0]
	if *j.Type != "batch" || j.ParameterizedJob.Payload != "required" || *j.NodePool != "batch" || task.Driver != "raw_exec" || *task.Artifacts[0].GetterSource != "https://example.com/sim" {
		t.Errorf("%+v", j)
	}
	if got := fmt.Sprint(task.Config["args"]); got != "[unit ${NOMAD_TASK_DIR}/payload ${NOMAD_ALLOC_DIR}/data]" {
		t.Errorf("arguments %s", got)
	}
}

func FuzzReturned(f *testing.F) {
	of := bundle{Program: "p", Inputs: [][]byte{[]byte("a")}}
	good, err := returned{Program: "p", Outcomes: []outcome{{Input: checksum([]byte("a")), Result: []byte("b")}}}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("\n{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		outcomes, err := decodeReturned(data, of)
		if err == nil && (len(outcomes) != 1 || outcomes[0].Input != checksum([]byte("a"))) {
			t.Errorf("%+v", outcomes)
		}
	})
}

func FuzzBundle(f *testing.F) {
	good, err := bundle{Program: "p", Inputs: someUnits(2)}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = decodeBundle(data) // it does not panic, and is bounded
	})
}
