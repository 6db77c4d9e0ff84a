package model

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Totals are the I/Os of an interval where only statistics are known, as a control group's
// io.stat or published tables give them.
type Totals struct {
	Interval int64 // its number, from 0
	// IOs and Bytes by direction; Sequential are those of IOs that are.
	IOs, Bytes, Sequential [storage.Ops]int64
}

// FromTotals makes a model without states of totals by interval: the directions, the mean
// sizes, the sequential share, and the rate over time. Gaps are exponential, for of their
// distribution nothing is known but the mean (§A.3.4: rate 1/mean).
func FromTotals(intervals []Totals, deviceBytes int64, source string) (*Model, error) {
	sum, last := Totals{}, int64(-1)
	for _, t := range intervals {
		if t.Interval <= last {
			return nil, fmt.Errorf("%w: interval %d is behind interval %d", ErrFit, t.Interval, last)
		}
		last = t.Interval
		for op := range storage.Ops {
			sum.IOs[op] += t.IOs[op]
			sum.Bytes[op] += t.Bytes[op]
			sum.Sequential[op] += t.Sequential[op]
		}
	}
	ios := sum.IOs[storage.Read] + sum.IOs[storage.Write]
	if ios < 2 {
		return nil, fmt.Errorf("%w: %d I/Os", ErrFit, ios)
	}
	first := intervals[0].Interval
	seconds := float64(last-first+1) * IntervalLength.Seconds()
	m := &Model{
		Version: Version, Device: Device{Bytes: deviceBytes, SectorBytes: sectorBytes}, Branching: Branching, Form: Hierarchical,
		Capture: Capture{Source: source, Seconds: seconds, IOs: ios},
	}
	gap := Gap{Family: Exponential, MeanMicroseconds: significant(seconds / float64(ios) * 1e6), Variation: 1}
	t := Type{Threads: 1, IOs: ios, Weight: 1, Gap: gap}
	m.addTotals(&t, sum, gap)
	t.addRates(intervals, first, last, seconds)
	t.Class = classOf(sum, t.Intervals)
	m.Types = []Type{t}
	return m, m.Check()
}

// addTotals makes a category and a transition of every direction and kind there is.
func (m *Model) addTotals(t *Type, sum Totals, gap Gap) {
	for op := range storage.Ops {
		if sum.IOs[op] == 0 {
			continue
		}
		mean := float64(sum.Bytes[op]) / float64(sum.IOs[op])
		bytes := min(max(int64(math.Round(mean/sectorBytes)), 1)*sectorBytes, m.Device.Bytes)
		for _, of := range []struct {
			kind storage.Kind
			n    int64
		}{{storage.Random, sum.IOs[op] - sum.Sequential[op]}, {storage.Sequential, sum.Sequential[op]}} {
			if of.n > 0 {
				t.Transitions = append(t.Transitions, Transition{Category: len(m.Categories), IOs: of.n, Gap: gap})
				m.Categories = append(m.Categories, Category{Op: storage.Op(op), Kind: of.kind, Bytes: bytes})
			}
		}
	}
}

// addRates fills the intervals, with those that nothing is known of: nothing was in them.
func (t *Type) addRates(intervals []Totals, first, last int64, seconds float64) {
	ios := map[int64]int64{}
	for _, v := range intervals {
		ios[v.Interval] = v.IOs[storage.Read] + v.IOs[storage.Write]
	}
	mean := seconds / float64(t.IOs)
	for i := first; i <= last; i++ {
		v := Interval{StartSeconds: float64(i-first) * IntervalLength.Seconds(), Seconds: IntervalLength.Seconds()}
		v.add(ios[i], mean)
		t.Intervals = append(t.Intervals, v)
	}
}

// classOf tells the type by totals: one stream is of low intensity, for it is the median,
// and it fluctuates by the rates of its intervals.
func classOf(sum Totals, intervals []Interval) Class {
	var s threadSurvey
	s.ios = sum.IOs[storage.Read] + sum.IOs[storage.Write]
	s.writes, s.sequential = sum.IOs[storage.Write], sum.Sequential[storage.Read]+sum.Sequential[storage.Write]
	if s.isLog("") {
		return Classes()[5]
	}
	rates, sqrs := 0.0, 0.0
	for _, v := range intervals {
		rates += float64(v.IOs)
		sqrs += float64(v.IOs) * float64(v.IOs)
	}
	n := float64(len(intervals))
	if math.Sqrt(max(0, sqrs/n-rates*rates/n/n)) > highVariation*rates/n {
		return Classes()[2]
	}
	return Classes()[3]
}
