package network

import (
	"fmt"
	"slices"
)

// Sender is the part of a model that one server sends: what a generator on one machine
// needs. The parts of all servers expect together what the model does. Reads are
// part of what the server sends that answers them.
func (m *Model) Sender(server int) (*Model, error) {
	if server < 0 || server >= m.Topology.Servers() {
		return nil, fmt.Errorf("%w: server %d of %s", ErrGenerate, server, m.Topology)
	}
	out := &Model{Topology: m.Topology, Levels: m.Levels, Flat: m.Flat, Capture: m.Capture}
	for _, c := range m.Chains {
		out.Chains = append(out.Chains, m.senderChain(c, int32(server)))
	}
	return out, nil
}

func (m *Model) senderChain(c Chain, server int32) Chain {
	out := Chain{Window: c.Window, Time: c.Time}
	for _, p := range c.Pairs {
		switch {
		case p.Level == ServerLevel && p.From == server:
		case p.Level == ServerLevel || p.From != m.Topology.stateOf(p.Level, server):
			continue
		default:
			var sends bool
			if p, sends = m.partOf(p, c.Shares[p.Level], server); !sends {
				continue
			}
			out.Shares[p.Level] = onlyFrom(c.Shares[p.Level], server)
		}
		out.Pairs = append(out.Pairs, p)
		out.Bytes += p.Bytes()
	}
	return out
}

// partOf is what one server sends of a coarse transition: its share of the messages, each
// as large as its own are. sends is false where it sends nothing.
func (m *Model) partOf(p Pair, s Shares, server int32) (part Pair, sends bool) {
	first, end := m.Topology.serversIn(p.Level, p.From)
	counts, bytes := sum(s.SentCount[first:end]), sum(s.SentBytes[first:end])
	byCount, byBytes := s.SentCount[server]/counts, s.SentBytes[server]/bytes
	if !(byCount > 0) || !(byBytes > 0) {
		return Pair{}, false
	}
	p.Features = slices.Clone(p.Features)
	for i := range p.Features {
		f := &p.Features[i]
		f.Count *= byCount
		f.Bytes *= byBytes
		f.GapSeconds /= byCount // of the same time, fewer messages
	}
	return p, true
}

// onlyFrom are the shares of a level where one server sends all of it.
func onlyFrom(s Shares, server int32) Shares {
	out := newShares(len(s.SentCount))
	out.SentCount[server], out.SentBytes[server] = 1, 1
	out.ReceivedCount, out.ReceivedBytes = s.ReceivedCount, s.ReceivedBytes
	return out
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}
