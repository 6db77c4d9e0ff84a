package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/targetplugin"
	"github.com/nomad-placer/nomad-placer/placer/certificate"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/engine"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/throttle"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/bolt"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// agentOptions override the configuration file.
type agentFlags struct {
	nomad     nomadFlags
	file      string
	tokenFile string
	role      string
	listen    string
	dashboard string
	nomadUI   string
	policy    string
	adapter   string
	hold      time.Duration
	holdPool  string
	runPool   string
	bolt      string
	logLevel  string
	logJSON   bool
	pprof     string
	tls       jobhcl.TLSConfig
}

func agentCommand() *command.Command {
	return &command.Command{
		Name: "agent", Synopsis: "Run the placer for a Nomad cluster",
		About:   "Runs until it is interrupted. Every replica serves the pages and enforces hold deadlines; the one that holds the leader lock places jobs and corrects those that miss their target. With -role pages it serves pages and metrics and changes nothing in the cluster. Every agent keeps the limits of disk bandwidth on its own node. Flags override the configuration file.",
		Example: "nomad-placer agent -config /etc/nomad-placer/agent.hcl",
		Setup: func(f *flag.FlagSet) command.Runner {
			a := &agentFlags{}
			a.nomad.add(f)
			f.StringVar(&a.file, "config", "", "Configuration `file`.")
			f.StringVar(&a.tokenFile, "token-file", "", "Read the ACL token from this `file`, again whenever it was written: Nomad renews the identity of a task there.")
			f.StringVar(&a.role, "role", string(rights.Leader), "The `role`: leader takes part in the election and keeps hold deadlines, pages only serves pages and metrics, with a token that reads (`nomad-placer acl policy -role pages`).")
			f.StringVar(&a.listen, "listen", "", "Serve the pages at this `host:port`.")
			f.StringVar(&a.tls.CertFile, "tls-cert-file", "", "Serve the pages by HTTPS with this certificate, a PEM `file`. It is read again when it changes, and on SIGHUP.")
			f.StringVar(&a.tls.KeyFile, "tls-key-file", "", "Private key `file` of the certificate.")
			f.StringVar(&a.tls.ClientCAFile, "tls-client-ca-file", "", "With -tls-verify-client: the authorities of callers' certificates, a PEM `file`.")
			f.BoolVar(&a.tls.VerifyClient, "tls-verify-client", false, "Serve the pages only to callers with a certificate of these authorities.")
			f.StringVar(&a.dashboard, "dashboard-url", "", "Where browsers find the pages: a `URL`.")
			f.StringVar(&a.nomadUI, "nomad-ui", "", "Where browsers find Nomad's web UI: a `URL`, for links. Else Nomad's address.")
			f.StringVar(&a.policy, "policy", "", "Placement `policy` of jobs that name none.")
			f.StringVar(&a.adapter, "adapter", "", "The `adapter` that corrects running jobs which miss their target: quasar, kflr, pp-rtte, close, or none to change nothing. Else quasar, and kflr for jobs of the policy pp-rtte.")
			f.DurationVar(&a.hold, "hold", 0, "Hold deadline of jobs that name none.")
			f.StringVar(&a.holdPool, "hold-pool", "", "Node `pool` without nodes in which jobs wait.")
			f.StringVar(&a.runPool, "run-pool", "", "Node `pool` that held jobs are released into.")
			f.StringVar(&a.bolt, "bolt", "", "Keep records in this `file` instead of Nomad Variables: one agent only.")
			f.StringVar(&a.logLevel, "log-level", "", "Least `level` logged: trace, debug, info, warn or error.")
			f.BoolVar(&a.logJSON, "log-json", false, "Log as JSON.")
			f.StringVar(&a.pprof, "pprof", "", "Serve Go's own profiles of this process at this `host:port`, for finding what is slow. Anyone who can reach it can read from the agent and slow it down.")
			return func(ctx context.Context, s *command.Shell, _ []string) error { return runAgent(ctx, s, a) }
		},
	}
}

