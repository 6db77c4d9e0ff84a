package capture

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// Endpoint is who sends or receives, by the names that a table of traffic has.
type Endpoint struct {
	Node  string // datacenter/rack/node, or network.CloudName for what is outside
	Group string // namespace/job/group; empty: not an allocation's, or not known
}

// Outside is everything that is not of the cluster.
var Outside = Endpoint{Node: network.CloudName}

// Directory says who is behind an address.
type Directory interface {
	// Endpoint is who has this address, or answers at this port of it; port 0 asks for
	// the address alone.
	Endpoint(at netip.AddrPort) (e Endpoint, known bool)
	// Inside reports that an address is one of the cluster's, whoever has it now.
	Inside(netip.Addr) bool
}

// Flow is what one endpoint sent to another.
type Flow struct {
	From, To  Endpoint
	Direction network.Direction
	Bytes     int64
}

// attribution maps the addresses of one node's talks to names.
type attribution struct {
	self      Endpoint // the node itself
	directory Directory
	own       map[netip.Addr]bool // of the node, bridges included
	flows     map[Flow]int64      // by the flow without its bytes
	talked    map[Endpoint]amounts
}

// talk adds what the ends of a talk sent each other, unless it is the other end's to
// report.
func (a *attribution) talk(t talk, moved amounts) {
	local, known := a.directory.Endpoint(t.local)
	if !known {
		local = a.self
	}
	sum := a.talked[local]
	a.talked[local] = amounts{sum.sent + moved.sent, sum.received + moved.received}
	remote := t.remote.Addr()
	if t.began {
		peer, known := a.directory.Endpoint(t.remote)
		if !known {
			if peer = Outside; a.own[remote] {
				peer = a.self
			}
		}
		a.add(local, peer, network.Write, moved.sent)
		a.add(peer, local, network.Read, moved.received)
		return
	}
	if a.own[remote] || a.directory.Inside(remote) {
		return
	}
	a.add(Outside, local, network.Write, moved.received)
	a.add(local, Outside, network.Read, moved.sent)
}

func (a *attribution) add(from, to Endpoint, d network.Direction, bytes uint64) {
	if bytes > 0 {
		a.flows[Flow{From: from, To: to, Direction: d}] += int64(bytes)
	}
}

// sorted lists the flows in an order that does not depend on chance.
func (a *attribution) sorted() []Flow {
	out := make([]Flow, 0, len(a.flows))
	for f, bytes := range a.flows {
		f.Bytes = bytes
		out = append(out, f)
	}
	slices.SortFunc(out, func(x, y Flow) int {
		return cmp.Or(compareEndpoints(x.From, y.From), compareEndpoints(x.To, y.To), cmp.Compare(x.Direction, y.Direction))
	})
	return out
}

func compareEndpoints(x, y Endpoint) int {
	return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Group, y.Group))
}

// Addresses is a Directory that does not change.
type Addresses struct {
	whole  map[netip.Addr]Endpoint
	ports  map[netip.AddrPort]Endpoint
	inside map[netip.Addr]bool
}

// NewAddresses is a directory that knows nobody.
func NewAddresses() *Addresses {
	return &Addresses{whole: map[netip.Addr]Endpoint{}, ports: map[netip.AddrPort]Endpoint{}, inside: map[netip.Addr]bool{}}
}

// Add says who has an address, or with a port who answers there.
func (a *Addresses) Add(at netip.AddrPort, e Endpoint) {
	address := at.Addr().Unmap()
	if at.Port() == 0 {
		a.whole[address] = e
	} else {
		a.ports[netip.AddrPortFrom(address, at.Port())] = e
	}
	a.inside[address] = true
}

// Endpoint is who answers at a port, else who has the address.
func (a *Addresses) Endpoint(at netip.AddrPort) (Endpoint, bool) {
	if e, known := a.ports[at]; known {
		return e, true
	}
	e, known := a.whole[at.Addr()]
	return e, known
}

// Inside reports that some endpoint has the address.
func (a *Addresses) Inside(at netip.Addr) bool { return a.inside[at] }
