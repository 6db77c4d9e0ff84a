package consolidate

import "time"

// Power is what a node takes. The text gives no numbers; a line between idle and full load
// is the usual model (Barroso and Hölzle 2007).
type Power struct {
	IdleWatts, MostWatts float64
	// Boot is how long switching on takes, at MostWatts.
	Boot time.Duration
}

// The powers of nodes where nothing is measured (chosen by us): an idle node takes 55 % of
// its most, every disk 6 W, and switching on 3 minutes.
const (
	idleShare = 0.55
	diskWatts = 6
	bootTime  = 3 * time.Minute
)

// AssumedPower is the power of a node with so many disks, of which all but the disks takes
// so much at most.
func AssumedPower(mostWatts float64, disks int) Power {
	d := float64(disks) * diskWatts
	return Power{IdleWatts: idleShare*mostWatts + d, MostWatts: mostWatts + d, Boot: bootTime}
}

// Watts is the power at a use of the bandwidth (0..1); a node that is off takes none.
func (p Power) Watts(use float64) float64 {
	return p.IdleWatts + (p.MostWatts-p.IdleWatts)*min(max(use, 0), 1)
}

// bootJoules is the energy of switching on.
func (p Power) bootJoules() float64 { return p.MostWatts * p.Boot.Seconds() }

// Energy is what moves and nodes take, in joules.
type Energy struct{ Move, Save float64 }

// Pays says whether a move saves energy (§B.5.3).
func (e Energy) Pays() bool { return e.Save > e.Move }

// moveJoules is what moving bytes takes between two nodes inside the bandwidth kept for
// moves: t = D / (Δ_B · rated), and the power that this use adds on both. The text has no
// formula.
func (s *Scene) moveJoules(bytes float64, from, to int, r Rules) float64 {
	a, b := s.Types[s.Nodes[from]], s.Types[s.Nodes[to]]
	rate := r.MoveShare * min(a.BandwidthBytesPerSec, b.BandwidthBytesPerSec)
	added := func(t NodeType) float64 {
		return (t.Power.MostWatts - t.Power.IdleWatts) * rate / t.BandwidthBytesPerSec
	}
	return bytes / rate * (added(a) + added(b))
}

// offJoules is what a node does not take while it is off, beyond switching it on again.
func (s *Scene) offJoules(node int, r Rules) float64 {
	p := s.Types[s.Nodes[node]].Power
	return p.IdleWatts*r.OffExpected.Seconds() - p.bootJoules()
}

// moveBytes is how much a node can send or take in an interval inside Δ_B.
func (s *Scene) moveBytes(node int, r Rules) float64 {
	return r.MoveShare * s.Types[s.Nodes[node]].BandwidthBytesPerSec * r.Interval.Seconds()
}