// config is the file with the flags over it.
func (a *agentFlags) config() (jobhcl.AgentConfig, error) {
	c := jobhcl.DefaultAgentConfig()
	if a.file != "" {
		source, err := os.ReadFile(a.file)
		if err != nil {
			return c, fmt.Errorf("configuration: %w", err)
		}
		if c, err = blockOptions().DecodeAgentConfig(source, a.file); err != nil {
			return c, err
		}
	}
	set(&c.Listen, a.listen)
	set(&c.DashboardURL, a.dashboard)
	set(&c.Policy, a.policy)
	set(&c.Pools.Hold, a.holdPool)
	set(&c.Pools.Run, a.runPool)
	set(&c.LogLevel, a.logLevel)
	set(&c.TLS.CertFile, a.tls.CertFile)
	set(&c.TLS.KeyFile, a.tls.KeyFile)
	set(&c.TLS.ClientCAFile, a.tls.ClientCAFile)
	c.TLS.VerifyClient = c.TLS.VerifyClient || a.tls.VerifyClient
	if problem, cure := c.TLS.Problem(); problem != "" {
		return c, command.UsageError("%s: %s", problem, cure)
	}
	if a.hold > 0 {
		c.Hold = a.hold
	}
	if a.bolt != "" {
		c.Store = jobhcl.StoreConfig{Kind: jobhcl.StoreBolt, Path: a.bolt}
	}
	return c, nil
}

// logLevels are the names of severities, as in Nomad.
var logLevels = []string{"trace", "debug", "info", "warn", "error"}

// levelTrace is below debug, as in Nomad.
const levelTrace = slog.LevelDebug - 4

