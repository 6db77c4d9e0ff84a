package dashboard

import (
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// An unknown score must not look like zero.
func TestUnknownIsNotDrawnAsZero(t *testing.T) {
	t.Parallel()
	zero := string(estimateBar(interference.Estimate{Score: interference.Percent(0)}, "tolerated"))
	unknown := string(estimateBar(interference.Estimate{}, "tolerated"))
	if zero == unknown || !strings.Contains(unknown, "unknown") || strings.Contains(unknown, "chart-bar") {
		t.Errorf("zero %s\nunknown %s", zero, unknown)
	}
	c := compare(performance.Target{Kind: performance.Rate, Rate: 5}, wording.Expectation{}, wording.Measured{})
	if got := string(comparisonChart(c)); strings.Contains(got, "chart-predicted") || strings.Contains(got, "chart-measured") {
		t.Errorf("unknown performance is drawn: %s", got)
	}
}

// A prediction in another unit than the target does not share its axis.
func TestOtherUnitsAreNotCompared(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.QPS, QPS: 100}
	e := wording.Expect(cluster.Prediction{Known: true, RatePerSec: 5, Unit: "rows/s"}, target)
	if c := compare(target, e, wording.Measured{}); !math.IsNaN(c.predicted.Value) {
		t.Error("rows/s are drawn on an axis of requests/s")
	}
}

func TestRampWithMissingSides(t *testing.T) {
	t.Parallel()
	v := 0.4
	got := string(rampChart(interference.TLB, []profile.RampPoint{
		{IntensityPercent: 60, KernelRatio: &v}, {IntensityPercent: 20},
	}, 5))
	if strings.Contains(got, "chart-dot chart-tolerated") || strings.Count(got, "chart-dot chart-caused") != 1 {
		t.Errorf("a side that was not measured is drawn: %s", got)
	}
}

func TestHistoryMarksWhatMissed(t *testing.T) {
	t.Parallel()
	target := performance.Target{Kind: performance.QPS, QPS: 20000}
	o := dashboardtest.Fixture().AllObservations[dashboardtest.CacheID]
	o[3].Measure.RatePerSec = 100
	e := wording.Expectation{Known: true, Comparable: true, Value: 21000, Low: 20500, High: 21500}
	got := string(historyChart(target, e, wording.Over(target, o)))
	if strings.Count(got, "chart-dot chart-missed") != 1 || !strings.Contains(got, "met in 29 of 30 windows") || !strings.Contains(got, "chart-mark chart-predicted") {
		t.Errorf("the chart does not say what was missed: %s", got)
	}
	if historyChart(target, e, wording.Over(target, o[:1])) != "" || sparkline(target, wording.Over(target, o[:1])) != "" {
		t.Error("one point is no history")
	}
	if got := string(sparkline(target, wording.Over(target, o))); !strings.Contains(got, "30 windows between 100 requests/s") {
		t.Errorf("the sparkline has no words: %s", got)
	}
}

func TestScaleUpKeepsItsIntervals(t *testing.T) {
	t.Parallel()
	got := string(scaleUpChart([]profile.ScalePoint{
		{Cores: 4, Speed: profile.Measurement{Value: 30, Low: 28, High: 32, Unit: "frames/s"}},
		{Cores: 1, MemoryMB: 256, Speed: profile.Measurement{Value: 9, Low: 9, High: 9, Unit: "frames/s"}},
	}))
	if strings.Count(got, "<circle") != 2 || strings.Count(got, "chart-interval") != 1 || !strings.Contains(got, "1 cores, 256 MiB: 9 frames/s") {
		t.Errorf("%s", got)
	}
}
