package profile

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Bounds of a profile that a run on a machine can leave; all chosen by us, and far beyond
// what was ever seen.
const (
	maxText     = 4 << 10
	maxEntries  = 256  // of a list or a table, but for the curve
	maxPoints   = 4096 // of all curves together
	maxCount    = 1 << 20
	maxCPUs     = 1 << 14
	maxMemoryMB = 1 << 32
	maxValue    = 1e18
	maxRatio    = 1e6
	maxTime     = 7 * 24 * time.Hour
	firstYear   = 2000
	lastYear    = 2200
)

// checker keeps what is wrong with a profile.
type checker struct{ errs []error }

func (c *checker) wrong(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// within checks a number; NaN is within nothing.
func (c *checker) within(what string, v, low, high float64) {
	if !(v >= low && v <= high) {
		c.wrong("%s: %v is not from %v to %v", what, v, low, high)
	}
}

func (c *checker) count(what string, n, most int) bool {
	if n < 0 || n > most {
		c.wrong("%s: %d is not from 0 to %d", what, n, most)
		return false
	}
	return true
}

func (c *checker) text(what, s string) { c.count("length of the "+what, len(s), maxText) }

func (c *checker) source(what string, s interference.Source) {
	if _, err := interference.ParseSource(string(s)); err != nil {
		c.wrong("%s: %w", what, err)
	}
}

// Check says what in a profile no run can have measured: numbers that are not finite or
// outside of what machines do, intervals upside down, unknown sources, and more of anything
// than there is. It tells damage and clumsy forgery from a result, not a careful forgery.
func (p Profile) Check() error {
	var c checker
	for what, text := range map[string]string{
		"key": p.Key, "workload": p.Workload, "node ID": p.Machine.NodeID, "node name": p.Machine.NodeName,
		"configuration": p.Machine.Configuration, "CPU model": p.Machine.CPUModel, "kernel release": p.Machine.KernelRelease, "reason for the end": p.Ended,
	} {
		c.text(what, text)
	}
	c.within("slowdown_max_percent", p.SlowdownMax, 0, 100)
	c.within("cpus_alone", p.CPUsIsolated, 0, maxCPUs)
	c.within("run_ms_alone", p.RunIsolatedMS, 0, float64(maxTime.Milliseconds()))
	c.within("sensitivity.run_ms", p.Sensitivity.RunMS, 0, float64(maxTime.Milliseconds()))
	c.within("memory_peak_mb", p.MemoryPeakMB, 0, maxMemoryMB)
	c.within("duration", p.Duration.Seconds(), 0, maxTime.Seconds())
	c.year("taken", p.Taken)
	c.year("used", p.Used)
	c.count("machine.cpus", len(p.Machine.CPUs), maxCPUs)
	for configuration, part := range p.CPUShareIsolated {
		c.text("configuration", configuration)
		c.within("cpu_share_alone", part, 0, 1)
	}
	for configuration, m := range p.Isolated {
		c.text("configuration", configuration)
		c.measurement("alone", m)
	}
	if c.count("warnings", len(p.Warnings), maxEntries) {
		for _, w := range p.Warnings {
			c.text("warning", w)
		}
	}
	c.count("alone", len(p.Isolated), maxEntries)
	c.count("cpu_share_alone", len(p.CPUShareIsolated), maxEntries)
	c.scores("sensitivity.tolerated", p.Sensitivity.Tolerated)
	c.scores("sensitivity.caused", p.Sensitivity.Caused)
	c.count("sensitivity.busier", len(p.Sensitivity.DemandFactor), maxEntries)
	for configuration, factor := range p.Sensitivity.DemandFactor {
		c.text("configuration", configuration)
		c.within("sensitivity.busier", factor, 0, maxRatio)
	}
	if c.count("ramp", len(p.Ramp), maxPoints) {
		for _, point := range p.Ramp {
			c.point(point)
		}
	}
	if c.count("scale_up", len(p.ScaleUp), maxEntries) {
		for _, s := range p.ScaleUp {
			c.count("scale_up.cores", s.Cores, maxCPUs)
			c.within("scale_up.memory_mb", float64(s.MemoryMB), 0, maxMemoryMB)
			c.measurement("scale_up.speed", s.Speed)
		}
	}
	return errors.Join(c.errs[:min(len(c.errs), 3)]...)
}

// year: of two profiles the one that was taken later counts, for ever where it says so.
func (c *checker) year(what string, t time.Time) {
	if !t.IsZero() {
		c.within("year of "+what, float64(t.Year()), firstYear, lastYear)
	}
}

func (c *checker) measurement(what string, m Measurement) {
	c.within(what+".value", m.Value, 0, maxValue)
	c.interval(what, m.Low, m.High, maxValue)
	c.count(what+".windows", m.Windows, maxCount)
	c.text(what+".unit", m.Unit)
}

// interval checks both ends of one, which noise may push below 0.
func (c *checker) interval(what string, low, high, most float64) {
	c.within(what+".low", low, -most, most)
	c.within(what+".high", high, -most, most)
	if low > high {
		c.wrong("%s: the interval from %v to %v is upside down", what, low, high)
	}
}

func (c *checker) scores(what string, scores interference.Scores) {
	for source, e := range scores {
		c.source(what, source)
		c.text(what+".note", e.Note)
		if e.Origin != interference.Measured && e.Score.Known() {
			c.wrong("%s: the score of %s is %q, and a run measures", what, source, e.Origin)
		}
		low, hasLow := e.Low.Percent()
		high, hasHigh := e.High.Percent()
		if hasLow && hasHigh && low > high {
			c.wrong("%s: the interval of %s from %v to %v is upside down", what, source, low, high)
		}
	}
}

func (c *checker) point(p RampPoint) {
	c.source("ramp", p.Source)
	c.text("ramp.placement", p.Placement)
	c.within("ramp.intensity_percent", p.IntensityPercent, 0, 100)
	c.within("ramp.achieved_percent", p.AchievedPercent, 0, maxRatio)
	c.count("ramp.pairs", p.Pairs, maxCount)
	for what, v := range map[string]*float64{"ramp.workload_ratio": p.WorkloadRatio, "ramp.kernel_ratio": p.KernelRatio, "ramp.per_cpu_ratio": p.PerCPURatio} {
		if v != nil {
			c.within(what, *v, 0, maxRatio)
		}
	}
	for _, ends := range [][2]*float64{{p.WorkloadLow, p.WorkloadHigh}, {p.KernelLow, p.KernelHigh}, {p.PerCPULow, p.PerCPUHigh}} {
		if ends[0] != nil && ends[1] != nil {
			c.interval("ramp", *ends[0], *ends[1], math.MaxFloat64)
		}
	}
}
