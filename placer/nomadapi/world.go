package nomadapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// The defaults of Options.
const (
	DefaultHoldPool = "placer"
	DefaultRunPool  = "default"
	DefaultOwner    = "nomad-placer"
)

// MetaKey is the group meta key that carries the text of a performance block.
const MetaKey = "performance"

// DecodeFunc decodes the text of a performance block; file names it in errors.
type DecodeFunc func(text, file string) (spec performance.Spec, warnings []string, err error)

// ProbeFunc makes the probe a spec asks for; task is the default task.
type ProbeFunc func(spec performance.ProbeSpec, reach probe.Reach, task string) (probe.Probe, error)

// Options configure a World. Zero fields take the defaults.
type Options struct {
	// Address, Token and Region override NOMAD_ADDR, NOMAD_TOKEN, NOMAD_REGION.
	Address, Token, Region string
	// TokenFile is read instead of Token, again whenever it was written.
	TokenFile string
	// Configure, if given, changes the client's configuration after these.
	Configure func(*api.Config)

	RecordsNamespace string // of the leader's lock; "" is the client's

	HoldPool string // pool without nodes in which jobs wait
	RunPool  string // pool a held job is released into
	Owner    string // value of meta placer.owner on jobs made here

	Decode DecodeFunc // required for State
	Probe  ProbeFunc  // required for Observer
	Keys   KeyRules   // of profiles

	// Network, if given, takes the requests in place of the network: for tests.
	Network http.RoundTripper

	// NodeMetadata lets Publish write to nodes.
	NodeMetadata bool

	// OnRight, if given, gets each right of the policy when it is first used.
	OnRight func(rights.Right)

	// SigningKey signs what is asked of the driver; nil leaves it unsigned.
	SigningKey *signing.Key

	// OnProgress gets each new progress record of a profiling run. It is
	// called from the goroutine of Profile and must not block.
	OnProgress func(id string, p profiler.Progress)

	Clock  cluster.Clock // default: the system's
	Logger *slog.Logger  // default: slog.Default()
}

// World is a live Nomad cluster.
type World struct {
	opts    Options
	address string // as it was given
	nomad   *client
	clock   cluster.Clock
	log     *slog.Logger

	serverTime *serverClock

	changed chan struct{}
	wanted  chan struct{} // snapshots are wanted, which are not followed yet
	folded  uint64        // highest index of the events of this stream; of its reader alone

	jobs         jobCache
	nodes        nodeCache
	allocs       allocCache
	reservations reservations
	pressure     pressureBoard

	kernelRuns  kernelRuns
	followed    followBook
	unconfirmed unconfirmedList
}

var _ cluster.World = (*World)(nil)

// New returns a world over the Nomad the options or the environment name. It
// makes no request yet.
func New(o Options) (*World, error) {
	o = o.withDefaults()
	var err error
	conf := api.DefaultConfig()
	if o.Address != "" {
		conf.Address = o.Address
	}
	if o.Token != "" {
		conf.SecretID = o.Token
	}
	if o.Region != "" {
		conf.Region = o.Region
	}
	if o.Configure != nil {
		o.Configure(conf)
	}
	address := conf.Address
	book := &rights.Book{First: o.OnRight}
	servers := newServerClock(o.Clock)
	c, err := newClient(conf, o, book, servers)
	if err != nil {
		return nil, fmt.Errorf("nomad client for %s: %w", address, err)
	}
	return &World{
		opts:    o,
		address: address,
		nomad:   c,
		clock:   o.Clock,
		log:     o.Logger,

		serverTime: servers,

		changed:  make(chan struct{}, 1),
		wanted:   make(chan struct{}, 1),
		pressure: newPressureBoard(),

		kernelRuns: kernelRuns{under: map[string]bool{}},
	}, nil
}

func newClient(conf *api.Config, o Options, book *rights.Book, servers *serverClock) (*client, error) {
	out := &client{book: book, clock: o.Clock}
	transport, err := transportFor(conf)
	if err != nil {
		return nil, err
	}
	if o.TokenFile != "" {
		if out.token, err = openTokenFile(o.TokenFile, o.Logger); err != nil {
			return nil, err
		}
		conf.SecretID = out.token.current()
	}
	if transport != nil {
		conf.HttpClient = &http.Client{Transport: transport}
	}
	if out.commands, err = api.NewClient(conf); err != nil {
		return nil, err
	}
	out.fixed = conf.SecretID
	trip, err := out.trip(conf, transport, o)
	if err != nil {
		return nil, err
	}
	if out.callers, err = callersClient(*conf, trip); err != nil {
		return nil, err
	}
	if trip != nil {
		conf.HttpClient = &http.Client{Transport: dated{asker{plain{trip}, out.token, book}, servers}}
	}
	out.api, err = api.NewClient(conf)
	return out, err
}

// trip is the transport with certificates as new as their files; nil where a test has
// replaced the default one.
func (c *client) trip(conf *api.Config, transport *http.Transport, o Options) (http.RoundTripper, error) {
	if o.Network != nil {
		return o.Network, nil
	}
	if transport == nil {
		return nil, nil
	}
	settings, err := *conf, error(nil)
	c.fresh, err = FreshTransport(conf.TLSConfig, func() (*http.Transport, error) {
		again := settings
		return transportFor(&again)
	}, o.Clock.Now, o.Logger)
	if err != nil || c.fresh == nil {
		return transport, err
	}
	return c.fresh, nil
}

// ReloadCertificates reads the files of the certificates for Nomad again. With an error the
// old ones stay in use.
func (w *World) ReloadCertificates() error {
	if w.nomad.fresh == nil {
		return nil
	}
	return w.nomad.fresh.Reload()
}

func (o Options) withDefaults() Options {
	if o.HoldPool == "" {
		o.HoldPool = DefaultHoldPool
	}
	if o.RunPool == "" {
		o.RunPool = DefaultRunPool
	}
	if o.Owner == "" {
		o.Owner = DefaultOwner
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Address is where Nomad is, as it was given: a URL or a socket.
func (w *World) Address() string { return w.address }

// API returns the underlying Nomad client, for the callers that need an endpoint
// this package has no word for.
func (w *World) API() *api.Client { return w.nomad.api }

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// onceLog says a thing once per key, so that a poll does not fill the log.
type onceLog struct {
	mu   sync.Mutex
	said map[string]string
}

// first reports whether text is new for key.
func (o *onceLog) first(key, text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said == nil {
		o.said = map[string]string{}
	}
	if o.said[key] == text {
		return false
	}
	o.said[key] = text
	return true
}
