package wording

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// UnitRuns is the unit of a rate that counts whole runs of a job.
const UnitRuns = "runs/s"

// Target prints a target: "20,000 requests/s with p99 ≤ 5 ms".
func Target(t performance.Target) string {
	v, unit, ok := t.Value()
	switch {
	case !ok:
		return "best effort"
	case t.Kind == performance.FinishWithin:
		return "finish within " + Quantity(v, unit)
	case t.Latency != nil:
		return Quantity(v, unit) + " with p" + Number(t.Latency.Percentile) + " ≤ " + Duration(t.Latency.Max)
	default:
		return Quantity(v, unit)
	}
}

// DiskPromise prints what is promised of a disk: "40 MB/s per allocation, with up to 70 % of
// the disk in use".
func DiskPromise(p performance.DiskSpec) string {
	text := Number(p.BandwidthMBPerSec) + " MB/s per allocation"
	if p.MostPercent > 0 && p.MostPercent < 100 {
		text += ", with up to " + Number(p.MostPercent) + " % of the disk in use"
	}
	if p.Limit {
		text += ", and no more"
	}
	return text
}

// DiskLimits say how a workload's use of disks is bounded, a sentence for each node: "Its reads
// and writes are limited to 40 MB/s each on x, as its promise says". None where nobody asked.
func DiskLimits(p performance.DiskSpec, limits []cluster.DiskLimit, now time.Time) []string {
	var out []string
	for _, l := range limits {
		if now.Sub(l.At) > cluster.DiskLimitsStale {
			continue
		}
		if said := DiskLimit(l); !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	if p.Limit && len(out) == 0 {
		out = append(out, "It asks that its promise be its limit, and no agent has recorded that it is: none of its tasks runs, or on their node no agent runs that writes records, or that one is told to limit nothing")
	}
	return out
}

// DiskLimit is what DiskLimits say of one allocation.
func DiskLimit(l cluster.DiskLimit) string {
	switch {
	case l.Problem != "":
		return "Its reads and writes are not limited to its promise on " + l.Node + ": " + l.Problem
	case l.Tasks == 0:
		return "Its reads and writes will be limited on " + l.Node + " once its tasks run"
	}
	text := "Its reads and writes are limited to " + Number(l.MBPerSec) + " MB/s each on " + l.Node
	if l.Tasks > 1 {
		text += fmt.Sprintf(", for each of its %d tasks", l.Tasks)
	}
	text += ", as its promise says"
	if l.OnlyDirect {
		text += "; what goes through the page cache is not, for that node has control groups of version 1"
	}
	return text
}

// DiskForecast prints what a disk is expected to do: "at least 62 MB/s are expected in the next
// 30 minutes, of 98 that may be used; of 1 allocation nothing is known".
func DiskForecast(f cluster.DiskForecast) string {
	least, unknown := "", ""
	if f.Unknown > 0 {
		least, unknown = "at least ", "; of "+Count(f.Unknown, "allocation")+" nothing is known"
	}
	return fmt.Sprintf("%s%s MB/s are expected in the next 30 minutes, of %s that may be used%s", least, Number(f.ExpectedMBPerSec), Number(f.MostMBPerSec), unknown)
}

// DiskRecord prints what is promised of a node's disk: "60 of 100 MB/s promised, 38 free".
func DiskRecord(d cluster.DiskRecord) string {
	if d.Problem != "" {
		return Unknown + ": " + d.Problem
	}
	return fmt.Sprintf("%s of %s MB/s promised, %s free", Number(d.PromisedMBPerSec), Number(d.RatedMBPerSec), Number(d.FreeMBPerSec))
}

// Expectation is a prediction in the unit of its target where that can be
// said.
type Expectation struct {
	Known      bool
	Value      float64
	Low, High  float64 // equal to Value where no interval is known
	Unit       string
	Comparable bool // in the target's own unit
}

// Expect puts a prediction into the target's unit: for a finish time a rate of
// runs becomes seconds, and its interval turns round.
func Expect(p cluster.Prediction, t performance.Target) Expectation {
	if !p.Known || math.IsNaN(p.RatePerSec) {
		return Expectation{}
	}
	e := Expectation{Known: true, Value: p.RatePerSec, Low: p.Low, High: p.High, Unit: p.Unit}
	if e.Low == 0 && e.High == 0 {
		e.Low, e.High = e.Value, e.Value
	}
	if e.Unit == "" {
		e.Unit = t.RateUnit()
	}
	if t.Kind == performance.FinishWithin && e.Unit == UnitRuns && e.Value > 0 {
		e.Value, e.Unit = 1/e.Value, "s"
		e.Low, e.High = inverse(p.High, e.Value), inverse(p.Low, e.Value)
	}
	_, unit, ok := t.Value()
	e.Comparable = ok && unit == e.Unit
	return e
}

func inverse(v, fallback float64) float64 {
	if v <= 0 {
		return fallback
	}
	return 1 / v
}

// String prints "21,300 requests/s (20,100 to 22,400)".
func (e Expectation) String() string {
	if !e.Known {
		return Unknown
	}
	if e.Low == e.High {
		return e.Short()
	}
	return fmt.Sprintf("%s (%s to %s)", e.Short(), Number(e.Low), Number(e.High))
}

// Short prints the value without its interval.
func (e Expectation) Short() string {
	if !e.Known {
		return Unknown
	}
	return Quantity(e.Value, e.Unit)
}

// Quantity prints a number with its unit; seconds as a duration.
func Quantity(v float64, unit string) string {
	if unit == "s" && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return Duration(time.Duration(v * float64(time.Second)))
	}
	return Number(v) + " " + unit
}

