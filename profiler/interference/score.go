package interference

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Score is a sensitivity score or an intensity on the percent scale, 0 to 100.
// The zero value is Unknown. In JSON a score is a number, and unknown is null.
type Score struct {
	percent float64
	known   bool
}

// Unknown is the score that was not measured or could not be distinguished from noise.
var Unknown = Score{}

// Percent returns the score v clipped to [0, 100]. NaN gives Unknown.
func Percent(v float64) Score {
	if math.IsNaN(v) {
		return Unknown
	}
	return Score{percent: min(100, max(0, v)), known: true}
}

// Known reports whether the score has a value.
func (s Score) Known() bool { return s.known }

// Percent returns the value and whether it is known. An unknown score is NaN,
// never zero, so that a forgotten check shows.
func (s Score) Percent() (float64, bool) {
	if !s.known {
		return math.NaN(), false
	}
	return s.percent, true
}

// Or returns the value in percent, or fallback where it is unknown.
func (s Score) Or(fallback float64) float64 {
	if !s.known {
		return fallback
	}
	return s.percent
}

// String prints "42 %" or "unknown".
func (s Score) String() string {
	if !s.known {
		return "unknown"
	}
	return strconv.FormatFloat(math.Round(s.percent*10)/10, 'f', -1, 64) + " %"
}

// MarshalJSON writes the number, or null where the score is unknown.
func (s Score) MarshalJSON() ([]byte, error) {
	if !s.known {
		return []byte("null"), nil
	}
	return json.Marshal(s.percent)
}

// UnmarshalJSON reads a number in [0, 100] or null.
func (s *Score) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = Unknown
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("score: %w", err)
	}
	if v < 0 || v > 100 {
		return fmt.Errorf("score %v is outside 0 to 100 percent", v)
	}
	*s = Percent(v)
	return nil
}

// Origin says where a number came from.
type Origin string

// The origins of an estimate.
const (
	Measured  Origin = "measured"  // under pressure on this source, together with what other scores and workloads say
	Predicted Origin = "predicted" // by a classifier from the workload's other measured scores
	Captured  Origin = "captured"  // of the network: by what its connections moved, as a part of a link
	Assumed   Origin = "assumed"   // nothing of it was measured: what others do, or the stated default
)

// Estimate is a score with its interval and its origin. Low and High bound a
// 95 % confidence interval; they are Unknown where no interval is known.
type Estimate struct {
	Score  Score  `json:"score"`
	Low    Score  `json:"low"`
	High   Score  `json:"high"`
	Origin Origin `json:"origin,omitempty"`
	Note   string `json:"note,omitempty"` // why unknown, or what to mind
	// Before is the 95 % interval of a workload of which nothing is measured, by what others
	// do: what measurement has narrowed to Low and High. Zero where nothing is known of others.
	Before Range `json:"before,omitzero"`
	// WithoutProduction is what the estimate would be without what running allocations have
	// taught. Zero where that has changed nothing.
	WithoutProduction Prior `json:"without_production,omitzero"`
}

// Prior is an estimate as it was before something was learnt.
type Prior struct {
	Score Score `json:"score"`
	Range
}

// IsMeasured reports whether the score is known from the workload's own measurements; an
// empty origin is that of a profile.
func (e Estimate) IsMeasured() bool {
	return e.Score.Known() && (e.Origin == Measured || e.Origin == "")
}

// Range is an interval of scores.
type Range struct {
	Low  Score `json:"low"`
	High Score `json:"high"`
}

// Width is the distance of its ends in points; false where one is not known.
func (r Range) Width() (float64, bool) {
	low, known := r.Low.Percent()
	high, also := r.High.Percent()
	return high - low, known && also
}

// Within is the interval of an estimate.
func (e Estimate) Within() Range { return Range{e.Low, e.High} }

// normal95 is Φ⁻¹(0.975): so many standard deviations to either side are a 95 % interval.
const normal95 = 1.959963984540054

// Deviation is the standard deviation in points that a normal distribution with this
// interval has; NaN where there is none.
func (e Estimate) Deviation() float64 {
	low, known := e.Low.Percent()
	high, both := e.High.Percent()
	if !e.Score.Known() || !known || !both {
		return math.NaN()
	}
	return (high - low) / (2 * normal95)
}

// Scores holds one estimate per source. A missing source is unknown.
type Scores map[Source]Estimate

// Vector returns the scores in column order; unknown is NaN.
func (s Scores) Vector(columns []Source) []float64 {
	out := make([]float64, len(columns))
	for i, c := range columns {
		out[i], _ = s[c].Score.Percent()
	}
	return out
}

// Sensitivity is what is known of a workload's interference.
type Sensitivity struct {
	Tolerated Scores `json:"tolerated"`
	Caused    Scores `json:"caused"`
	// RequiredFraction is the share of its performance in isolation that must be left to it, where its
	// target says so; nil is unknown.
	RequiredFraction *float64 `json:"-"`
	// LateShare is the share of its requests that may be later than the bound of its target, where
	// Tolerated is the pressure under which so many are; 0: it has no such bound.
	LateShare float64 `json:"-"`
	// DemandFactor is how many times the part of the CPU time it takes on nodes of a
	// configuration, of that where Caused was measured: a slower node is busier with
	// the same work. Absent: as much.
	DemandFactor map[string]float64 `json:"busier,omitempty"`
	// RunMS is how long its threads run at a time in isolation, in milliseconds; 0 is not known.
	RunMS float64 `json:"run_ms,omitempty"`
}
