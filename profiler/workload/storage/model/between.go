package model

// Between is the part of all I/Os that go from each state of a level to each other one, over
// all types and categories: rows are where they come from, columns where they go, and all of
// it is 1. The level is one from 1 to the model's.
func (m *Model) Between(level int) [][]float64 {
	out := make([][]float64, States(level))
	for i := range out {
		out[i] = make([]float64, States(level))
	}
	total := float64(m.IOs())
	for i := range m.Types {
		t := &m.Types[i]
		for _, x := range t.Transitions {
			// One that is kept above the level has no state of it: where it left and landed
			// is known apart only.
			if x.Level >= level {
				out[Ancestor(x.From, x.Level, level)][Ancestor(x.To, x.Level, level)] += float64(x.IOs) / total
			}
		}
	}
	return out
}
