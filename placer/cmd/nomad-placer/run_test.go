package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// cliTest is a command line with a Nomad without a scheduler's choices.
type cliTest struct {
	t     *testing.T
	nomad *nomadtest.Server
	began time.Time
}

// now is a clock that goes with the test Nomad's: its time begins in 1970 and
// goes on by a second per write.
func (c *cliTest) now() time.Time { return time.Unix(60, 0).Add(time.Since(c.began)) }

func newCLITest(t *testing.T) *cliTest {
	t.Helper()
	s := nomadtest.New(t)
	s.AutoPlace = true
	s.OnAlloc = func(a nomadtest.Object) { a["NodeName"] = "alpha" }
	s.AddNode(nomadtest.Node{ID: "11111111-0000-0000-0000-000000000001", Name: "alpha", Class: "fast", CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"raw_exec"}})
	c := &cliTest{t, s, time.Now()}
	s.Now = c.now
	world, err := (&nomadFlags{address: s.URL}).world()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.EnsureHoldPool(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// patience is the time of the tests, but for that to say what was waited for: how long an agent
// takes to fit its models depends on what else the machine does.
func patience(t *testing.T) time.Duration {
	if end, ok := t.Deadline(); ok {
		return time.Until(end) * 9 / 10
	}
	return time.Hour
}

// until waits for a condition that a goroutine brings about.
func (o *output) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience(t)); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s; the command printed:\n%s", what, o)
		}
	}
}

// output collects what a command prints; an agent prints from many goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start runs a command; its exit code arrives on the channel.
func (c *cliTest) start(ctx context.Context, args ...string) (*output, <-chan int) {
	out, code := &output{}, make(chan int, 1)
	s := &command.Shell{In: strings.NewReader(""), Out: out, Err: out, Now: c.now, After: time.After, Getenv: func(name string) string {
		return map[string]string{"NOMAD_ADDR": c.nomad.URL}[name]
	}}
	go func() { code <- nomadPlacer().Run(ctx, s, args) }()
	return out, code
}

func (c *cliTest) run(args ...string) (string, int) {
	c.t.Helper()
	out, code := c.start(c.t.Context(), append(args, "-address", c.nomad.URL)...)
	return out.wait(c.t, code)
}

func (o *output) wait(t *testing.T, code <-chan int) (string, int) {
	t.Helper()
	select {
	case n := <-code:
		return o.String(), n
	case <-time.After(patience(t)):
		t.Fatalf("the command does not end; it printed:\n%s", o)
		return "", 0
	}
}

// agent starts an agent and stops it with the test.
func (c *cliTest) agent(more ...string) (pages string) {
	c.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, code := c.start(ctx, append([]string{"agent", "-address", c.nomad.URL, "-listen", address, "-dashboard-url", "http://" + address}, more...)...)
	c.t.Cleanup(func() {
		cancel()
		if text, n := out.wait(c.t, code); n != command.ExitDone || !strings.Contains(text, "agent stopped") {
			c.t.Errorf("the agent ended with %d:\n%s", n, text)
		}
	})
	return "http://" + address
}

// jobFile writes the job web.
func (c *cliTest) jobFile(performance string) string {
	c.t.Helper()
	return c.jobFileOf("web", performance)
}

// jobFileOf writes a job in Nomad's JSON form with a performance text.
func (c *cliTest) jobFileOf(id, performance string) string {
	c.t.Helper()
	job := map[string]any{"Job": map[string]any{
		"ID": id, "Name": id, "Namespace": "default", "Type": "service", "Datacenters": []string{"*"},
		"TaskGroups": []any{map[string]any{
			"Name": "front", "Count": 1, "Meta": map[string]any{"performance": performance},
			"Tasks": []any{map[string]any{"Name": "server", "Driver": "raw_exec", "Resources": map[string]any{"CPU": 100, "MemoryMB": 64}}},
		}},
	}}
	data, err := json.Marshal(job)
	if err != nil {
		c.t.Fatal(err)
	}
	name := filepath.Join(c.t.TempDir(), id+".json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		c.t.Fatal(err)
	}
	return name
}

const unprofiled = "target {\n best_effort = true\n}\npolicy = \"least-loaded\"\nprofile {\n skip = true\n}\n"

// TestRunWithAnAgent: one agent has all these jobs, since each fits its models first.
func TestRunWithAnAgent(t *testing.T) {
	t.Parallel()
	c := newCLITest(t)
	pages := c.agent()
	t.Run("waits until the job is placed and runs", func(t *testing.T) { c.in(t).checkPlaced(pages) })
	t.Run("tells when stock Nomad places the job", func(t *testing.T) { c.in(t).checkStock() })
	t.Run("as JSON", func(t *testing.T) { c.in(t).checkJSON() })
}

// in is the same for a part of the test.
func (c *cliTest) in(t *testing.T) *cliTest { return &cliTest{t, c.nomad, c.began} }

