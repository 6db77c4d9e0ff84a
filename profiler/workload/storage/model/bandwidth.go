package model

import "math"

// bandwidthSeconds is the least time that bandwidth is a mean of (chosen by us): what comes in
// some ms waits in a queue, and nobody reserves a disk for it.
const bandwidthSeconds = 1

// Bandwidth is what the threads of all types moved together in each interval, in bytes per
// second: the I/Os of a type by the mean size of its transitions. Intervals below a second are
// joined to seconds.
func (m *Model) Bandwidth() []float64 {
	var out []float64
	for i := range m.Types {
		t := &m.Types[i]
		size := m.meanBytes(t)
		for window, v := range joined(t.Intervals) {
			if window == len(out) {
				out = append(out, 0)
			}
			out[window] += float64(v.IOs) * size / v.Seconds
		}
	}
	return out
}

// joined are intervals of a second or longer, where the trace is as long.
func joined(all []Interval) (out []Interval) {
	for j, v := range all {
		if j == 0 || begins(all, j) {
			out = append(out, v)
			continue
		}
		last := &out[len(out)-1]
		last.Seconds, last.IOs = last.Seconds+v.Seconds, last.IOs+v.IOs
	}
	return out
}

// begins says whether an interval begins a time of its own. One that is shorter does not, where
// the second is that of the one before, or where less than a second is left.
func begins(all []Interval, j int) bool {
	last := all[len(all)-1]
	if all[j].Seconds < bandwidthSeconds && all[j-1].Seconds < bandwidthSeconds {
		return math.Floor(all[j].StartSeconds) != math.Floor(all[j-1].StartSeconds) && last.StartSeconds+last.Seconds-math.Floor(all[j].StartSeconds) >= bandwidthSeconds
	}
	return true
}

// meanBytes is the mean size of a type's I/Os.
func (m *Model) meanBytes(t *Type) float64 {
	sum, n := 0.0, 0.0
	for _, x := range t.Transitions {
		sum += float64(x.IOs) * float64(m.Categories[x.Category].Bytes)
		n += float64(x.IOs)
	}
	return sum / max(n, 1)
}
