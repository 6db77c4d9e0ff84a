package cluster

import (
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// ErrNoRecord: nothing was recorded under that name.
var ErrNoRecord = errors.New("no such record")

// Stage is how far an evaluation is.
type Stage string

// The stages, in the order of the engine.
const (
	StageHold     Stage = "hold"     // seen, waiting for its turn
	StageProfile  Stage = "profile"  // sandboxed copies run next to kernels
	StageClassify Stage = "classify" // filling in what was not measured
	StagePlace    Stage = "place"    // choosing nodes
	StageRewrite  Stage = "rewrite"  // writing the job, compare-and-set
	StageObserve  Stage = "observe"  // released, being measured
	StageDone     Stage = "done"     // nothing more to do for this version
	StageFailed   Stage = "failed"   // released to stock rules after an error
)

// Ended reports that the evaluation waits for nothing more before its job may
// run: it was released, or given up.
func (s Stage) Ended() bool {
	return s == StageObserve || s == StageDone || s == StageFailed
}

// EvaluationFormat is the version of the JSON form of an Evaluation.
const EvaluationFormat = 1

// Evaluation is one job on its way through the engine.
type Evaluation struct {
	Format     int       `json:"format"` // EvaluationFormat
	Job        JobID     `json:"job"`
	JobVersion uint64    `json:"job_version"`     // the version the user submitted
	Group      string    `json:"group,omitempty"` // the group under work now
	Stage      Stage     `json:"stage"`
	Message    string    `json:"message"` // one sentence: what happens now, or how it ended
	StartedAt  time.Time `json:"started_at"`
	StageAt    time.Time `json:"stage_at"`   // when the stage began
	UpdatedAt  time.Time `json:"updated_at"` // last sign of life
	Deadline   time.Time `json:"deadline"`   // the job runs under stock rules from here on; zero where it is not held
	// Fraction is the share of the whole evaluation that is done, 0..1; nil
	// where it is not known.
	Fraction *float64 `json:"fraction,omitempty"`
	// RemainingSeconds until release; nil where it is unknown.
	RemainingSeconds *float64            `json:"remaining_seconds,omitempty"`
	Source           interference.Source `json:"source,omitempty"` // whose kernel runs now, while profiling
	IntensityPercent float64             `json:"intensity_percent,omitempty"`
	Released         uint64              `json:"released,omitempty"` // job version written by the placer; 0 before
	Steps            []Step              `json:"steps,omitempty"`
}

// Resident is a workload on a node.
type Resident struct {
	Workload    WorkloadID `json:"workload"`
	Allocations int        `json:"allocations"`
	Resources   Resources  `json:"resources"` // of all its allocations there
	Known       bool       `json:"known"`     // its scores are known
}

// NodeRecord is one node as the placer sees it: what is used of it, and what its residents
// tolerate and cause.
type NodeRecord struct {
	Node      Node        `json:"node"`
	Used      Resources   `json:"used"`
	Disk      *DiskRecord `json:"disk,omitempty"` // nil: the node does not say what its disk does
	Pressure  Pressure    `json:"pressure"`
	Residents []Resident  `json:"residents,omitempty"`
	At        time.Time   `json:"at"`
}

// DiskRecord is what is promised of a node's disk, in MB/s.
type DiskRecord struct {
	RatedMBPerSec    float64 `json:"rated_mb_per_sec"`
	PromisedMBPerSec float64 `json:"promised_mb_per_sec"`
	FreeMBPerSec     float64 `json:"free_mb_per_sec"`   // to a workload that keeps its bound whatever the use
	Problem          string  `json:"problem,omitempty"` // why nothing is counted
}
