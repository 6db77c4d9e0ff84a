package pairs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Placements of a pair.
const (
	Same   = "same"   // both on the first CPU
	Beside = "beside" // A on the first CPU, B on the second
)

// Subject is a workload that can be bound to CPUs while it stands still.
type Subject interface {
	profiler.Subject
	// Pin binds all its processes, and those they start from now on.
	Pin(ctx context.Context, cpus []int) error
}

// Application is one workload of the set.
type Application struct {
	Key         string                `json:"key"`
	Application string                `json:"application"`
	Task        string                `json:"task"`
	Target      performance.Target    `json:"target"`
	Probe       performance.ProbeSpec `json:"probe"`
}

// Choice is a pair to measure: applications by name.
type Choice struct {
	A         string `json:"a"`
	B         string `json:"b"`
	Placement string `json:"placement"`
}

// Request is what to measure. Its JSON is the `request` of the driver's pairs
// block. Zero times and counts are defaults.
type Request struct {
	Format        int           `json:"format"`
	Applications  []Application `json:"applications"`
	Pairs         []Choice      `json:"pairs"`
	CPUs          []int         `json:"cpus"` // the first, and for Beside the second
	Configuration string        `json:"configuration"`
	Rounds        int           `json:"rounds,omitempty"`        // default 6
	WindowMillis  int           `json:"window_millis,omitempty"` // default 200
	SettleMillis  int           `json:"settle_millis,omitempty"` // default 60
	Seed          uint64        `json:"seed"`
}

// RequestFormat is the version of Request.
const RequestFormat = 1

// ResultFile and ProgressFile are what a run leaves in the allocation's shared
// directory: one profile.Pair a line, as they are measured, and its
// profiler.Progress.
const (
	ResultFile   = "pairs.jsonl"
	ProgressFile = "pairs-progress.json"
)

const (
	// defaultRounds are the least that carry an interval of 95 %, and give every
	// order of windows once.
	defaultRounds = 6
	// defaultWindow and defaultSettle make a pair of six rounds take five seconds.
	defaultWindow = 200
	defaultSettle = 60
	maxRounds     = 60
	confidence    = 0.95
)

// Errors of a run.
var (
	ErrRequest = errors.New("the request for pairs is not usable")
	// ErrPartial: some pairs were not measured; it says which and why.
	ErrPartial = errors.New("not all pairs were measured")
)

// Options are what a run needs besides its request.
type Options struct {
	Clock   profiler.Clock
	Machine profile.Machine // without its CPUs
	// Measured gets each pair as it is ready; its error ends the run.
	Measured func(profile.Pair) error
	// Progress gets what is being done; nil: it is not shown.
	Progress func(profiler.Progress)
}

// WithDefaults completes a request, or says what is wrong with it.
func (r Request) WithDefaults() (Request, error) {
	if r.Rounds == 0 {
		r.Rounds = defaultRounds
	}
	if r.WindowMillis == 0 {
		r.WindowMillis = defaultWindow
	}
	if r.SettleMillis == 0 {
		r.SettleMillis = defaultSettle
	}
	return r, r.check()
}

func (r Request) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrRequest, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Format != RequestFormat:
		return bad("format %d, this release reads %d", r.Format, RequestFormat)
	case len(r.Pairs) == 0:
		return bad("no pairs")
	case r.Rounds < 1 || r.Rounds > maxRounds:
		return bad("%d rounds: give 1 to %d", r.Rounds, maxRounds)
	case r.WindowMillis < 0 || r.SettleMillis < 0:
		return bad("a negative time")
	case len(r.CPUs) == 0:
		return bad("no CPUs")
	}
	names := map[string]bool{}
	for _, a := range r.Applications {
		if a.Application == "" || a.Key == "" || a.Task == "" || names[a.Application] {
			return bad("an application needs a name of its own, a key and a task: %q", a.Application)
		}
		names[a.Application] = true
	}
	for _, c := range r.Pairs {
		switch {
		case !names[c.A] || !names[c.B] || c.A == c.B:
			return bad("a pair of %q and %q", c.A, c.B)
		case c.Placement != Same && c.Placement != Beside:
			return bad("placement %q: use %s or %s", c.Placement, Same, Beside)
		case c.Placement == Beside && len(r.CPUs) < 2:
			return bad("placement %s needs two CPUs", Beside)
		}
	}
	return nil
}

// Duration is about how long a run takes once the workloads are there.
func (r Request) Duration() time.Duration {
	if full, err := r.WithDefaults(); err == nil {
		r = full
	}
	window := time.Duration(r.WindowMillis+r.SettleMillis)*time.Millisecond + windowOverhead
	return time.Duration(len(r.Pairs)*r.Rounds*windowsPerRound) * window
}

const (
	windowsPerRound = 3
	// windowOverhead is for freezing, thawing, and the wait for a step.
	windowOverhead = 30 * time.Millisecond
)

// cpus of the sides of a pair.
func (r Request) cpus(placement string) (a, b []int) {
	if placement == Same {
		return r.CPUs[:1], r.CPUs[:1]
	}
	return r.CPUs[:1], r.CPUs[1:2]
}
