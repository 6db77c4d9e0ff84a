package validate

import (
	"encoding/json"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Number is a measured number; NaN, not known, is null in JSON.
type Number float64

// unknown is a number that was not measured.
var unknown = Number(math.NaN())

// Known reports whether there is a number.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes the number or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads a number or null.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = unknown
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*n = Number(v)
	return nil
}

// Interval is a median with its interval.
type Interval struct {
	Center     Number `json:"center"`
	Low        Number `json:"low"`
	High       Number `json:"high"`
	Confidence Number `json:"confidence"` // of Low to High, 0..1, as reached
	Pairs      int    `json:"pairs"`
}

func intervalOf(s stat.Summary) Interval {
	return Interval{Number(s.Center), Number(s.Low), Number(s.High), Number(s.Confidence), s.N}
}

// lossOf turns the interval of a ratio with / without pressure into the loss in
// percent.
func lossOf(ratio Interval) Interval {
	loss := func(n Number) Number { return 100 * (1 - n) }
	return Interval{loss(ratio.Center), loss(ratio.High), loss(ratio.Low), ratio.Confidence, ratio.Pairs}
}

// excludesZero reports whether the interval is all above zero.
func (i Interval) excludesZero() bool { return i.Low.Known() && i.Low > 0 }

// Report is everything that was measured, in the order of the sources.
type Report struct {
	Format          int               `json:"format"`
	CommandLine     string            `json:"command_line"`
	Program         string            `json:"program"` // hash of the binary
	Machine         MachineRecord     `json:"machine"`
	Started         time.Time         `json:"started"`
	Ended           time.Time         `json:"ended"`
	MeasuredSeconds float64           `json:"measured_seconds"` // over all runs that were put together
	Seed            uint64            `json:"seed"`
	Quick           bool              `json:"quick"`
	Sources         []SourceRecord    `json:"sources"`
	Linearity       []Linearity       `json:"linearity"`
	Victims         []VictimCurve     `json:"victims"`
	Displacements   []Displacement    `json:"displacements"`
	CrossTalk       []CrossTalk       `json:"cross_talk"`
	OffTarget       []OffTarget       `json:"off_target"`
	Yardsticks      []YardstickResult `json:"yardsticks"`
	Failures        []Failure         `json:"failures,omitempty"`
	Notes           []string          `json:"notes,omitempty"` // what a reader should know of the run
}

// ReportFormat is the version of Report.
const ReportFormat = 1

// MachineRecord is the fingerprint of the machine.
type MachineRecord struct {
	Key           ibench.MachineKey `json:"key"`
	CalibrationID string            `json:"calibration_id"`
	CPUs          int               `json:"cpus"`
	SMT           bool              `json:"smt"`
	MemoryBytes   int64             `json:"memory_bytes"`
	Caches        []ibench.Cache    `json:"caches"`
	VictimCPU     int               `json:"victim_cpu"`
	BesideCPUs    []int             `json:"beside_cpus"`
}

// SourceRecord is what the calibration says of a source.
type SourceRecord struct {
	Source interference.Source `json:"source"`
	Status ibench.Status       `json:"status"`
	Reason string              `json:"reason,omitempty"`
	Knob   ibench.Knob         `json:"knob,omitempty"`
	Notes  []string            `json:"notes,omitempty"`
}

// Failure is a cell that could not be measured.
type Failure struct {
	Cell   string `json:"cell"`
	Reason string `json:"reason"`
}

// Linearity is the impact of one kernel against its intensity.
type Linearity struct {
	Source    interference.Source `json:"source"`
	Placement string              `json:"placement"`
	Measure   string              `json:"measure"` // what impact is, in words
	Points    []LinearPoint       `json:"points"`  // in the order measured
	RSquared  Number              `json:"r_squared"`
	MaxGap    Number              `json:"max_gap_percent"` // points
	PeakOps   Number              `json:"peak_ops_per_sec"`
	Unit      string              `json:"unit"`
}

