package predict

import (
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// SharesAtFullPressure are what a workload may keep under full pressure where it was not
// measured, evenly over the range seen among applications (iBench §2.9).
func SharesAtFullPressure() [5]float64 {
	middle := func(a, b float64) float64 { return (a + b) / 2 }
	return [5]float64{
		fullPressureShareLow, middle(fullPressureShareLow, fullPressureShare), fullPressureShare,
		middle(fullPressureShare, fullPressureShareHigh), fullPressureShareHigh,
	}
}

// ShareIf is the share that a workload would keep under a pressure on a source, if
// its tolerated score were the one given and it kept full of its performance under full
// pressure. It is the model of Prepare without a ramp, for asking how well a score explains
// what was observed.
func ShareIf(k *cluster.Knowledge, s interference.Source, tolerated, full, pressure, slowdownPercent float64) float64 {
	if !(pressure > 0) {
		return 1
	}
	c := curve{tolerated: [3]float64{tolerated, tolerated, tolerated}, slowdown: slowdownPercent / 100}
	if interference.TimeShared(s) {
		c.dutyCycle = k.DutyCycle
	}
	kept := response(min(100, pressure), tolerated, c.slowdown, full)
	share := max(kept, c.stretched(min(100, pressure)))
	if pressure > 100 && share > 0 {
		return 1 / (1 + pressure/100*(1/share-1))
	}
	return share
}