func (c *cliTest) checkPlaced(pages string) {
	c.t.Helper()
	out, code := c.run("job", "run", "-verbose", c.jobFile(unprofiled))
	if code != command.ExitDone {
		c.t.Fatalf("exit %d:\n%s", code, out)
	}
	for _, want := range []string{"web / front  default  placed", "submitted default/web, version 0", "placed    front on alpha: best effort", "Job web runs: 1 allocation on alpha"} {
		if !strings.Contains(out, want) {
			c.t.Errorf("the output does not say %q:\n%s", want, out)
		}
	}
	if pool := c.nomad.Job("default", "web")["NodePool"]; pool != "default" {
		c.t.Errorf("the job ended in pool %v", pool)
	}
	c.checkAfterRun(pages)
}

// checkAfterRun reads the placed job through every way there is.
func (c *cliTest) checkAfterRun(pages string) {
	c.t.Helper()
	for _, from := range [][]string{nil, {"-placer-address", pages}} {
		out, code := c.run(append([]string{"job", "explain", "web"}, from...)...)
		if code != command.ExitDone || !strings.Contains(out, "web / front  default  placed") {
			c.t.Errorf("explain %v: exit %d:\n%s", from, code, out)
		}
		out, code = c.run(append([]string{"node", "list"}, from...)...)
		if code != command.ExitDone || !strings.Contains(out, "alpha") {
			c.t.Errorf("node list %v: exit %d:\n%s", from, code, out)
		}
	}
	for _, path := range []string{"/", "/job/default/web/front", "/healthz", "/chart/default/web/front.svg"} {
		request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, pages+path, nil)
		if err != nil {
			c.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			c.t.Errorf("%s: %s, %v", path, answer.Status, err)
		}
	}
	before := c.nomad.Job("default", "web")
	if out, code := c.run("job", "release", "web"); code != command.ExitDone || !strings.Contains(out, "is not held; nothing was changed") {
		c.t.Errorf("release of a placed job: exit %d: %s", code, out)
	}
	if after := c.nomad.Job("default", "web"); !reflect.DeepEqual(before, after) {
		c.t.Errorf("release changed a placed job:\n%v\n%v", before, after)
	}
	if out, code := c.run("job", "strip", "web"); code != command.ExitDone || !strings.Contains(out, "is stripped") {
		c.t.Errorf("strip: exit %d: %s", code, out)
	}
}

func (c *cliTest) checkStock() {
	c.t.Helper()
	file := c.jobFileOf("unready", "target {\n rate = 5\n}\nprobe \"log\" {\n pattern = \"n=([0-9]+)\"\n}\n")
	out, code := c.run("job", "run", file)
	if code != command.ExitStock || !strings.Contains(out, "left to stock Nomad") {
		c.t.Errorf("exit %d:\n%s", code, out)
	}
}

func (c *cliTest) checkJSON() {
	c.t.Helper()
	out, code := c.run("job", "run", "-json", c.jobFileOf("reported", unprofiled))
	var report runReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != command.ExitDone {
		c.t.Fatalf("exit %d, %v:\n%s", code, err, out)
	}
	if report.Running != 1 || len(report.Decisions) != 1 || report.Released != 1 {
		c.t.Errorf("got %+v", report)
	}
}

func TestWithoutAnAgentTheJobIsHeldAndCanBeReleased(t *testing.T) {
	t.Parallel()
	c := newCLITest(t)
	out, code := c.run("job", "run", "-detach", c.jobFile(unprofiled))
	if code != command.ExitDone || c.nomad.Job("default", "web")["NodePool"] != "placer" {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	out, code = c.run("job", "run", "-timeout", "1s", c.jobFile(unprofiled))
	if code != command.ExitFailed || !strings.Contains(out, "not running after 1s; the job goes on") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = c.run("job", "release", "web"); code != command.ExitDone || !strings.Contains(out, "is released") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = c.run("job", "release", "web"); code != command.ExitDone || !strings.Contains(out, "is not held; nothing was changed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = c.run("job", "release", "nothing"); code != command.ExitFailed {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestInterruptedRunLeavesTheJob(t *testing.T) {
	t.Parallel()
	c := newCLITest(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, code := c.start(ctx, "job", "run", "-address", c.nomad.URL, c.jobFile(unprofiled))
	out.until(t, "the submission", func() bool { return strings.Contains(out.String(), "submitted") })
	cancel()
	if text, n := out.wait(t, code); n != command.ExitInterrupted {
		t.Errorf("exit %d:\n%s", n, text)
	}
}

func TestRunEndsWhenTheJobIsStoppedOrReplaced(t *testing.T) {
	t.Parallel()
	c := newCLITest(t)
	out, code := c.start(t.Context(), "job", "run", "-address", c.nomad.URL, c.jobFile(unprofiled))
	out.until(t, "the submission", func() bool { return strings.Contains(out.String(), "submitted") })
	c.nomad.Stop("default", "web")
	if text, n := out.wait(t, code); n != command.ExitFailed || !strings.Contains(text, "stopped while it was held") {
		t.Errorf("exit %d:\n%s", n, text)
	}
}

func TestBadJobsAreNotSubmitted(t *testing.T) {
	t.Parallel()
	c := newCLITest(t)
	out, code := c.run("job", "run", c.jobFile("target {\n qps = -5\n}\n"))
	if code != command.ExitFailed || !strings.Contains(out, "error:") || len(c.nomad.JobIDs()) != 0 {
		t.Errorf("exit %d, jobs %v:\n%s", code, c.nomad.JobIDs(), out)
	}
}
