package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/certificate"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// proxyFlags configure the proxy.
type proxyFlags struct {
	from      recordFlags
	listen    string
	cert, key string
	wait      time.Duration
	takenUp   time.Duration
	progress  bool
	agent     string
	link      agentLink
	requests  int
	logLevel  string
	logJSON   bool
}

func proxyCommand() *command.Command {
	return &command.Command{
		Name: "proxy", Synopsis: "Run a proxy in front of Nomad's API",
		About: "Serves Nomad's API and web UI at another address. Jobs with a performance block that are submitted there are held until they are placed, however they are submitted: `nomad job run`, an API client or the UI; `nomad job run` shows the progress, and then the released version and its exit code. A job whose workloads are all profiled is decided on first and registered once, as it will run. Plans show the placer's decision. The UI's job and client pages get a Placement tab. Everything else passes through unchanged.\n\n" +
			"A job that no agent takes up is released under stock rules. Requests carry their own tokens; the proxy's token reads the placer's records and, for plans, the cluster.",
		Example: "nomad-placer proxy -listen 127.0.0.1:4656",
		Setup: func(f *flag.FlagSet) command.Runner {
			p := &proxyFlags{}
			p.from.add(f)
			p.from.addPools(f)
			f.StringVar(&p.listen, "listen", "127.0.0.1:4656", "Serve at this `host:port`.")
			f.StringVar(&p.cert, "tls-cert-file", "", "Serve HTTPS with this certificate `file`. It is read again when it changes, and on SIGHUP.")
			f.StringVar(&p.key, "tls-key-file", "", "Private key `file` of the certificate.")
			f.DurationVar(&p.wait, "wait", proxy.DefaultWait, "Delay an answer at most this long; the job goes on.")
			f.DurationVar(&p.takenUp, "taken-up-within", proxy.DefaultTakenUpWithin, "Release a held job under stock rules when no agent takes it up in this time.")
			f.BoolVar(&p.progress, "progress", true, "Answer the registration of a held job at once and report its progress as the status of its evaluation, which \"nomad job run\" prints. With -progress=false the answer is delayed until the job is released.")
			f.StringVar(&p.agent, "dashboard", "", "The agent's pages, served at /placer/ and shown in the UI's placement tab: a `URL`. Else those of the leading agent.")
			p.link.add(f)
			f.IntVar(&p.requests, "max-requests", 0, "Pass at most this `number` of requests at once to Nomad, and answer the rest with 429. Nomad counts the proxy as one client, of which it takes 100 connections (http_max_conns_per_client) unless set otherwise; a lower number here leaves some for other programs on this host. 0 is no limit.")
			f.StringVar(&p.logLevel, "log-level", "info", "Least `level` logged: trace, debug, info, warn or error.")
			f.BoolVar(&p.logJSON, "log-json", false, "Log as JSON.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return p.run(ctx, s) }
		},
	}
}

func (p *proxyFlags) run(ctx context.Context, s *command.Shell) error {
	if p.requests < 0 {
		return command.UsageError("-max-requests takes a number from 0 on")
	}
	if (p.cert == "") != (p.key == "") {
		return command.UsageError("-tls-cert-file and -tls-key-file go together")
	}
	log, err := newLog(s, p.logLevel, p.logJSON)
	if err != nil {
		return err
	}
	front, nomad, err := p.front(ctx, s, log)
	if err != nil {
		return err
	}
	defer front.Close()
	listener, err := net.Listen("tcp", p.listen)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	if p.cert != "" {
		secure, err := certificate.NewServer(certificate.Files{Cert: p.cert, Key: p.key}, s.Now, log)
		if err != nil {
			return errors.Join(fmt.Errorf("proxy: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, secure.Config())
		hangup, stop := context.WithCancel(ctx)
		defer stop()
		go func() { _ = onHangup(hangup, log, secure.Reload) }() // it ends with the proxy
	}
	log.Info("nomad-placer proxy started", "version", command.Version, "listen", listener.Addr().String(), "nomad", nomad.String(),
		"hold_pool", p.from.holdPool, "run_pool", p.from.runPool)
	return p.serve(ctx, listener, front, log)
}

// idleLimit is how long a client's connection is kept between two requests.
const idleLimit = 2 * time.Minute

// serve answers until ctx ends, and then lets answers under way end.
func (p *proxyFlags) serve(ctx context.Context, listener net.Listener, front http.Handler, log *slog.Logger) error {
	server := &http.Server{Handler: front, ReadHeaderTimeout: readLimit, IdleTimeout: idleLimit, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("proxy: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	// Streams do not end by themselves.
	if err := server.Shutdown(grace); errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	} else if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}

// front is the proxy, which looks again at the jobs that it released until ctx ends.
func (p *proxyFlags) front(ctx context.Context, s *command.Shell, log *slog.Logger) (*proxy.Proxy, *url.URL, error) {
	config := api.DefaultConfig()
	p.from.configure(config)
	nomad, err := url.Parse(config.Address)
	if err != nil || nomad.Host == "" && nomad.Scheme != "unix" {
		return nil, nil, command.UsageError("Nomad's address %q is not a URL like http://127.0.0.1:4646", config.Address)
	}
	transport, err := nomadTransport(config, nomad, s.Now, log)
	if err != nil {
		return nil, nil, err
	}
	opened, err := p.from.open(s)
	if err != nil {
		return nil, nil, err
	}
	records, ok := opened.(engineRecords)
	if !ok {
		return nil, nil, command.UsageError("a proxy needs Nomad itself: leave out -placer-address and NOMAD_PLACER_ADDR")
	}
	world, err := p.from.world()
	if err != nil {
		return nil, nil, err
	}
	l := &leader{read: world.Leader, loopback: ownLoopback(), log: log}
	find, err := p.pages(l)
	if err != nil {
		return nil, nil, err
	}
	secure, err := p.link.config()
	if err != nil {
		return nil, nil, err
	}
	toAgent := agentTransport(secure, log)
	front, err := proxy.New(proxy.Options{
		Nomad: nomad, Transport: transport, Placer: proxiedPlacer{records, world, p.from.holdPool, p.from.runPool, find, l.instance, agentClient(toAgent)},
		HoldPool: p.from.holdPool, RunPool: p.from.runPool,
		Name: rand.Text(), Region: regionOf(config.Region, world), Records: find, ToAgent: toAgent, AgentToken: world.Token, MaxRequests: p.requests, TakenUpWithin: p.takenUp, Wait: p.wait, Progress: p.progress, Clock: clock{s}, Log: log,
	})
	if err == nil {
		go world.Confirm(ctx)
	}
	return front, nomad, err
}

// regionOf is the region that was named, or that of the Nomad behind the proxy, which
// does not change.
func regionOf(named string, world *nomadapi.World) func(context.Context) (string, error) {
	var mu sync.Mutex
	found := named
	return func(ctx context.Context) (region string, err error) {
		mu.Lock()
		defer mu.Unlock()
		if found == "" {
			found, err = world.Region(ctx)
		}
		return found, err
	}
}

// leaderFor is how long the address of the leading agent is used before it is read
// again.
const leaderFor = 5 * time.Second

// pages finds the agent's pages: those that were named, or the leader's.
func (p *proxyFlags) pages(l *leader) (func(context.Context) (*url.URL, error), error) {
	if p.agent != "" {
		named, err := pagesURL(p.agent)
		if err != nil {
			return nil, command.UsageError("-dashboard: %s", err)
		}
		return func(context.Context) (*url.URL, error) { return named, nil }, nil
	}
	return l.pages, nil
}

func pagesURL(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%q is not a URL like http://127.0.0.1:9464", address)
	}
	return u, nil
}

// leader knows the leading agent for a while.
type leader struct {
	read     func(context.Context) (nomadapi.Leader, error)
	loopback string // the network that this process is in
	log      *slog.Logger
	once     sync.Once

	mu    sync.Mutex
	said  nomadapi.Leader
	until time.Time
}

// now is what the leader says of itself.
func (l *leader) now(ctx context.Context) (nomadapi.Leader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Now().Before(l.until) {
		return l.said, nil
	}
	said, err := l.read(ctx)
	if err != nil {
		return nomadapi.Leader{}, err
	}
	l.said, l.until = said, time.Now().Add(leaderFor)
	return said, nil
}

func (l *leader) pages(ctx context.Context) (*url.URL, error) {
	said, err := l.now(ctx)
	if err != nil {
		return nil, err
	}
	found, err := l.locate(said)
	if errors.Is(err, errOtherLoopback) {
		l.once.Do(func() {
			l.log.Warn("the leading agent is not asked; jobs are held instead of decided on before", "reason", err)
		})
	}
	return found, err
}

// errOtherLoopback: whoever listens there on this host is somebody else.
var errOtherLoopback = errors.New("it is an address of the leading agent's own host; give the agents a -dashboard-url that this host reaches")

// instance is the word that the leader's answers repeat; empty where none leads.
func (l *leader) instance(ctx context.Context) (string, error) {
	said, err := l.now(ctx)
	return said.Instance, err
}

// locate is where the pages of a leading agent are, as seen from here.
func (l *leader) locate(said nomadapi.Leader) (*url.URL, error) {
	address := said.Address
	if address == "" {
		return nil, errors.New("no agent of nomad-placer leads; is its job running?")
	}
	if onLoopback(address) && (said.Loopback == "" || said.Loopback != l.loopback) {
		return nil, fmt.Errorf("%s: %w", address, errOtherLoopback)
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address // an agent without -dashboard-url gives where it listens
	}
	found, err := pagesURL(address)
	if err != nil {
		return nil, fmt.Errorf("the leading agent's address: %w", err)
	}
	return found, nil
}

// nomadTransport reaches Nomad with the certificates of its environment; nil where
// there is nothing to configure.
func nomadTransport(config *api.Config, nomad *url.URL, now func() time.Time, log *slog.Logger) (http.RoundTripper, error) {
	if nomad.Scheme != "https" {
		return nil, nil
	}
	remake := func() (*http.Transport, error) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.Proxy = nil
		proxy.Tune(transport)
		if err := api.ConfigureTLS(&http.Client{Transport: transport}, config.TLSConfig); err != nil {
			return nil, fmt.Errorf("certificates for Nomad: %w", err)
		}
		return transport, nil
	}
	fresh, err := nomadapi.FreshTransport(config.TLSConfig, remake, now, log)
	switch {
	case err != nil:
		return nil, err
	case fresh != nil:
		return fresh, nil
	}
	return remake()
}

// proxiedPlacer is the placer as the proxy asks it.
type proxiedPlacer struct {
	records           engineRecords
	world             *nomadapi.World
	holdPool, runPool string

	agent    func(context.Context) (*url.URL, error) // that leads
	instance func(context.Context) (string, error)   // what its answers say
	client   *http.Client                            // that reaches it
}

// Extract implements proxy.Placer.
func (p proxiedPlacer) Extract(jobspec string) (string, func(map[string]any) error, error) {
	const name = "input.hcl" // as Nomad calls it
	if len(jobspec) > jobhcl.MaxJobspecBytes {
		return "", nil, fmt.Errorf("%w: it is longer than 1 MiB; write a block as text instead: meta { performance = <<EOT … EOT }", proxy.ErrUnread)
	}
	stripped, blocks, problems := jobhcl.Extract([]byte(jobspec), name)
	if problems.HasErrors() && stripped != nil {
		return jobspec, nil, nil // Nomad says what is wrong with the file
	}
	for _, group := range slices.Sorted(maps.Keys(blocks)) {
		_, _, err := blockOptions().DecodeBlock(blocks[group], name)
		var more jobhcl.Diagnostics
		if err != nil && !errors.As(err, &more) {
			return "", nil, err
		}
		problems = append(problems, more...)
	}
	if err := problems.Err(); err != nil {
		return "", nil, err
	}
	if len(blocks) == 0 {
		return jobspec, nil, nil
	}
	return string(stripped), func(job map[string]any) error { return jobhcl.Attach(job, blocks) }, nil
}

// Canonical implements proxy.Placer.
func (p proxiedPlacer) Canonical(job map[string]any) error { return nomadapi.CanonicalKeys(job) }

// Check implements proxy.Placer.
func (p proxiedPlacer) Check(job map[string]any) (targets bool, note string, err error) {
	texts := jobhcl.FromMeta(job)
	var errs []error
	var notes []string
	for _, group := range slices.Sorted(maps.Keys(texts)) {
		if !jobhcl.IsBlock(texts[group]) {
			notes = append(notes, fmt.Sprintf("the meta of group %q says performance = %q, which is no performance block and changes nothing; one has at least target { … }", group, texts[group]))
			continue
		}
		targets = true
		if _, _, err := decodeBlock(texts[group], "meta.performance of group "+group); err != nil {
			errs = append(errs, err)
		}
	}
	return targets, strings.Join(notes, "\nnomad-placer: "), errors.Join(errs...)
}

// Preview implements proxy.Placer.
func (p proxiedPlacer) Preview(ctx context.Context, body map[string]any) (map[string]any, error) {
	body, stored, err := nomadapi.Complete(body)
	if err != nil {
		return nil, err
	}
	job := p.world.ReadJob(stored)
	job.RunPool = p.runPool
	if len(job.Problems) > 0 {
		return nil, errors.New(strings.Join(job.Problems, "; "))
	}
	decisions, _, err := p.records.engine.Preview(ctx, job)
	if err != nil {
		return nil, err
	}
	return rewritten(body, p.holdPool, p.runPool, decisions)
}

// Evaluation implements proxy.Placer.
func (p proxiedPlacer) Evaluation(ctx context.Context, id cluster.JobID) (cluster.Evaluation, error) {
	return p.records.Evaluation(ctx, id)
}

// Release implements proxy.Placer.
func (p proxiedPlacer) Release(ctx context.Context, id cluster.JobID, index uint64) error {
	_, err := p.world.ReleaseVersion(ctx, id, index)
	return err
}
