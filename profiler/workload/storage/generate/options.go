package generate

import (
	"errors"
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// ErrOptions: the options do not go together, or are out of bounds.
var ErrOptions = errors.New("generating I/Os")

// Options choose what is generated. The same model and options give the same I/Os.
type Options struct {
	Seed uint64
	// IOs ends the stream after so many, beginning the model's time again as often as is
	// needed; 0 ends it with the model's time.
	IOs int64
	// Intensity scales all gaps (§A.3.4): 0.5 has twice as many I/Os in the same time. 0 is 1.
	Intensity float64
	// Compression shortens the time of every interval and leaves gaps as they are (§B.3.2):
	// 96 makes 15 minutes of 24 hours. 0 is 1.
	Compression float64
	// Family replaces the families of all gaps, with their means and variations.
	Family model.Family
	// OneRate takes the mean rate of the whole trace instead of that of each interval.
	OneRate bool
}

// bounds of the knobs, against slips of the pen.
const (
	leastKnob = 1e-6
	mostKnob  = 1e6
)

func (o Options) complete() (Options, error) {
	if o.Intensity == 0 {
		o.Intensity = 1
	}
	if o.Compression == 0 {
		o.Compression = 1
	}
	inside := func(v float64) bool { return v >= leastKnob && v <= mostKnob && !math.IsNaN(v) }
	switch {
	case o.IOs < 0:
		return o, fmt.Errorf("%w: %d I/Os", ErrOptions, o.IOs)
	case !inside(o.Intensity):
		return o, fmt.Errorf("%w: gaps scaled by %g; %g to %g can be", ErrOptions, o.Intensity, leastKnob, mostKnob)
	case !inside(o.Compression):
		return o, fmt.Errorf("%w: time compressed by %g; %g to %g can be", ErrOptions, o.Compression, leastKnob, mostKnob)
	}
	if o.Family != model.UnknownFamily {
		if _, err := model.FamilyOf(string(o.Family)); err != nil {
			return o, fmt.Errorf("%w: %w", ErrOptions, err)
		}
	}
	return o, nil
}