func newLog(s *command.Shell, level string, asJSON bool) (*slog.Logger, error) {
	levels := map[string]slog.Level{"trace": levelTrace, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	l, ok := levels[strings.ToLower(level)]
	if !ok {
		return nil, command.UsageError("unknown log level %q; known: %s", level, strings.Join(logLevels, ", "))
	}
	options := &slog.HandlerOptions{Level: l}
	if asJSON {
		return slog.New(slog.NewJSONHandler(s.Err, options)), nil
	}
	return slog.New(slog.NewTextHandler(s.Err, options)), nil
}

// agent is a replica and its parts.
type agent struct {
	role     rights.Role
	config   jobhcl.AgentConfig
	adapter  string
	log      *slog.Logger
	world    *nomadapi.World
	store    store.Store
	engine   *engine.Engine
	gate     *access.Gate
	pages    http.Handler
	address  string               // of the pages, for browsers
	instance string               // made up at the start, for the leader's answers
	secure   *certificate.Server  // of the pages; nil: they are served without TLS
	target   *targetplugin.Plugin // that orders nodes; nil: an autoscaler does, or nobody
	traffic  *traffic.Watch       // of captured tables; nil: there are none
	disks    *diskWatch           // of recorded uses; nil: there are none
	limits   *throttle.Keeper     // of disks, on this node
	pprof    string               // host:port of the profiles of this process; "" serves none
}

func runAgent(ctx context.Context, s *command.Shell, a *agentFlags) error {
	if role := rights.Role(a.role); role != rights.Leader && role != rights.Pages {
		return command.UsageError("unknown role %q; known: %s, %s", a.role, rights.Leader, rights.Pages)
	}
	config, err := a.config()
	if err != nil {
		return err
	}
	log, err := newLog(s, config.LogLevel, a.logJSON)
	if err != nil {
		return err
	}
	g, err := newAgent(s, a, config, log)
	if err != nil {
		return err
	}
	if g.target != nil {
		defer g.target.Close()
	}
	defer func() {
		if err := g.store.Close(); err != nil {
			log.Warn("closing the store", "error", err)
		}
	}()
	return g.run(ctx)
}

// decodeAllowed is decodeBlock without what the operator has not allowed.
func decodeAllowed(config jobhcl.AgentConfig) nomadapi.DecodeFunc {
	return func(text, file string) (performance.Spec, []string, error) {
		spec, warnings, err := decodeBlock(text, file)
		if err == nil && !config.ExecProbes && spec.Probe != nil && len(spec.Probe.Command) > 0 {
			err = fmt.Errorf("the probe %q runs a command in the task, which is not allowed in this cluster; "+
				"use another probe, or ask its operator for exec_probes = true in the agent's configuration", spec.Probe.Type)
		}
		return spec, warnings, err
	}
}

func newAgent(s *command.Shell, a *agentFlags, config jobhcl.AgentConfig, log *slog.Logger) (*agent, error) {
	g := &agent{role: rights.Role(a.role), config: config, adapter: a.adapter, log: log, address: strings.TrimSuffix(config.DashboardURL, "/"), instance: rand.Text(), pprof: a.pprof}
	key, err := signingKey(config.SigningKeyFile)
	if err != nil {
		return nil, err
	}
	g.world, err = nomadapi.New(nomadapi.Options{
		Configure: a.nomad.configure, TokenFile: a.tokenFile, RecordsNamespace: a.nomad.jobNamespace(s),
		HoldPool: config.Pools.Hold, RunPool: config.Pools.Run, NodeMetadata: config.NodeMetadata,
		Decode: decodeAllowed(config), Probe: newProbe, Logger: log, Clock: clock{s}, SigningKey: key,
		Keys: nomadapi.KeyRules{Sharing: config.Profile.Sharing(), IgnoreEnv: config.Profile.IgnoreEnv},
		OnRight: func(r rights.Right) {
			log.Info("a right of the policy was used for the first time", "right", r.Name(), "to", r.Why)
		},
		// The engine exists before any profile runs.
		OnProgress: func(id string, p profiler.Progress) { g.engine.Progress(id, p) },
	})
	if err != nil {
		return nil, err
	}
	if g.store, err = openStore(config.Store, g.world, a.nomad.jobNamespace(s)); err != nil {
		return nil, err
	}
	rows, err := training.LoadAll()
	if err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	if config.Provision != nil {
		g.target = newTarget(*config.Provision, g.world.ServerClock(), log)
	}
	if config.Traffic.Tables != "" {
		g.traffic = traffic.New(config.Traffic.Tables, config.Traffic.LinkMbitPerSec, log)
	}
	if config.Disk.Uses != "" {
		g.disks = watchDisks(config.Disk.Uses, s.Now, log)
	}
	if g.engine, err = engine.New(g.engineConfig(s, rows)); err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	// A preview reads everything anew, which must not reach the engine that runs.
	asked, err := engine.New(g.engineConfig(s, rows))
	if err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	g.limits = g.limiter(s)
	if g.gate, err = g.newGate(s, a.nomad.jobNamespace(s)); err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	if err := g.readCertificate(s); err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	records := comparingRecords{engineRecords{g.engine.Book(), g.engine, g.world, oneAtATime(asked.Preview), g.traffic}, newComparer(s.Now, log)}
	g.pages, err = dashboard.New(records, dashboard.Options{
		Version: command.Version, NomadURL: g.nomadUI(a), Now: s.Now, Log: log, Root: os.DirFS("/"), Access: g.gate, Metrics: dashboard.MetricsFor(config.Metrics),
	})
	if err != nil {
		return nil, errors.Join(err, g.store.Close())
	}
	return g, nil
}

func (g *agent) readCertificate(s *command.Shell) error {
	files := g.config.TLS
	if files.CertFile == "" {
		return nil
	}
	read := certificate.Files{Cert: files.CertFile, Key: files.KeyFile}
	if files.VerifyClient {
		read.ClientCA = files.ClientCAFile
	}
	var err error
	if g.secure, err = certificate.NewServer(read, s.Now, g.log); err != nil {
		return fmt.Errorf("TLS of the pages: %w", err)
	}
	return nil
}

// watchHangup reads certificates again when the process is told to, without waiting for
// the next connection to look at their files.
func (g *agent) watchHangup(ctx context.Context) error {
	return onHangup(ctx, g.log, func() error {
		err := g.world.ReloadCertificates()
		if g.secure != nil {
			err = errors.Join(err, g.secure.Reload())
		}
		return err
	})
}

// onHangup calls reload for every SIGHUP until ctx ends.
func onHangup(ctx context.Context, log *slog.Logger, reload func() error) error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGHUP)
	defer signal.Stop(told)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-told:
			if err := reload(); err != nil {
				log.Error("certificates were not read again; the old ones stay in use", "error", err)
			}
		}
	}
}

