package network

import (
	"fmt"
	"math"
	"slices"
	"time"
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
	p.Features = thinned(p.Features, byCount, byBytes)
	return p, true
}

// thinned are the kinds of the messages that one of several servers sends. Which of the messages
// are its own is chance, so that several at once are of several servers: the gaps between its own
// are of many gaps of all, and say nothing of the kind. With the share q of the messages, the mean
// of a gap and its coefficient of variation c are
//
//	mean / q,   √(q c² + 1 − q)
func thinned(all []Feature, byCount, byBytes float64) []Feature {
	if byCount == 1 {
		return all // it is the only one
	}
	count, gaps, squares := 0.0, 0.0, 0.0
	for _, f := range all {
		count += f.Count
		gaps += f.Count * f.GapSeconds
		squares += f.Count * f.GapSeconds * f.GapSeconds * (1 + f.GapCV*f.GapCV)
	}
	mean := gaps / count
	cv := math.Sqrt(byCount*max(0, squares/count/mean/mean-1) + 1 - byCount)
	gap := rounded(mean / byCount)
	var out []Feature
	for _, f := range all {
		f.Count, f.Bytes = f.Count*byCount, f.Bytes*byBytes
		f.Gap, f.GapSeconds, f.GapCV = gapClass(time.Duration(gap*float64(time.Second))), gap, math.Round(cvDigits*min(cv, widest))/cvDigits
		at := slices.IndexFunc(out, func(o Feature) bool { return o.Size == f.Size && o.Direction == f.Direction })
		if at < 0 {
			out = append(out, f)
			continue
		}
		out[at] = out[at].with(f)
	}
	return out
}

// with is two kinds as one, with the gap of the first.
func (f Feature) with(o Feature) Feature {
	square := func(f Feature) float64 {
		size := f.Bytes / f.Count
		return f.Count * size * size * (1 + f.SizeCV*f.SizeCV)
	}
	squares := square(f) + square(o)
	f.Count += o.Count
	f.Bytes += o.Bytes
	f.SizeCV = variation(f.Count, f.Bytes, squares)
	return f
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
