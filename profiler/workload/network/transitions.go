package network

// Level is a level of the hierarchy: what its states are (Delimitrou 2015,
// §C.5.2).
type Level uint8

// The levels. ClusterLevel has a single state and is only used by baselines.
const (
	ClusterLevel Level = iota
	GroupLevel
	RackLevel
	ServerLevel
)

// String is the name of a level's states.
func (l Level) String() string {
	return [...]string{"cluster", "group", "rack", "server"}[l]
}

// Transitions counts the transitions a hierarchical model of this many levels has
// at most: between groups, between the racks of each group, and between the
// servers of each rack. The cloud adds one to and one from every server.
//
//	G² + Σ_g R_g² + Σ_r S_r²
//
// A pair of a state with itself stands for what is expanded at the next level; the
// strict count leaves these out.
func Transitions(t Topology, levels Level, strict bool) int {
	count := t.Groups() * t.Groups()
	if levels >= RackLevel {
		if strict {
			count -= t.Groups()
		}
		for _, n := range t.racksPerGroup {
			count += n * n
		}
	}
	if levels >= ServerLevel {
		if strict {
			count -= t.Racks()
		}
		for _, n := range t.serversPerRack {
			count += n * n
		}
		if t.cloud {
			count += 2 * t.Servers()
		}
	}
	return count
}

// FlatTransitions counts the transitions of a chain without hierarchy over the
// states of a level: all pairs.
func FlatTransitions(t Topology, level Level) int {
	n := t.states(level)
	return n * n
}
