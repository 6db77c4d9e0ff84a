package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/e2e/authority"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
)

// The ports of a site, counted from the cluster's first.
const (
	rpcRelayPort   = 90
	proxyRelayPort = 91
	proxyPort      = 92
)

// Bounds of one request and of starting.
const (
	requestWithin = 15 * time.Second
	startWithin   = 2 * time.Minute
)

// What the peers of the relays are called, besides the clients' names.
const proxyPeer = "proxy"

// agentConfig makes the agents say each step of an evaluation.
const agentConfig = `
log_level = "debug"
hold      = "30s"

pools {
  hold = "placer"
  run  = "default"
}

profile {
  seconds     = 5
  concurrency = 2
}
`

// site is the installation under test.
type site struct {
	*rig.Rig
	options     options
	dir         string // logs of the proxy, job files
	rpc         *relay // between clients and server
	http        *relay // between the proxy and Nomad
	front       *api.Client
	nomad       *api.Client            // bounded in time, unlike the rig's
	perClient   map[string]*api.Client // the clients' own APIs
	certificate authority.Pair         // of the proxy

	mu       sync.Mutex
	proxy    *exec.Cmd
	ended    chan struct{}
	pids     []int // of the clients' agents, for the relay
	hampers  map[string]int
	breaks   map[string]*breaks // by client
	lostPIDs map[int]bool       // task processes that Nomad does not know of
}

func clientsOf(n int) []cluster.Client {
	var out []cluster.Client
	for i, name := range []string{"one", "two", "three"}[:n] {
		out = append(out, cluster.Client{
			// As many as the jobs need: what counts here is no speed.
			Name: name, Class: string(rune('a' + i)), CPUMHz: 6000, MemoryMB: 6000, DataMB: 4096,
		})
	}
	return append(out, cluster.Client{Name: spareClient, Datacenter: spareDatacenter, Class: "spare", CPUMHz: 6000, MemoryMB: 6000, DataMB: 4096})
}

// The spare client is in a datacenter of its own, which no user's job names: there is always a
// node that a job can be moved to. It is neither cut off nor drained.
const (
	spareClient     = "spare"
	spareDatacenter = "dc2"
)

// startSite starts everything; on failure nothing is left.
func startSite(ctx context.Context, o options) (*site, error) {
	dir, err := os.MkdirTemp("", "placer-chaos-")
	if err != nil {
		return nil, err
	}
	s := &site{options: o, dir: dir, hampers: map[string]int{}, breaks: map[string]*breaks{}, lostPIDs: map[int]bool{}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *site) start(ctx context.Context) (err error) {
	if s.rpc, err = newRelay(s.options.port+rpcRelayPort, loopback(s.options.port+1), s.clientOf); err != nil {
		return err
	}
	if s.http, err = newRelay(s.options.port+proxyRelayPort, loopback(s.options.port), func(int) string { return proxyPeer }); err != nil {
		return err
	}
	s.Rig, err = rig.Start(ctx, rig.Options{
		Bin: s.options.bin, BasePort: s.options.port, RunID: runID, Clients: clientsOf(s.options.clients),
		RPCPort: s.options.port + rpcRelayPort, AgentConfig: agentConfig, TLS: true, Signed: true, DriverConfig: `max_duration = "3h"`,
	})
	if err != nil {
		return err
	}
	s.lookAtClients()
	if s.front, err = s.client(s.frontAddress()); err != nil {
		return err
	}
	if s.certificate, err = s.Authority().Issue("proxy", "proxy"); err != nil {
		return err
	}
	if s.nomad, err = s.client(s.Addr()); err != nil {
		return err
	}
	s.perClient = map[string]*api.Client{}
	for i := range s.Clients() {
		if s.perClient[s.Client(i).Name], err = s.client(s.Client(i).Addr); err != nil {
			return err
		}
	}
	if err := s.InstallPlacer(ctx); err != nil {
		return err
	}
	return s.startProxy(ctx)
}

// client is one of Nomad's API whose requests are bounded in time.
func (s *site) client(address string) (*api.Client, error) {
	bounded := &http.Client{Timeout: requestWithin, Transport: &http.Transport{MaxIdleConnsPerHost: 8, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}}
	if err := api.ConfigureTLS(bounded, s.TLS()); err != nil {
		return nil, err
	}
	return api.NewClient(&api.Config{Address: address, SecretID: s.Token(), HttpClient: bounded})
}

// frontAddress is the proxy's.
func (s *site) frontAddress() string { return "https://" + loopback(s.options.port+proxyPort) }

// lookAtClients notes the clients' processes for the relay.
func (s *site) lookAtClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pids = s.pids[:0]
	for i := range s.Clients() {
		s.pids = append(s.pids, s.ClientPID(i))
	}
}

// clientOf is the client whose agent has a local port.
func (s *site) clientOf(port int) string {
	s.mu.Lock()
	pids := slices.Clone(s.pids)
	s.mu.Unlock()
	for i, pid := range pids {
		if ownsPort(pid, port) {
			return clientsOf(s.options.clients)[i].Name
		}
	}
	return ""
}

