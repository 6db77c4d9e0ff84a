package trace

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Options choose what of a trace is read and how it is understood. The zero
// value is the whole trace at its own pace.
type Options struct {
	// Files are the files of the folder to read, in this order; empty: all that the
	// format recognises.
	Files []string
	// Origin is the time on the trace's clock that submissions count from. Nil: the
	// first submission, or the trace's own zero where it has machine events.
	Origin *time.Duration
	// From and To are the stretch that is read, since the origin; To 0 is the end.
	// Submissions then count from From.
	From, To time.Duration
	// Sample is the share of jobs that is kept, in (0, 1]; 0 is all of them. Which
	// ones depends on a hash of Group (or ID, without one) and SampleSeed alone.
	Sample     float64
	SampleSeed uint64
	// Limit ends the trace after this many jobs; 0 is no limit.
	Limit int64
	// SubmitScale multiplies the offsets of submissions: 0.5 is twice the rate. 0 is 1.
	SubmitScale float64
	// DurationScale multiplies durations. 0 is 1.
	DurationScale float64
	// LargestCores and LargestMemoryBytes are the size of the largest machine, for
	// traces that publish sizes relative to it. 0 is the format's default.
	LargestCores, LargestMemoryBytes float64
	// Horizon is how far ahead of a submission its end is looked for, for traces of
	// events; what has not ended by then has an unknown duration. 0 is a day.
	Horizon time.Duration
	// SkipUnfinished leaves out jobs whose duration is not known.
	SkipUnfinished bool
	// SkipMalformed counts rows that cannot be read as skipped instead of failing.
	SkipMalformed bool
	// MaxSorted bounds the jobs held at once by formats that are sorted in memory;
	// above it reading fails. 0 is 15 million (about 4 GiB).
	MaxSorted int
	// Map is the column map of the format csv.
	Map ColumnMap
}

const (
	defaultHorizon   = 24 * time.Hour
	defaultMaxSorted = 15_000_000
)

// ErrOptions: the options contradict themselves.
var ErrOptions = errors.New("bad trace options")

// complete checks the options and fills in defaults.
func (o Options) complete() (Options, error) {
	if o.SubmitScale == 0 {
		o.SubmitScale = 1
	}
	if o.DurationScale == 0 {
		o.DurationScale = 1
	}
	if o.Horizon == 0 {
		o.Horizon = defaultHorizon
	}
	if o.MaxSorted == 0 {
		o.MaxSorted = defaultMaxSorted
	}
	if o.Sample == 0 {
		o.Sample = 1
	}
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case !(o.Sample > 0 && o.Sample <= 1):
		return fmt.Errorf("%w: sample %v is not in (0, 1]", ErrOptions, o.Sample)
	case o.From < 0 || o.To < 0:
		return fmt.Errorf("%w: from %s and to %s must not be negative", ErrOptions, o.From, o.To)
	case o.To != 0 && o.To <= o.From:
		return fmt.Errorf("%w: to %s is not after from %s", ErrOptions, o.To, o.From)
	case o.Limit < 0 || o.MaxSorted < 0 || o.MaxSorted > math.MaxInt32:
		return fmt.Errorf("%w: limits must not be negative, nor can more than 2 billion jobs be held", ErrOptions)
	case o.Horizon < 0:
		return fmt.Errorf("%w: horizon %s is negative", ErrOptions, o.Horizon)
	}
	for _, v := range []float64{o.SubmitScale, o.DurationScale} {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: scale %v must be a number above 0", ErrOptions, v)
		}
	}
	for _, v := range []float64{o.LargestCores, o.LargestMemoryBytes} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: size %v of the largest machine must be a number, 0 or above", ErrOptions, v)
		}
	}
	return nil
}

// largest is the size of the largest machine: as given, or the format's default.
func (o Options) largest(cores, memoryBytes float64) (float64, float64) {
	if o.LargestCores > 0 {
		cores = o.LargestCores
	}
	if o.LargestMemoryBytes > 0 {
		memoryBytes = o.LargestMemoryBytes
	}
	return cores, memoryBytes
}