// newGate asks Nomad what callers may see. Where the records are in a file, the right
// to the Variables they would be in is the one that counts.
func (g *agent) newGate(s *command.Shell, namespace string) (*access.Gate, error) {
	prefix := nomadvars.DefaultPrefix
	if g.config.Store.Kind == jobhcl.StoreNomad {
		prefix = g.config.Store.Path
	}
	return access.New(access.Options{Nomad: g.world, RecordsNamespace: namespace, RecordsPrefix: prefix, Now: s.Now, Log: g.log})
}

// signingKey is the key in a file; nil without one.
func signingKey(file string) (*signing.Key, error) {
	if file == "" {
		return nil, nil
	}
	key, err := signing.LoadKey(file)
	if err != nil {
		return nil, err
	}
	return &key, nil
}

// nomadUI is where the pages link to.
func (g *agent) nomadUI(a *agentFlags) string {
	if a.nomadUI != "" {
		return strings.TrimSuffix(a.nomadUI, "/")
	}
	u, err := url.Parse(g.world.Address())
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return "" // a socket in a task's directory: no browser reaches that
	}
	return strings.TrimSuffix(u.String(), "/")
}

func openStore(c jobhcl.StoreConfig, world *nomadapi.World, namespace string) (store.Store, error) {
	if c.Kind == jobhcl.StoreBolt {
		return bolt.Open(c.Path)
	}
	return nomadvars.New(world.API(), nomadvars.Options{Prefix: c.Path, Namespace: namespace})
}

func (g *agent) engineConfig(s *command.Shell, rows []profile.Profile) engine.Config {
	c := engine.Config{
		World: g.world, Store: g.store, Clock: g.world.ServerClock(), Log: g.log,
		Policy: g.config.Policy, Adapter: g.adapter, Columns: g.config.Columns, Hold: g.config.Hold,
		ProfileSeconds: g.config.Profile.Seconds, ProfileSources: g.config.Profile.Sources, PreferSources: g.config.Profile.Prefer,
		Concurrency: g.config.Profile.Concurrency, Training: rows,
		Sharing: g.config.Profile.Sharing(), SecondsMax: g.config.Profile.SecondsMax, Adaptive: g.config.Profile.Adaptive, When: g.config.Profile.When,
		KeepFor: time.Duration(g.config.Profile.KeepDays) * 24 * time.Hour, KeepPerJob: g.config.Profile.KeepPerJob,
		RackMeta: g.config.Traffic.RackMeta,
	}
	if g.traffic != nil {
		c.NextUplink, c.Exchanged = g.traffic.NextUplink, g.traffic.Exchanged
		if g.config.Traffic.Near {
			c.Peers = g.traffic.Peers
		}
	}
	if g.disks != nil {
		c.NextDisk = g.disks.expected
	}
	if folder := g.config.Disk.Twins; folder != "" {
		c.Twin = func(w cluster.WorkloadID) (*cluster.Twin, error) { return twinIn(folder, w) }
	}
	if g.config.Provision != nil {
		c.Provision = provisionOptions(*g.config.Provision)
		if g.target != nil {
			c.Provision.Renter = g.target
		}
	}
	if g.address != "" {
		c.Link = func(w cluster.WorkloadID) string { return g.address + dashboard.JobPath(w) }
		c.Chart = func(w cluster.WorkloadID) string { return g.address + dashboard.ChartPath(w) }
	}
	return c
}

// AdaptationStats are the counts of an engine that leads.
func (r engineRecords) AdaptationStats() cluster.AdaptationStats { return r.engine.AdaptationStats() }

// RefusedReleases are those of an engine that runs.
func (r engineRecords) RefusedReleases() int { return r.engine.RefusedReleases() }

// RefusedProfiles is how many stored profiles that engine does not use.
func (r engineRecords) RefusedProfiles() int { return r.engine.RefusedProfiles() }

// The times of starting and stopping.
const (
	startRetry    = 2 * time.Second
	shutdownGrace = 5 * time.Second
	readLimit     = 10 * time.Second // of a request's header
)

