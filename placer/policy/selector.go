package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

// SelectorDescriptor is one line of the table of selectors: a policy on dense
// numbers, as the simulator asks it. New builds one for a board, and may
// register an index of its own there; zero Options are the policy's defaults.
type SelectorDescriptor struct {
	Name         string
	Summary      string
	Paper        string // author, year, section; "" for baselines
	NeedsProfile bool   // only better than chance with a profile
	Sizes        bool   // chooses size and count too
	Parameters   []Parameter
	New          func(b *board.Board, o Options) board.Selector

	reason string // of a live decision: how the nodes were found
	drawn  int    // live it looks at so many nodes with room, drawn at random where there are more; 0: at all
	waits  bool   // it may refuse nodes while a request is not forced: a refuser
}

// Options are the parameters of a selector; a zero field is the policy's own default.
type Options struct {
	Candidates    int           // drawn per allocation
	CandidatesMax int           // drawn at most, where the number follows the load
	FailureShare  float64       // accepted probability that no good candidate is drawn, 0..1
	Literal       bool          // the formula as printed, where we correct it
	Uniform       bool          // candidates by lot instead of by hash
	MeasuredBound bool          // test measured tolerances instead of derived ones
	Locality      Locality      // of the allocations of one group
	Timeout       time.Duration // the search ends after as many nodes as the decision-time model allows
	Batch         bool          // Nomad's rules for batch jobs
	Radius        float64       // of a query, per coordinate, share of a source
	Step          float64       // by which a query grows, share of a source
	Epsilon       *float64      // weight of a job's work (Tetris); nil is the default
	Scoring       predict.Scoring
	Accept        *float64 // least worth of a node that is taken while there is time to wait, 0..1 (expected)
	Headroom      float64  // slowdown that is always expected
	// Saturates: co-runners together exert at most what a source can be loaded with, 100
	// points; the papers add their scores up without a limit.
	Saturates bool
	// FewestViolations: where some bound breaks on every node, the fewest new violations
	// come before speed; Quasar leaves that open.
	FewestViolations bool
	// FairShares: co-located allocations take at most their fair share of CPU time from
	// each other (decision 0017); the papers add their scores up.
	FairShares bool
}

// Live are the options of a selector that places on a real cluster: on a small one no node
// may keep every bound, and work must run there all the same.
func Live() Options { return Options{Saturates: true, FewestViolations: true, FairShares: true} }

// experienced is the pressure of co-runners whose caused scores add up to sum.
func (o Options) experienced(sum float64) float64 {
	if o.Saturates {
		return min(sum, fullPressurePercent)
	}
	return sum
}

const fullPressurePercent = 100.0

// Locality is how near to each other the allocations of a group are put.
type Locality int

// The localities (Delimitrou 2015, §7.3.2).
const (
	Anywhere Locality = iota
	Near              // same server, else same rack
	Apart             // at most one per server
)

// Parameter is one of a selector's options in a text file.
type Parameter struct {
	Name    string
	Default string
	Summary string

	set func(o *Options, value string) error
}

// Options reads named values, or says which is unknown or wrong.
func (d SelectorDescriptor) Options(values map[string]string) (Options, error) {
	var o Options
	left := len(values)
	for _, p := range d.Parameters {
		value, ok := values[p.Name]
		if !ok {
			continue
		}
		left--
		if err := p.set(&o, value); err != nil {
			return Options{}, fmt.Errorf("policy %s: %s = %q: %w", d.Name, p.Name, value, err)
		}
	}
	if left == 0 {
		return o, nil
	}
	var names []string
	known := map[string]bool{}
	for _, p := range d.Parameters {
		names = append(names, p.Name)
		known[p.Name] = true
	}
	for _, name := range sortedKeys(values) {
		if !known[name] {
			return Options{}, fmt.Errorf("policy %s has no parameter %q; known: %s", d.Name, name, strings.Join(names, ", "))
		}
	}
	return o, nil
}

func positiveInt(field func(o *Options) *int) func(*Options, string) error {
	return func(o *Options, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return errors.New("a whole number above 0 is needed")
		}
		*field(o) = n
		return nil
	}
}

// shareOf reads a number above 0, and 1 at most.
func shareOf(field func(o *Options) *float64) func(*Options, string) error {
	return func(o *Options, value string) error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return errors.New("a number above 0 and at most 1 is needed")
		}
		*field(o) = v
		return nil
	}
}

// oneOf sets a field by the name of one of a few choices.
func oneOf(choices map[string]func(o *Options)) func(*Options, string) error {
	return func(o *Options, value string) error {
		set, ok := choices[value]
		if !ok {
			return fmt.Errorf("one of %s is needed", strings.Join(sortedKeys(choices), ", "))
		}
		set(o)
		return nil
	}
}

func candidatesParameter(fallback int) Parameter {
	return Parameter{
		Name: "candidates", Default: strconv.Itoa(fallback), Summary: "candidates drawn per allocation",
		set: positiveInt(func(o *Options) *int { return &o.Candidates }),
	}
}

var timeoutParameter = Parameter{
	Name: "timeout", Default: "none", Summary: "the search takes the best of what it has seen after this time of the decision-time model",
	set: func(o *Options, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return errors.New(`a duration above 0 is needed, such as "2s"`)
		}
		o.Timeout = d
		return nil
	},
}

// orDefault is v, or the fallback where v is 0.
func orDefault[T int | float64](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
