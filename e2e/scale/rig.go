package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

// options say what is run.
type options struct {
	bin    string // folder of nomad-placer and nomad
	placer string // the agent's binary; "" is the one in bin
	port   int
	nodes  int
	jobs   int // per round and side
	// allocations run before the first round, besides those of the system job.
	allocations int
	rounds      int
	writers     int
	seed        uint64
	pool        bool // the placer's jobs name the hold pool instead of passing the proxy
	// profile asks for a round more, with profiles of server and agent.
	profile  bool
	trouble  bool   // a phase more, in which nodes and the agent fail
	cpuTrace string // file for a CPU profile of the agent; "" for none
	// serverTrace is the file for a CPU profile of the server; "" for none.
	serverTrace string
	heap        string // file for a heap profile of the agent; "" for none
	// traceSeconds is how long the CPU profile lasts, from the first round on.
	traceSeconds int
}

// The times of starting.
const (
	joinPerNode  = 20 * time.Millisecond // bound, per light node
	joinAtLeast  = time.Minute
	leaderWithin = time.Minute
)

// rig is the running installation.
type rig struct {
	options options
	dir     string // logs and the node spec
	cluster *cluster.Cluster
	api     *api.Client
	world   *nomadapi.World
	store   store.Store
	nodes   *child
	nodesIn io.WriteCloser // what is to happen to light nodes
	agent   *agent
	front   *child // the proxy; nil: the placer's jobs name the hold pool
	// loadBefore is the machine's load averages before anything was started.
	loadBefore string

	frontAPI *api.Client // through the proxy

	children []*child // in the order of their start
	ran      *runningBoard
	asked    *ledger
	joined   chan int // nodes ready so far
	problems problems
}

// problems are what light nodes complained of.
type problems struct {
	mu    sync.Mutex
	count int
	first string
}

func (p *problems) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == 0 {
		p.first = text
	}
	p.count++
}

func (p *problems) get() (int, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, p.first
}