// run serves until ctx ends or a part fails, and then stops the rest.
func (g *agent) run(ctx context.Context) error {
	useMemory()
	listener, err := net.Listen("tcp", g.config.Listen)
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	g.log.Info("nomad-placer agent started", "version", command.Version, "listen", listener.Addr().String(), "store", g.config.Store.Kind,
		"hold_pool", g.config.Pools.Hold, "run_pool", g.config.Pools.Run, "policy", g.config.Policy)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := []func(context.Context) error{
		func(ctx context.Context) error { return g.serve(ctx, listener) },
		g.world.Watch,
		g.watchHangup,
		g.limitDisks,
	}
	if g.role == rights.Leader {
		parts = append(parts, g.engine.WatchDeadlines, g.lead)
	}
	if g.traffic != nil {
		parts = append(parts, func(ctx context.Context) error { return g.traffic.Run(ctx, time.After) })
	}
	if g.disks != nil {
		parts = append(parts, func(ctx context.Context) error { return g.disks.run(ctx, time.After) })
	}
	if g.pprof != "" {
		parts = append(parts, g.serveProfiles)
	}
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ended <- part(ctx) }()
	}
	var errs []error
	for range parts {
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
		cancel() // one part's end is the agent's end
	}
	g.log.Info("nomad-placer agent stopped")
	return errors.Join(errs...)
}

func (g *agent) serve(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/", g.pages)
	if g.secure != nil {
		listener = tls.NewListener(listener, g.secure.Config())
	}
	mux.Handle("POST "+admitPath, admitter{g.world, g.gate, g.config.Pools.Hold, g.instance, g.engine.Admit, g.log})
	return g.serveHandler(ctx, listener, mux)
}

// serveProfiles serves what net/http/pprof offers, on a listener of its own: the
// pages are for everybody, these are not.
func (g *agent) serveProfiles(ctx context.Context) error {
	listener, err := net.Listen("tcp", g.pprof)
	if err != nil {
		return fmt.Errorf("profiles of this process: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return g.serveHandler(ctx, listener, mux)
}

func (g *agent) serveHandler(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: readLimit,
		ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("pages: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	return nil
}

// lead runs the engine whenever this replica is the leader. A file store has
// one agent, which needs no election.
func (g *agent) lead(ctx context.Context) error {
	if err := g.prepare(ctx); err != nil {
		return err
	}
	if g.config.Store.Kind == jobhcl.StoreBolt {
		return g.leading(ctx)
	}
	return g.world.NewElector(g.self()).Run(ctx, g.leading)
}

// prepare makes the engine ready before it may lead: another replica that is ready would be
// kept from leading meanwhile.
func (g *agent) prepare(ctx context.Context) error {
	ready := make(chan error, 1)
	go func() { ready <- g.engine.Prepare() }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ready:
		return err
	}
}

// listenURL is where the pages are, as far as this replica knows.
func (g *agent) listenURL() string {
	if g.secure != nil {
		return "https://" + g.config.Listen
	}
	return g.config.Listen
}

// self is what the others find of this replica while it leads.
func (g *agent) self() nomadapi.Leader {
	self := nomadapi.Leader{Address: cmp.Or(g.address, g.listenURL()), Instance: g.instance}
	if onLoopback(self.Address) {
		self.Loopback = ownLoopback()
	}
	return self
}

func (g *agent) leading(ctx context.Context) error {
	if err := g.ensurePool(ctx); err != nil {
		return err
	}
	for {
		err := g.engine.Run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			return nil
		}
		g.log.Error("the engine stopped; starting it again", "error", err)
		if err := g.pause(ctx); err != nil {
			return err
		}
	}
}

// ensurePool waits for a Nomad that answers: the agent may start before it.
func (g *agent) ensurePool(ctx context.Context) error {
	for {
		_, err := g.world.EnsureHoldPool(ctx)
		if err == nil {
			return nil
		}
		g.log.Warn("the hold pool is not ready; trying again", "error", err)
		if err := g.pause(ctx); err != nil {
			return err
		}
	}
}

func (g *agent) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(startRetry):
		return nil
	}
}
