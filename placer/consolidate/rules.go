package consolidate

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/disk"
)

// Rules are the bounds that decisions keep.
type Rules struct {
	// MoveShare is Δ_B, the part of the rated bandwidth that is kept for moving data.
	MoveShare float64
	// MostLoss is what an application of a mix loses at most, a part of its performance.
	MostLoss float64
	// Hysteresis is δ_B and δ_C, parts of MB_s and MC_s: a node that is nearer to its limits
	// takes nothing.
	Hysteresis float64
	// Interval is between two decisions.
	Interval time.Duration
	// OffExpected is how long a node that is emptied is expected to stay off.
	OffExpected time.Duration

	// CapacityOnly looks at the whole capacity and at nothing else, as schemes without
	// bandwidth do.
	CapacityOnly bool
	// NoInterference places without the losses of pairs.
	NoInterference bool
	// SumOfMeans bounds the sum of the means of pairs, as line 16 of Algorithm 1 is printed,
	// instead of the loss of the worst application.
	SumOfMeans bool
	// FirstFit looks at every node that is in use, instead of at the last one only.
	FirstFit bool
	// NoShrink leaves out the step that empties nodes, as Algorithm 2 is printed.
	NoShrink bool
}

// PaperRules are the numbers of the text: Δ_B 2 % of the rated bandwidth (§B.4.2), 10 % of
// performance (§B.3.1), 30 minutes (§B.5.1). Hysteresis of 5 %, and two hours for which a
// node stays off, are chosen by us: the text has no numbers.
func PaperRules() Rules {
	return Rules{MoveShare: disk.MoveShare, MostLoss: 0.10, Hysteresis: 0.05, Interval: 30 * time.Minute, OffExpected: 2 * time.Hour}
}
