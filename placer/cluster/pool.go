package cluster

// defaultPool is Nomad's pool of a job that names none.
const defaultPool = "default"

// Pools are the node pools of a job that is held: Hold has no nodes, and the job waits in
// it; Run is the one it is released into.
type Pools struct{ Hold, Run string }

// MayHold reports whether a job that names a pool may be held. It is released into Run, so
// one that asks for another pool would lose what its author wrote. Nomad's default is what
// a job has that names none, so it asks for nothing.
func (p Pools) MayHold(pool string) bool {
	switch pool {
	case "", defaultPool, p.Hold, p.Run:
		return true
	default:
		return false
	}
}