// LinearPoint is one level.
type LinearPoint struct {
	Intensity float64 `json:"intensity_percent"`
	Impact    Number  `json:"impact_percent"`
	Down      bool    `json:"down"` // on the way down
}

// The targets of the validation.
const (
	rSquaredMin      = 0.98
	gapMaxPoints     = 5.0
	yardstickMin     = 0.95
	crossTalkMaxLoss = 15.0 // percent
)

// Linear reports whether the curve meets the target.
func (l Linearity) Linear() bool { return l.RSquared >= rSquaredMin && l.MaxGap <= gapMaxPoints }

// VictimCurve is what a workload that lives on the resource loses.
type VictimCurve struct {
	Source    interference.Source `json:"source"`
	Victim    string              `json:"victim"`
	Does      string              `json:"does"`
	Placement string              `json:"placement"`
	Points    []VictimPoint       `json:"points"`
	// RiseViolation is the largest step, in points of loss, by which the curve
	// misses the nearest one that never falls.
	RiseViolation Number `json:"rise_violation_percent"`
	Noise         Number `json:"noise_percent"` // half the median interval
	Verdict       string `json:"verdict"`
	RSquared      Number `json:"r_squared"`       // of the loss, scaled to that at 100, against intensity
	MaxGap        Number `json:"max_gap_percent"` // of the same
}

// VictimPoint is the loss at one level.
type VictimPoint struct {
	Intensity float64  `json:"intensity_percent"`
	Loss      Interval `json:"loss_percent"`
}

// Displacement is the share of a unit that a footprint kernel takes from a
// probe.
type Displacement struct {
	Source    interference.Source `json:"source"`
	Probe     string              `json:"probe"`
	Placement string              `json:"placement"`
	UnitBytes int64               `json:"unit_bytes"`
	QuietNs   Number              `json:"quiet_ns_per_line"` // with the kernel at 0
	FullNs    Number              `json:"full_ns_per_line"`  // with everything displaced
	Points    []LinearPoint       `json:"points"`            // displaced share in percent
	RSquared  Number              `json:"r_squared"`
	MaxGap    Number              `json:"max_gap_percent"`
	Verdict   string              `json:"verdict"`
}

// CrossTalk is what one kernel at 100 costs another kernel.
type CrossTalk struct {
	From interference.Source `json:"from"`
	To   interference.Source `json:"to"`
	PairLoss
}

// OffTarget is what a kernel at 100 costs the victim of another source.
type OffTarget struct {
	From   interference.Source `json:"from"`
	Victim interference.Source `json:"victim"`
	PairLoss
}

// PairLoss is what one of two loses, and what that means.
type PairLoss struct {
	Placement string   `json:"placement"`
	Loss      Interval `json:"loss_percent"`
	Verdict   Verdict  `json:"verdict"`
	Why       string   `json:"why,omitempty"`
}

// Verdict on a pair.
type Verdict string

// The verdicts.
const (
	VerdictOK       Verdict = "ok"
	VerdictExpected Verdict = "expected" // over the target; exceptions.go says why
	VerdictMiss     Verdict = "MISS"
)

// YardstickResult compares a kernel's peak or size with something independent.
type YardstickResult struct {
	Source    interference.Source `json:"source"`
	Yardstick string              `json:"yardstick"`
	Compares  string              `json:"compares"`
	Unit      string              `json:"unit"`
	Kernel    Number              `json:"kernel"`
	Other     Number              `json:"yardstick_value"`
	Ratio     Interval            `json:"ratio"`
	// Counts says whether the 95 % target is asked of this row.
	Counts bool   `json:"counts"`
	Absent string `json:"absent,omitempty"` // why nothing was compared
}

// Reached reports whether the kernel meets the target.
func (y YardstickResult) Reached() bool { return y.Ratio.Center >= yardstickMin }
