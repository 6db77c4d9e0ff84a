package hcl

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	hclv2 "github.com/hashicorp/hcl/v2"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	profiles "github.com/nomad-placer/nomad-placer/profiler/profile"
)

// AgentConfig is the configuration file of `nomad-placer agent`.
type AgentConfig struct {
	Pools        PoolsConfig           `json:"pools"`
	Policy       string                `json:"policy"`
	Hold         time.Duration         `json:"hold"`          // a held job is released after this, at the latest
	Listen       string                `json:"listen"`        // host:port of the dashboard
	DashboardURL string                `json:"dashboard_url"` // how a browser reaches Listen; empty: not linked
	Store        StoreConfig           `json:"store"`
	Columns      []interference.Source `json:"columns"` // the sources that count, in order; empty: what the nodes support
	Profile      AgentProfileConfig    `json:"profile"`
	LogLevel     string                `json:"log_level"`
	// SigningKeyFile has the private key that signs what is asked of the driver; empty
	// leaves it unsigned.
	SigningKeyFile string    `json:"signing_key_file,omitempty"`
	Metrics        string    `json:"metrics"` // who may read /metrics: MetricsLoopback and others
	TLS            TLSConfig `json:"tls"`
	ExecProbes     bool      `json:"exec_probes"`   // jobs may have their commands run in their tasks
	NodeMetadata   bool      `json:"node_metadata"` // pressure is written into the metadata of nodes

	Provision *ProvisionConfig `json:"provision,omitempty"` // nil: nodes are there, or not
	Traffic   TrafficConfig    `json:"traffic"`
	Disk      DiskConfig       `json:"disk"`
}

// Who may read /metrics, where Nomad's access control is on.
const (
	MetricsLoopback = "loopback" // programs on the same machine, and holders of a token
	MetricsToken    = "token"
	MetricsAll      = "all"
)

// TLSConfig are the files for TLS of the dashboard; without a certificate it is served
// in plain.
type TLSConfig struct {
	CertFile     string `json:"cert_file"`
	KeyFile      string `json:"key_file"`
	ClientCAFile string `json:"client_ca_file"` // authorities of callers
	VerifyClient bool   `json:"verify_client"`  // callers must have a certificate of these
}

// Problem says what does not go together, and what to do; empty: nothing.
func (c TLSConfig) Problem() (problem, cure string) {
	switch {
	case (c.CertFile == "") != (c.KeyFile == ""):
		return "a certificate without its key, or a key without its certificate", "give both cert_file and key_file of TLS"
	case c.VerifyClient && c.ClientCAFile == "":
		return "callers' certificates cannot be checked without an authority", "give client_ca_file of TLS too"
	case c.ClientCAFile != "" && !c.VerifyClient:
		return "an authority of callers that is not used", "give verify_client of TLS too, or leave client_ca_file out"
	case c.VerifyClient && c.CertFile == "":
		return "callers cannot be checked without TLS", "give cert_file and key_file of TLS too"
	}
	return "", ""
}

// PoolsConfig names the hold pool and the run pool.
type PoolsConfig struct {
	Hold string `json:"hold"` // empty pool that holds jobs
	Run  string `json:"run"`  // where held jobs are released to
}

// The kinds of store.
const (
	StoreNomad = "nomad" // Nomad Variables
	StoreBolt  = "bolt"  // a bbolt file
)

// StoreConfig says where profiles and decisions are kept.
type StoreConfig struct {
	Kind string `json:"kind"` // StoreNomad or StoreBolt
	Path string `json:"path"` // prefix of the Variables, or the file
}