// startProxy starts the proxy and waits until it answers.
func (s *site) startProxy(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "proxy.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(s.options.bin, "nomad-placer"), "proxy", "-listen", loopback(s.options.port+proxyPort),
		"-tls-cert-file", s.certificate.Cert, "-tls-key-file", s.certificate.Key)
	cmd.Env = append(s.Env(os.Environ()), "NOMAD_ADDR=https://"+loopback(s.options.port+proxyRelayPort))
	cmd.Stdout, cmd.Stderr = log, log
	// It dies with us, as the cluster does.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The death signal comes when the thread that started it ends.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed on purpose
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	s.mu.Lock()
	s.proxy, s.ended = cmd, ended
	s.mu.Unlock()
	return waitFor(ctx, "the proxy", startWithin, func() bool {
		_, err := s.front.Status().Leader()
		return err == nil
	})
}

// stop ends everything and takes the logs away unless they are wanted.
func (s *site) stop(ctx context.Context) error {
	var errs []error
	if s.proxy != nil {
		errs = append(errs, ignoreDone(s.proxy.Process.Kill()))
		<-s.ended
	}
	if s.Rig != nil {
		errs = append(errs, s.Stop(ctx))
	}
	for _, r := range []*relay{s.rpc, s.http} {
		if r != nil {
			errs = append(errs, r.close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

func ignoreDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// program is the argument vector of a process; nil where it is gone.
func program(pid int) []string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// processes lists those of a program on a client whose first argument is a role.
func (s *site) processes(client int, name, role string) []int {
	pids, err := s.Processes(client)
	if err != nil {
		return nil // the client is between two lives
	}
	var out []int
	for _, pid := range pids {
		argv := program(pid)
		if len(argv) == 0 || filepath.Base(argv[0]) != name {
			continue
		}
		if role == "" && len(argv) == 1 || role != "" && len(argv) > 1 && argv[1] == role {
			out = append(out, pid)
		}
	}
	return out
}

const (
	driverProgram = "nomad-driver-ibench"
	placerProgram = "nomad-placer"
)

// agents lists the placer's agents by the name of their client.
func (s *site) agents() map[string]int {
	out := map[string]int{}
	for i := range s.Clients() {
		if pids := s.processes(i, placerProgram, "agent"); len(pids) > 0 {
			out[s.Client(i).Name] = pids[0]
		}
	}
	return out
}

// hamper notes that a client's agent cannot do its work, or can again.
func (s *site) hamper(client string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hampers[client] += by
}

// able lists, by their clients, the agents that nothing keeps from releasing jobs: their
// client is not broken, and answers with what a server says.
func (s *site) able(ctx context.Context) map[string]int {
	out := s.agents()
	s.mu.Lock()
	maps.DeleteFunc(out, func(client string, _ int) bool { return s.hampers[client] > 0 })
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	for client := range maps.Clone(out) {
		asked.Go(func() {
			var leader string
			if _, err := s.perClient[client].Raw().Query("/v1/status/leader", &leader, (&api.QueryOptions{}).WithContext(ctx)); err != nil {
				mu.Lock()
				defer mu.Unlock()
				delete(out, client)
			}
		})
	}
	asked.Wait()
	return out
}

// answerWithin is how long a client may take to ask a server something.
const answerWithin = 2 * time.Second

// taskProcesses counts, by allocation, the processes that Nomad has started for main
// tasks: those whose parent is of no allocation. Those that it has lost do not count.
func (s *site) taskProcesses() map[string]int {
	out := map[string]int{}
	for i := range s.Clients() {
		pids, err := s.Processes(i)
		if err != nil {
			continue // the next look tells
		}
		found := mainProcesses(pids)
		s.noteLost(s.Client(i).Name, found)
		s.mu.Lock()
		for _, p := range found {
			if !s.lostPIDs[p.pid] {
				out[p.alloc]++
			}
		}
		s.mu.Unlock()
	}
	return out
}

// environment is a variable that a process was started with.
func environment(pid int, name string) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// parentOf reads the fourth field of a process's stat; the second, its name, ends with
// the last bracket. 0 where the process is gone.
func parentOf(pid int) int {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// left is what of the driver is on a client: processes, control groups, mounts, files.
func (s *site) left(client int) []string {
	var out []string
	name := s.Client(client).Name
	for _, role := range []string{"task", "kernel"} {
		if pids := s.processes(client, driverProgram, role); len(pids) > 0 {
			out = append(out, fmt.Sprintf("%s: %s processes %v", name, role, pids))
		}
	}
	for _, controller := range []string{"cpuset", "cpu", "memory", "freezer"} {
		tasks := s.TaskGroup(client, controller)
		for _, dir := range []string{filepath.Dir(tasks), tasks} {
			found, err := filepath.Glob(filepath.Join(dir, executor.GroupPrefix+"*"))
			if err != nil || len(found) > 0 {
				out = append(out, fmt.Sprintf("%s: control groups %v", name, found))
			}
		}
	}
	folder := filepath.Join(cluster.DefaultDir(), runID, name, "ibench")
	if entries, err := os.ReadDir(folder); err == nil && len(entries) > 0 {
		out = append(out, fmt.Sprintf("%s: files %v in %s", name, entries, folder))
	}
	for _, pid := range s.processes(client, driverProgram, "") {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "mountinfo"))
		if err == nil && bytes.Contains(text, []byte(folder)) {
			out = append(out, name+": mounts below "+folder)
		}
	}
	return out
}

// waitFor polls until ok, a bound or the context's end.
func waitFor(ctx context.Context, what string, within time.Duration, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for !ok() {
		if cluster.Sleep(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
	return nil
}