// Between prints a range with its unit once: "19,800 to 21,300 requests/s".
func Between(low, high float64, unit string) string {
	if unit == "s" {
		return Quantity(low, unit) + " to " + Quantity(high, unit)
	}
	return Number(low) + " to " + Quantity(high, unit)
}

// Verdict compares a measurement with its target.
type Verdict string

// The verdicts.
const (
	Met       Verdict = "met"
	Missed    Verdict = "missed"
	NoVerdict Verdict = "" // no target, or not enough was measured
)

// Measured is what a group does now, all its allocations together.
type Measured struct {
	Known       bool          `json:"known"`
	Value       float64       `json:"value"` // in Unit
	Unit        string        `json:"unit"`
	Tail        time.Duration `json:"tail,omitempty"`       // worst latency at the target's percentile; 0 if not measured
	Percentile  float64       `json:"percentile,omitempty"` // of Tail
	At          time.Time     `json:"at"`                   // of the newest observation
	Allocations int           `json:"allocations"`          // how many were measured
	Missing     int           `json:"missing,omitempty"`    // how many gave no number
	Why         string        `json:"why,omitempty"`        // why there is no number, or why some are missing
	Verdict     Verdict       `json:"verdict,omitempty"`
}

// Measure sums the newest observation of each allocation. An observation that
// is older than the newest one by more than two of its windows belongs to an
// allocation that is gone.
func Measure(t performance.Target, observations []cluster.Observation) Measured {
	newest := newestPerAllocation(observations)
	m := Measured{Unit: t.RateUnit()}
	if t.Latency != nil {
		m.Percentile = t.Latency.Percentile
	}
	if t.Kind == performance.FinishWithin {
		m.Unit = "s"
	}
	for _, o := range newest {
		m.add(t, o)
	}
	if m.Allocations == 0 {
		if m.Why == "" {
			m.Why = "not measured yet"
		}
		return m
	}
	m.Known = true
	m.Verdict = m.judge(t)
	return m
}

func (m *Measured) add(t performance.Target, o cluster.Observation) {
	if o.At.After(m.At) {
		m.At = o.At
	}
	value, ok := observed(t, o)
	if !ok {
		m.Missing++
		m.Why = o.Unavailable
		if m.Why == "" {
			m.Why = "the work is not finished yet"
		}
		return
	}
	m.Allocations++
	if t.Kind == performance.FinishWithin {
		m.Value = max(m.Value, value)
		return
	}
	m.Value += value
	m.Tail = max(m.Tail, o.Measure.LatencyTail)
}

// observed is the one number of an observation that the target speaks of.
func observed(t performance.Target, o cluster.Observation) (float64, bool) {
	if o.Unavailable != "" {
		return 0, false
	}
	if t.Kind == performance.FinishWithin {
		return o.FinishedIn.Seconds(), o.FinishedIn > 0
	}
	return o.Measure.RatePerSec, !math.IsNaN(o.Measure.RatePerSec)
}

func (m *Measured) judge(t performance.Target) Verdict {
	late := t.Latency != nil && m.Tail > t.Latency.Max
	tailUnknown := t.Latency != nil && m.Tail == 0 && t.RateMet(m.Value, t.QPS)
	switch {
	case t.Kind == performance.BestEffort, tailUnknown:
		return NoVerdict
	case late:
		return Missed
	case t.Met(m.Value, m.Tail) && (m.Missing == 0 || t.Kind != performance.FinishWithin):
		return Met
	case m.Missing > 0:
		return NoVerdict // the missing allocations may make up for it
	default:
		return Missed
	}
}

// String prints "19,800 requests/s, p99 4.1 ms".
func (m Measured) String() string {
	if !m.Known {
		return Unknown
	}
	text := Quantity(m.Value, m.Unit)
	if m.Tail > 0 {
		text += ", p" + Number(m.Percentile) + " " + Duration(m.Tail)
	}
	if m.Missing > 0 {
		text += fmt.Sprintf(" (%d of %d allocations)", m.Allocations, m.Allocations+m.Missing)
	}
	return text
}

func newestPerAllocation(observations []cluster.Observation) []cluster.Observation {
	last := map[string]int{}
	var newest time.Time
	for i, o := range observations {
		if j, seen := last[o.Allocation]; !seen || o.At.After(observations[j].At) {
			last[o.Allocation] = i
		}
		if o.At.After(newest) {
			newest = o.At
		}
	}
	var out []cluster.Observation
	for i, o := range observations {
		if last[o.Allocation] == i && !o.At.Before(newest.Add(-2*o.Window)) {
			out = append(out, o)
		}
	}
	return out
}
