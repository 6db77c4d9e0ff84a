package provision

import "time"

// Rented is a node as it was when it was seen last, for a Provisioner that did not ask for it.
type Rented struct {
	Type    string
	SpinUp  time.Duration // negative: not measured
	Idle    time.Time     // since when it has no job, where it is ready
	Behaved bool
}

// Found tells that there is a node that is ready and that this Provisioner did not ask for: its
// predecessor did, or somebody else. It says nothing of how long its type takes to start.
func (p *Provisioner[K]) Found(node K, r Rented) {
	spinUp := r.SpinUp
	if spinUp < 0 {
		spinUp = p.SpinUp(r.Type)
	}
	n := &rented{typ: r.Type, ready: true, idle: r.Idle, spinUp: spinUp, behaved: r.Behaved}
	p.nodes[node], p.idle[node] = n, n
}

// Seen is a node as it is known now, for a successor's Found; false where it is not ready.
func (p *Provisioner[K]) Seen(node K) (Rented, bool) {
	n, ok := p.nodes[node]
	if !ok || !n.ready {
		return Rented{}, false
	}
	return Rented{Type: n.typ, SpinUp: n.spinUp, Idle: n.idle, Behaved: n.behaved}, true
}

// SpinUps are what was measured.
type SpinUps struct {
	Mean  time.Duration `json:"mean"`
	Count int           `json:"count"`
}

// Measured are the spin-ups of each type of which some were measured.
func (p *Provisioner[K]) Measured() map[string]SpinUps {
	out := map[string]SpinUps{}
	for typ, k := range p.measured {
		out[typ] = SpinUps{p.spinUps[typ], k}
	}
	return out
}

// Remember takes over what a predecessor has measured.
func (p *Provisioner[K]) Remember(typ string, s SpinUps) {
	if s.Count > 0 {
		p.spinUps[typ], p.measured[typ] = s.Mean, s.Count
	}
}

// KeptUntil is when a node is given back if it gets no job; false where it has one, or is not ready.
func (p *Provisioner[K]) KeptUntil(node K) (time.Time, bool) {
	n, ok := p.idle[node]
	if !ok {
		return time.Time{}, false
	}
	return n.keptUntil(p.settings.Retention), true
}