// startRig starts the server and the light nodes; the agent comes later. On
// failure nothing is left.
func startRig(ctx context.Context, o options, say func(string)) (*rig, error) {
	// A bare name would be looked for on PATH.
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	o.bin = bin
	dir, err := os.MkdirTemp("", "placer-scale-")
	if err != nil {
		return nil, err
	}
	r := &rig{options: o, dir: dir, loadBefore: machine.LoadAverages(), ran: newRunningBoard(), asked: newLedger(), joined: make(chan int, 1)}
	if err := r.start(ctx, say); err != nil {
		return nil, errors.Join(err, r.stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *rig) start(ctx context.Context, say func(string)) error {
	say("starting a Nomad server")
	var err error
	r.cluster, err = cluster.Start(ctx, cluster.Config{RunID: fmt.Sprintf("scale-%d", os.Getpid()), BasePort: r.options.port, ServerOnly: true, LogLevel: "WARN", ServerHCL: r.debugHCL()})
	if err != nil {
		return err
	}
	r.api = r.cluster.API()
	decode := func(text, file string) (performance.Spec, []string, error) {
		return hcl.Options{Policies: policy.Names()}.Decode([]byte(text), file)
	}
	if r.world, err = nomadapi.New(nomadapi.Options{Address: r.cluster.Addr(), Decode: decode}); err != nil {
		return err
	}
	if r.store, err = nomadvars.New(r.api, nomadvars.Options{}); err != nil {
		return err
	}
	say(fmt.Sprintf("joining %d light nodes", r.options.nodes))
	return r.startNodes(ctx)
}

// debugHCL lets the server serve its profiles where one is wanted.
func (r *rig) debugHCL() string {
	if r.options.serverTrace == "" && !r.options.profile {
		return ""
	}
	return "enable_debug = true\n"
}

func (r *rig) startNodes(ctx context.Context) error {
	spec := filepath.Join(r.dir, "nodes.json")
	if err := nodesOf(r.options.nodes, r.options.seed).write(spec); err != nil {
		return err
	}
	binary, err := buildLightNodes(ctx, r.options.bin)
	if err != nil {
		return err
	}
	commands, commandsTo, err := os.Pipe()
	if err != nil {
		return err
	}
	defer commands.Close() // the child has its own
	r.nodesIn = commandsTo
	read, write := io.Pipe()
	rpc := net.JoinHostPort("127.0.0.1", fmt.Sprint(r.options.port+1))
	if r.nodes, err = r.startChild("light nodes", commands, write, nil, binary, "-server", rpc, "-spec", spec); err != nil {
		return err
	}
	go r.listen(read)
	limit := time.After(max(joinAtLeast, joinPerNode*time.Duration(r.options.nodes)))
	for {
		select {
		case ready := <-r.joined:
			if ready == r.options.nodes {
				return nil
			}
		case <-r.nodes.done:
			return fmt.Errorf("the light nodes ended: %w", r.nodes.err)
		case <-limit:
			n, first := r.problems.get()
			return fmt.Errorf("the light nodes did not join in time (%d problems, the first: %s)", n, first)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// buildLightNodes builds the tool from the test-only module, with the flags of
// bin/nomad, so that it shares what was compiled for that.
func buildLightNodes(ctx context.Context, bin string) (string, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return "", err
	}
	out := filepath.Join(bin, "lightnodes")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", filepath.Join(filepath.Dir(bin), "e2e", "nomad"), "-tags", "ui", "-trimpath", "-o", out, "./lightnodes")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, text)
	}
	return out, nil
}

// nodeEvent is a line that the light nodes print.
type nodeEvent struct {
	Kind       string
	At         time.Time
	Nodes      int
	Node       string
	Job        string
	Allocation string
	Problem    string
}

func (r *rig) listen(lines io.Reader) {
	s := bufio.NewScanner(lines)
	for s.Scan() {
		var e nodeEvent
		if json.Unmarshal(s.Bytes(), &e) != nil {
			r.problems.add("unreadable line: " + s.Text())
			continue
		}
		switch e.Kind {
		case "ready":
			select { // only the newest count matters
			case <-r.joined:
			default:
			}
			r.joined <- e.Nodes
		case "running":
			r.ran.put(e.Allocation, e.Job, e.Node, e.At)
		case "complete":
			r.ran.ended(e.Allocation)
		case "problem":
			r.problems.add(e.Node + ": " + e.Problem)
		}
	}
}

// The memory limits of agents: collected memory goes back before an agent outgrows its
// reservation. The installed one is what the jobs in examples/install have, the large one
// what they say is for more nodes.
const (
	installedMemoryLimit = "115MiB"
	largeMemoryLimit     = "190MiB"
)

// memoryLimitOf is what an operator gives the agents of a cluster of a size.
func memoryLimitOf(nodes int) string {
	if nodes <= largestInstalled {
		return installedMemoryLimit
	}
	return largeMemoryLimit
}

// agent is one of the placer's.
type agent struct {
	*child
	address string // host:port of its pages
	pprof   string // host:port where it serves profiles; "" without
}

// startAgent starts an agent that may lead.
func (r *rig) startAgent(name string, port int) (*agent, error) {
	a := &agent{address: loopback(port)}
	argv := []string{
		cmp.Or(r.options.placer, filepath.Join(r.options.bin, "nomad-placer")), "agent", "-address", r.cluster.Addr(),
		"-listen", a.address, "-log-level", "info",
	}
	if r.options.cpuTrace != "" || r.options.heap != "" || r.options.profile {
		a.pprof = loopback(port + 1)
		argv = append(argv, "-pprof", a.pprof)
	}
	var err error
	a.child, err = r.startChild(name, nil, nil, []string{"GOMEMLIMIT=" + memoryLimitOf(r.options.nodes)}, argv...)
	return a, err
}

// startLeader starts the agent that is measured and waits until it leads.
func (r *rig) startLeader(ctx context.Context) error {
	var err error
	if r.agent, err = r.startAgent("agent", r.options.port+5); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaderWithin)
	defer cancel()
	for {
		leader, err := r.world.Leader(ctx)
		if err == nil && leader.Address != "" {
			return nil
		}
		if !r.agent.running() {
			return fmt.Errorf("the agent ended: %w; see %s", r.agent.err, r.dir)
		}
		if cluster.Sleep(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("no placer agent took the lead: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// startFront starts the proxy and waits until it answers.
func (r *rig) startFront(ctx context.Context) error {
	address := loopback(r.options.port + 7)
	var err error
	r.front, err = r.startChild("proxy", nil, nil, nil,
		cmp.Or(r.options.placer, filepath.Join(r.options.bin, "nomad-placer")), "proxy", "-address", r.cluster.Addr(), "-listen", address)
	if err != nil {
		return err
	}
	if r.frontAPI, err = api.NewClient(&api.Config{Address: "http://" + address}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaderWithin)
	defer cancel()
	for {
		_, err := r.frontAPI.Status().Leader()
		if err == nil {
			return nil
		}
		if !r.front.running() {
			return fmt.Errorf("the proxy ended: %w; see %s", r.front.err, r.dir)
		}
		if cluster.Sleep(ctx, 100*time.Millisecond) != nil {
			return fmt.Errorf("the proxy does not answer: %w", errors.Join(ctx.Err(), err))
		}
	}
}

// startChild starts a program whose log is kept in the rig's folder; it ends with the rig.
func (r *rig) startChild(name string, in *os.File, out io.Writer, env []string, argv ...string) (*child, error) {
	c, err := startChild(name, in, out, filepath.Join(r.dir, strings.ReplaceAll(name, " ", "-")+".log"), env, argv...)
	if err != nil {
		return nil, err
	}
	r.children = append(r.children, c)
	return c, nil
}

// createHoldPool is what an operator does before the agent runs.
func (r *rig) createHoldPool() error {
	_, err := r.api.NodePools().Register(&api.NodePool{Name: nomadapi.DefaultHoldPool}, nil)
	return err
}

// stop ends everything and removes the run's files.
func (r *rig) stop(ctx context.Context) error {
	var errs []error
	for _, c := range slices.Backward(r.children) {
		errs = append(errs, c.stop())
	}
	if r.nodesIn != nil {
		errs = append(errs, r.nodesIn.Close())
	}
	if r.cluster != nil {
		errs = append(errs, r.cluster.Stop(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return err // the logs are kept
	}
	return os.RemoveAll(r.dir)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