// AgentProfileConfig limits what profiling may use.
type AgentProfileConfig struct {
	Seconds     int                   `json:"seconds"`           // one profile, unless the job says otherwise
	Sources     []interference.Source `json:"sources,omitempty"` // profiled where the job names none; empty: chosen per job
	Prefer      []interference.Source `json:"prefer,omitempty"`  // where chosen per job: these first, as far as the node supports them
	Concurrency int                   `json:"concurrency"`       // profiles at a time in the cluster
	SecondsMax  int                   `json:"seconds_max"`       // the most a job may ask for
	Adaptive    bool                  `json:"adaptive"`          // runs are told what to measure next, and may end early
	When        performance.When      `json:"when"`              // where a job does not say

	Share        string   `json:"share"`                   // ShareNamespace or ShareAll: whose profiles count for whom
	ShareBetween []string `json:"share_between,omitempty"` // namespaces that share among themselves
	IgnoreEnv    []string `json:"ignore_env"`              // variables that do not make another workload
	KeepDays     int      `json:"keep_days"`               // an unused profile is deleted after these
	KeepPerJob   int      `json:"keep_per_job"`            // unused profiles kept of a group
}

// Whose profiles count for whom.
const (
	ShareNamespace = "namespace" // those of a namespace for itself
	ShareAll       = "all"
)

// Sharing is the same for who decides by it.
func (c AgentProfileConfig) Sharing() profiles.Sharing {
	return profiles.Sharing{All: c.Share == ShareAll, Between: c.ShareBetween}
}

// Defaults of what profiles cost (chosen by us).
const (
	DefaultProfileSecondsMax = 120 // others wait for a node meanwhile, up to their hold deadline
	DefaultKeepDays          = 30
	DefaultKeepPerJob        = 5
)

// DefaultAgentConfig is the configuration of an agent without a file. Its
// dashboard answers on the loopback only.
func DefaultAgentConfig() AgentConfig {
	return AgentConfig{
		Pools:  PoolsConfig{Hold: "placer", Run: "default"},
		Policy: "expected", // policy.Default, which this package may not know; a test compares them
		Hold:   performance.DefaultHold,
		Listen: "127.0.0.1:9464",
		Store:  StoreConfig{Kind: StoreNomad, Path: "nomad-placer"},
		Profile: AgentProfileConfig{
			Seconds: performance.DefaultProfileSeconds, Concurrency: 1, SecondsMax: DefaultProfileSecondsMax,
			When: performance.WhenBefore, Share: ShareNamespace, IgnoreEnv: profiles.BuildVariables(), KeepDays: DefaultKeepDays, KeepPerJob: DefaultKeepPerJob,
		},
		LogLevel: "info",
		Metrics:  MetricsLoopback,
		Disk:     DiskConfig{Limit: LimitJobs},
		Traffic:  TrafficConfig{RackMeta: cluster.DefaultRackMeta},
	}
}

// DecodeAgentConfig reads an agent's configuration file over the defaults. The
// error, if any, is of type Diagnostics.
func (o Options) DecodeAgentConfig(src []byte, filename string) (AgentConfig, error) {
	s := newSource(src, filename, position{line: 1, column: 1})
	config := s.agentConfig(agentSchema(o))
	if err := s.problems.sorted().Err(); err != nil {
		return AgentConfig{}, err
	}
	return config, nil
}

