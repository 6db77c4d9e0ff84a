package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// maxBody bounds an answer over HTTP: the probes bound theirs at the same size.
const maxBody = 4 << 20

// seen is the main process of a task that was seen running.
type seen struct {
	pid     int
	started time.Time
}

// ErrEndUnknown means a task has ended, and how it did was not heard.
var ErrEndUnknown = errors.New("the task has ended; only Nomad knows how")

// Reach gets at the workload from its own node. It is used by one goroutine.
type Reach struct {
	Procs   Proc
	AllocID string
	Logs    Logs
	Env     map[string]string // of the ibench task: it holds the allocation's ports
	Event   cgroup.Event      // what a probe of instructions counts

	exits    *exits                     // nil where ends are not listened for
	seen     map[string]seen            // tasks seen running, to tell "ended" from "not yet"
	counters map[string]*cgroup.Counter // by task; they end with this process
}

var _ probe.Reach = (*Reach)(nil)

// HTTPGet fetches a page from a port of the allocation: at the address Nomad
// gives the tasks, or, where the group has a network namespace of its own,
// from inside that.
func (r *Reach) HTTPGet(ctx context.Context, portLabel, path string) ([]byte, error) {
	address, err := r.address(portLabel)
	if err != nil {
		return nil, err
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: r.dial},
		CheckRedirect: noRedirect,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/"+strings.TrimPrefix(path, "/"), nil)
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", portLabel, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", portLabel, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", portLabel, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("port %q: %s answered %s", portLabel, path, response.Status)
	}
	return body, nil
}

// noRedirect: the page is the workload's, and what it points at may be for the host only.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// dial connects from this process's network; where that is refused and the
// allocation has a network namespace of its own, from inside it.
func (r *Reach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	space, found := r.networkNamespace()
	if !found {
		return nil, err
	}
	defer space.Close()
	return dialInside(ctx, int(space.Fd()), network, address)
}

// networkNamespace opens the network namespace of any process of the
// allocation that has another one than this process.
func (r *Reach) networkNamespace() (*os.File, bool) {
	all, err := r.Procs.scan()
	if err != nil {
		return nil, false
	}
	for pid := range all {
		if r.Procs.sharesNamespace(pid, "net") || !r.Procs.ofAllocation(pid, r.AllocID) {
			continue
		}
		if f, err := os.Open(r.Procs.file(pid, "ns/net")); err == nil {
			return f, true
		}
	}
	return nil, false
}

// dialInside connects from a network namespace. A socket stays in the namespace
// it was made in.
func dialInside(ctx context.Context, namespace int, network, address string) (conn net.Conn, err error) {
	onDiscardedThread(func() {
		if err = unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("enter the network namespace: %w", err)
			return
		}
		// The address is a literal IP, so the dialer starts no goroutine.
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
	})
	return conn, err
}

// address looks a port label up in the environment. Nomad replaces what a
// variable name cannot hold by an underscore. NOMAD_HOST_ADDR is the address
// on the host, which differs from NOMAD_ADDR behind port mapping.
func (r *Reach) address(label string) (string, error) {
	clean := strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, label)
	for _, name := range []string{"NOMAD_HOST_ADDR_" + label, "NOMAD_HOST_ADDR_" + clean, "NOMAD_ADDR_" + label, "NOMAD_ADDR_" + clean} {
		if address := r.Env[name]; address != "" {
			if _, _, err := net.SplitHostPort(address); err != nil {
				return "", fmt.Errorf("port %q: %w", label, err)
			}
			return address, nil
		}
	}
	return "", fmt.Errorf("the group has no port labelled %q; it has: %s", label, r.portLabels())
}

func (r *Reach) portLabels() string {
	var labels []string
	for name := range r.Env {
		if label, ok := strings.CutPrefix(name, "NOMAD_HOST_PORT_"); ok {
			labels = append(labels, label)
		}
	}
	if len(labels) == 0 {
		return "none"
	}
	slices.Sort(labels)
	return strings.Join(labels, ", ")
}

// ReadLog reads the collected log of a task.
func (r *Reach) ReadLog(_ context.Context, task, stream string, offset int64, limit int) ([]byte, int64, error) {
	return r.Logs.Read(task, stream, offset, limit)
}

// Exec runs a command as the task's main process would.
func (r *Reach) Exec(ctx context.Context, task string, argv []string) ([]byte, error) {
	pids, err := r.Procs.Find(TaskID{r.AllocID, task})
	if err != nil {
		return nil, err
	}
	return execAs(ctx, r.Procs, pids[0], r.environ(pids[0], task), argv)
}

// environ is the environment for a command in a task: the one of its main
// process or, where that has overwritten it, this task's with the other name.
func (r *Reach) environ(pid int, task string) []string {
	env := r.Procs.environ(pid)
	if env["NOMAD_TASK_NAME"] == "" {
		env = maps.Clone(r.Env)
		env["NOMAD_TASK_NAME"] = task
	}
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// Status says whether the task runs, and how its main process ended.
func (r *Reach) Status(_ context.Context, task string) (probe.Status, error) {
	pids, err := r.Procs.Find(TaskID{r.AllocID, task})
	if errors.Is(err, ErrNoProcess) {
		return r.ended(task)
	}
	if err != nil {
		return probe.Status{}, err
	}
	started, err := r.Procs.Started(pids[0], profiler.SystemClock{}.Now())
	if err != nil {
		return probe.Status{}, err
	}
	if r.seen == nil {
		r.seen = map[string]seen{}
	}
	r.seen[task] = seen{pids[0], started}
	return probe.Status{Running: true, StartedAt: started}, nil
}

// ended is the status of a task without a process: one that was never seen has
// not started, and its status is empty.
func (r *Reach) ended(task string) (probe.Status, error) {
	last, ok := r.seen[task]
	if !ok {
		return probe.Status{}, nil
	}
	end, ok := r.exits.of(last.pid)
	if !ok {
		return probe.Status{}, fmt.Errorf("task %q: %w", task, ErrEndUnknown)
	}
	return probe.Status{StartedAt: last.started, FinishedAt: end.at, ExitCode: end.code}, nil
}

// Started is when a process started, to a hundredth of a second, now being the time. The boot time in
// /proc/stat would be up to a second off.
func (p Proc) Started(pid int, now time.Time) (time.Time, error) {
	ticks, err := p.StartTicks(pid)
	if err != nil {
		return time.Time{}, err
	}
	data, err := os.ReadFile(filepath.Join(p.Root, "uptime"))
	if err != nil {
		return time.Time{}, fmt.Errorf("time since boot: %w", err)
	}
	var uptimeSeconds float64
	if _, err := fmt.Sscan(string(data), &uptimeSeconds); err != nil {
		return time.Time{}, fmt.Errorf("time since boot: %w", err)
	}
	return now.Add(time.Duration(ticks)*clockTick - time.Duration(uptimeSeconds*float64(time.Second))), nil
}
