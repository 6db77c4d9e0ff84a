package model

// Bandwidth is what the threads of all types moved together in each interval, in bytes per
// second: the I/Os of a type by the mean size of its transitions.
func (m *Model) Bandwidth() []float64 {
	var out []float64
	for i := range m.Types {
		t := &m.Types[i]
		size := m.meanBytes(t)
		for j, v := range t.Intervals {
			if j == len(out) {
				out = append(out, 0)
			}
			out[j] += float64(v.IOs) * size / v.Seconds
		}
	}
	return out
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