func (s *source) agentConfig(schema block) AgentConfig {
	config := DefaultAgentConfig()
	body := s.parse(MaxTextBytes)
	if body == nil {
		return config
	}
	r := s.read(body, hclv2.Range{Filename: s.filename, Start: s.parserStart(), End: s.parserStart()}, schema, schema)
	pools, profile := r.block("pools"), r.block("profile")
	setText(&config.Pools.Hold, pools, "hold")
	setText(&config.Pools.Run, pools, "run")
	setText(&config.Policy, r, "policy")
	setText(&config.Listen, r, "listen")
	setText(&config.DashboardURL, r, "dashboard_url")
	setText(&config.LogLevel, r, "log_level")
	setText(&config.Metrics, r, "metrics")
	if secure := r.block("tls"); secure != nil {
		setText(&config.TLS.CertFile, secure, "cert_file")
		setText(&config.TLS.KeyFile, secure, "key_file")
		setText(&config.TLS.ClientCAFile, secure, "client_ca_file")
		config.TLS.VerifyClient = secure.has("verify_client") && secure.truth("verify_client")
	}
	setText(&config.SigningKeyFile, r, "signing_key_file")
	if r.has("exec_probes") {
		config.ExecProbes = r.truth("exec_probes")
	}
	if r.has("node_metadata") {
		config.NodeMetadata = r.truth("node_metadata")
	}
	if r.has("hold") {
		config.Hold = r.span("hold")
	}
	if profile.has("seconds") {
		config.Profile.Seconds = int(profile.number("seconds"))
	}
	for name, to := range map[string]*int{
		"concurrency": &config.Profile.Concurrency, "seconds_max": &config.Profile.SecondsMax,
		"keep_days": &config.Profile.KeepDays, "keep_per_job": &config.Profile.KeepPerJob,
	} {
		if profile.has(name) {
			*to = int(profile.number(name))
		}
	}
	if profile.has("adaptive") {
		config.Profile.Adaptive = profile.truth("adaptive")
	}
	setText(&config.Profile.When, profile, "when")
	setText(&config.Profile.Share, profile, "share")
	config.Profile.ShareBetween = profile.texts("share_between")
	if profile.has("ignore_env") {
		config.Profile.IgnoreEnv = profile.texts("ignore_env")
	}
	config.Profile.Sources, config.Profile.Prefer = sourcesOf(profile, "sources"), sourcesOf(profile, "prefer")
	for _, name := range r.texts("columns") {
		config.Columns = append(config.Columns, interference.Source(name))
	}
	if store := r.block("store"); store != nil {
		config.Store = storeConfig(store, config.Store)
	}
	if provision := r.block("provision"); provision != nil {
		config.Provision = s.provisionConfig(provision)
	}
	if d := r.block("disk"); d != nil {
		setText(&config.Disk.Uses, d, "uses")
		setText(&config.Disk.Twins, d, "twins")
		setText(&config.Disk.Limit, d, "limit")
		setText(&config.Disk.Data, d, "data")
	}
	if traffic := r.block("traffic"); traffic != nil {
		config.Traffic = s.trafficConfig(traffic, config.Traffic)
	}
	s.checkAgent(r, config)
	return config
}

func setText[T ~string](to *T, r *reading, name string) {
	if r.has(name) {
		*to = T(r.text(name))
	}
}

func storeConfig(r *reading, byDefault StoreConfig) StoreConfig {
	out := StoreConfig{Kind: r.label}
	if r.label == byDefault.Kind {
		out.Path = byDefault.Path
	}
	setText(&out.Path, r, "path")
	return out
}

func (s *source) checkAgent(r *reading, c AgentConfig) {
	if pools := r.block("pools"); pools != nil && c.Pools.Hold == c.Pools.Run {
		s.fail(pools.at, message{
			summary: fmt.Sprintf("the hold pool and the run pool are both %q", shorten(c.Pools.Hold)),
			detail:  "The hold pool has no nodes, the run pool has them; a job waits in one and runs in the other.",
			hint:    "name two pools",
		})
	}
	if secure := r.block("tls"); secure != nil {
		if problem, cure := c.TLS.Problem(); problem != "" {
			s.fail(secure.at, message{summary: problem, hint: cure})
		}
	}
	if _, ok := r.values["listen"]; ok {
		if _, port, err := net.SplitHostPort(c.Listen); err != nil || !validPort(port) {
			s.fail(r.where("listen"), message{
				summary: fmt.Sprintf("listen %q is not host:port", shorten(c.Listen)),
				hint:    `for example listen = "0.0.0.0:9464"`,
			})
		}
	}
	if _, ok := r.values["dashboard_url"]; ok {
		u, err := url.Parse(c.DashboardURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			s.fail(r.where("dashboard_url"), message{
				summary: fmt.Sprintf("dashboard_url %q is not a web address", shorten(c.DashboardURL)),
				hint:    `for example dashboard_url = "http://placer.example:9464"`,
			})
		}
	}
}

// validPort takes numbers only: a service name would ask the machine's files.
func validPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}
