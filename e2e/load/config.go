package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"time"
)

// Defaults and bounds of a Config.
const (
	DefaultConnections = 8
	DefaultKeys        = 10_000
	DefaultValueBytes  = 64
	DefaultTimeout     = 5 * time.Second

	maxConnections    = 10_000
	maxRate           = 1_000_000
	maxValueBytes     = 64 << 20
	maxTotalSetBytes  = 16 << 30
	remoteLookupLimit = 5 * time.Second
)

// Protocol is what the generator speaks.
type Protocol string

// The protocols.
const (
	Redis Protocol = "redis" // GET and SET over one or more pipelined connections
	HTTP  Protocol = "http"  // GET over keep-alive connections
)

// Arrivals is how requests are spread over time.
type Arrivals string

// The arrival processes.
const (
	Even    Arrivals = "even"    // as many in each tick, up to rounding
	Poisson Arrivals = "poisson" // independent of each other
)

// Config describes a load. Zero values are defaults, where one is named.
type Config struct {
	Protocol Protocol
	// Target is host:port for redis, a URL for HTTP. Only loopback addresses are
	// allowed unless AllowRemote is set.
	Target      string
	AllowRemote bool
	// RatePerSecond is the number of requests that become due in a second.
	RatePerSecond float64
	Arrivals      Arrivals // default Even
	Connections   int      // default DefaultConnections
	// Duration ends the load; 0 lets it run until the context ends.
	Duration time.Duration
	// Timeout is how long an answer may take before the request is an error and,
	// for redis, the connection is made anew. Default DefaultTimeout.
	Timeout time.Duration
	// Wait is how long the target may take to answer for the first time; 0 is
	// not at all.
	Wait time.Duration
	Seed uint64

	// For redis: keys are "key:0" … "key:<Keys-1>", evenly chosen; a request is
	// a GET with probability ReadFraction and else a SET of ValueBytes bytes.
	// Preload sets every key once before the load begins.
	Keys         int
	ValueBytes   int
	ReadFraction float64
	Preload      bool

	// Listen is the address of the Prometheus endpoint (/metrics); empty is none.
	Listen string
	// Output gets one line per second and is not written to afterwards; nil is
	// none.
	Output io.Writer
}

// complete returns the configuration with defaults, or every mistake in it.
func (c Config) complete(ctx context.Context) (Config, error) {
	setDefault(&c.Arrivals, Even)
	setDefault(&c.Connections, DefaultConnections)
	setDefault(&c.Timeout, DefaultTimeout)
	setDefault(&c.Keys, DefaultKeys)
	setDefault(&c.ValueBytes, DefaultValueBytes)
	if c.Output == nil {
		c.Output = io.Discard
	}
	if err := errors.Join(c.checkShape(), c.checkNumbers(), c.checkTarget(ctx)); err != nil {
		return c, fmt.Errorf("load: %w", err)
	}
	return c, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c Config) checkShape() error {
	var errs []error
	if !slices.Contains([]Protocol{Redis, HTTP}, c.Protocol) {
		errs = append(errs, fmt.Errorf("protocol %q: use %s or %s", c.Protocol, Redis, HTTP))
	}
	if !slices.Contains([]Arrivals{Even, Poisson}, c.Arrivals) {
		errs = append(errs, fmt.Errorf("arrivals %q: use %s or %s", c.Arrivals, Even, Poisson))
	}
	return errors.Join(errs...)
}

func (c Config) checkNumbers() error {
	var errs []error
	within := func(what string, value, low, high float64) {
		// Written so that NaN is refused too.
		if !(value >= low && value <= high) {
			errs = append(errs, fmt.Errorf("%s %g: give %g to %g", what, value, low, high))
		}
	}
	within("rate", c.RatePerSecond, 0.01, maxRate)
	within("connections", float64(c.Connections), 1, maxConnections)
	within("duration in seconds", c.Duration.Seconds(), 0, 1e9)
	within("timeout in seconds", c.Timeout.Seconds(), 0.001, 3600)
	within("keys", float64(c.Keys), 1, 1e9)
	within("value bytes", float64(c.ValueBytes), 1, maxValueBytes)
	within("read fraction", c.ReadFraction, 0, 1)
	within("keys × value bytes", float64(c.Keys)*float64(c.ValueBytes), 1, maxTotalSetBytes)
	return errors.Join(errs...)
}

// checkTarget refuses what is not on this machine: a load generator aimed
// elsewhere by mistake is an attack.
func (c Config) checkTarget(ctx context.Context) error {
	host, err := c.targetHost()
	if err != nil || c.AllowRemote {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, remoteLookupLimit)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("target %s: %w", c.Target, err)
	}
	for _, a := range addresses {
		if !a.Unmap().IsLoopback() {
			return fmt.Errorf("target %s is %s, which is not this machine's loopback; -allow-remote permits it", c.Target, a)
		}
	}
	return nil
}

func (c Config) targetHost() (string, error) {
	if c.Protocol == HTTP {
		u, err := url.Parse(c.Target)
		if err != nil {
			return "", fmt.Errorf("target: %w", err)
		}
		if u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return "", fmt.Errorf("target %q: give http://host:port/path", c.Target)
		}
		return u.Hostname(), nil
	}
	host, _, err := net.SplitHostPort(c.Target)
	if err != nil || host == "" {
		return "", fmt.Errorf("target %q: give host:port", c.Target)
	}
	return host, nil
}
