package network

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Model is what ECHO keeps of a cluster's traffic: a Markov chain for every
// window. It has no names, addresses or payload.
type Model struct {
	Topology Topology
	Levels   Level // the deepest level that is expanded; ClusterLevel in baselines
	Flat     bool  // all pairs of servers, without hierarchy
	Chains   []Chain
	Capture  Capture
	Servers  []Superposition // the temporal model of each server; empty: not fitted
}

// Capture says what a model was fitted to.
type Capture struct {
	From, To    time.Duration
	Bin         time.Duration
	MissingBins int
	Method      string // how the traffic was captured, in words
}

// Chain is the hierarchical Markov chain of one window.
type Chain struct {
	Window Window
	// Time is how long the window was captured. A transition that was seen n times
	// has the rate n/Time.
	Time time.Duration
	// Pairs are the transitions, sorted by level, source and destination. Those
	// below the server level are coarse: which server sends and which receives is in
	// Shares.
	Pairs []Pair
	// Shares are, by level, the parts of the servers in the traffic of the coarse
	// transitions. Empty where the level has none.
	Shares [ServerLevel]Shares
	// Bytes is all traffic of the window, DroppedBytes the part of it in
	// transitions that were too small to be kept.
	Bytes, DroppedBytes float64
	// LargestLoss is the largest share that any server lost of what it exchanges with
	// others by name, by what was dropped.
	LargestLoss float64
}

// Pair is a transition between two states of a level.
type Pair struct {
	Level    Level
	From, To int32 // states
	Features []Feature
}

// Feature is one kind of traffic of a transition: size, direction and
// inter-arrival time are in the same classes. Classes are powers of two, so that a
// heavy tail has classes of its own.
type Feature struct {
	Size, Gap uint8 // class: how many bits the bytes, the milliseconds have
	Direction Direction
	// Count is how often it was seen in the window's Time; not whole in a model that
	// was changed by what-if.
	Count float64
	Bytes float64 // of all of them
	// GapSeconds is the mean time since the previous record of the transition, on the
	// window's clock.
	GapSeconds    float64
	SizeCV, GapCV float64 // standard deviation over mean, within the class
}

// Shares are the parts that servers have in the coarse traffic of a level, by
// server: messages and bytes, sent and received.
type Shares struct {
	SentCount, SentBytes, ReceivedCount, ReceivedBytes []float64
}

func newShares(servers int) Shares {
	of := func() []float64 { return make([]float64, servers) }
	return Shares{of(), of(), of(), of()}
}

func (s Shares) empty() bool { return len(s.SentCount) == 0 }

// sizeClass is how many bits a number of bytes has: 2^(c−1) ≤ bytes < 2^c.
func sizeClass(bytes int64) uint8 { return uint8(bits.Len64(uint64(bytes))) }

// gapClass is how many bits the milliseconds of a gap have.
func gapClass(gap time.Duration) uint8 { return uint8(bits.Len64(uint64(gap.Milliseconds()))) }

// Count is how often a transition was seen, and Bytes what it moved.
func (p Pair) Count() float64 {
	n := 0.0
	for _, f := range p.Features {
		n += f.Count
	}
	return n
}

// Bytes is what a transition moved in the window's Time.
func (p Pair) Bytes() float64 {
	n := 0.0
	for _, f := range p.Features {
		n += f.Bytes
	}
	return n
}

// ShareOf is the share form of a transition: its part in all traffic of the window.
func (c Chain) ShareOf(p Pair) float64 {
	if c.Bytes == 0 {
		return math.NaN()
	}
	return p.Bytes() / c.Bytes
}

// Walk is the walk form of the transitions from a state: p_ij(f) is the part of the
// bytes that leave state i which go to state j as kind f. The sum over j and f is 1.
// It is empty for a state that sends nothing.
func (c Chain) Walk(l Level, from int32) map[int32][]float64 {
	total := 0.0
	for _, p := range c.Pairs {
		if p.Level == l && p.From == from {
			total += p.Bytes()
		}
	}
	out := map[int32][]float64{}
	if total == 0 {
		return out
	}
	for _, p := range c.Pairs {
		if p.Level == l && p.From == from {
			for _, f := range p.Features {
				out[p.To] = append(out[p.To], f.Bytes/total)
			}
		}
	}
	return out
}

// Expected is what each node sends and receives in the captured time of all
// windows, by the model and before any sampling. O(pairs × servers of a state).
func (m *Model) Expected() (sent, received []float64) {
	sent, received = make([]float64, m.Topology.Nodes()), make([]float64, m.Topology.Nodes())
	for i := range m.Chains {
		c := &m.Chains[i]
		for _, p := range c.Pairs {
			bytes := p.Bytes()
			if p.Level == ServerLevel {
				sent[p.From] += bytes
				received[p.To] += bytes
				continue
			}
			m.spread(sent, p.Level, p.From, bytes, c.Shares[p.Level].SentBytes)
			m.spread(received, p.Level, p.To, bytes, c.Shares[p.Level].ReceivedBytes)
		}
	}
	return sent, received
}

// spread divides the bytes of a state by the shares of its servers.
func (m *Model) spread(to []float64, l Level, state int32, bytes float64, shares []float64) {
	first, end := m.Topology.serversIn(l, state)
	total := 0.0
	for s := first; s < end; s++ {
		total += shares[s]
	}
	for s := first; s < end; s++ {
		to[s] += bytes * shares[s] / total
	}
}

// BytesPerSecond is the mean load of the captured time.
func (m *Model) BytesPerSecond() float64 {
	bytes, seconds := 0.0, 0.0
	for _, c := range m.Chains {
		bytes += c.Bytes
		seconds += c.Time.Seconds()
	}
	return bytes / seconds
}

// Transitions is how many transitions the model has, over all windows.
func (m *Model) Transitions() int {
	n := 0
	for _, c := range m.Chains {
		n += len(c.Pairs)
	}
	return n
}

// ErrModel: a model is not consistent.
var ErrModel = errors.New("wrong model")

// Check refuses a model that cannot be used, as a file may hold one.
func (m *Model) Check() error {
	if m.Topology.Servers() == 0 || m.Levels > ServerLevel || (m.Flat && m.Levels != ServerLevel) {
		return fmt.Errorf("%w: %s, %d levels", ErrModel, m.Topology, m.Levels)
	}
	windows := make([]Window, len(m.Chains))
	for i, c := range m.Chains {
		windows[i] = c.Window
		if err := m.checkChain(c); err != nil {
			return fmt.Errorf("%w: window %d: %w", ErrModel, i+1, err)
		}
	}
	if err := CheckWindows(windows); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	for i, s := range m.Servers {
		if err := s.check(); err != nil {
			return fmt.Errorf("%w: server %d: %w", ErrModel, i, err)
		}
	}
	if n := len(m.Servers); n != 0 && n != m.Topology.Servers() {
		return fmt.Errorf("%w: temporal models of %d servers of %d", ErrModel, n, m.Topology.Servers())
	}
	return nil
}

func (m *Model) checkChain(c Chain) error {
	if c.Time <= 0 || !amount(c.Bytes) || !amount(c.DroppedBytes) || !amount(c.LargestLoss) {
		return fmt.Errorf("it stands for %s and %g bytes, of which %g were dropped", c.Time, c.Bytes, c.DroppedBytes)
	}
	for l, s := range c.Shares {
		for _, list := range [][]float64{s.SentCount, s.SentBytes, s.ReceivedCount, s.ReceivedBytes} {
			if len(list) != len(s.SentCount) || (len(list) != 0 && len(list) != m.Topology.Servers()) {
				return fmt.Errorf("shares of %d servers at the level of the %s, want %d", len(list), Level(l), m.Topology.Servers())
			}
			for _, v := range list {
				if !amount(v) {
					return fmt.Errorf("a share of %g at the level of the %s", v, Level(l))
				}
			}
		}
	}
	for _, p := range c.Pairs {
		if err := m.checkPair(c, p); err != nil {
			return fmt.Errorf("%d → %d at level %d: %w", p.From, p.To, p.Level, err)
		}
	}
	return nil
}

func (m *Model) checkPair(c Chain, p Pair) error {
	if p.Level > ServerLevel || p.From < 0 || p.To < 0 || int(p.From) >= m.Topology.states(p.Level) || int(p.To) >= m.Topology.states(p.Level) {
		return errors.New("no such states")
	}
	if p.Level == ServerLevel && p.From == p.To {
		return errors.New("a server that sends to itself")
	}
	if len(p.Features) == 0 {
		return errors.New("nothing is known of it")
	}
	gaps := 0.0
	for _, f := range p.Features {
		if f.Direction > Read || !(f.Count > 0) || !(f.Bytes > 0) || !amount(f.Count) || !amount(f.Bytes) || !amount(f.GapSeconds) || !amount(f.SizeCV) || !amount(f.GapCV) {
			return fmt.Errorf("no kind of traffic: %+v", f)
		}
		gaps += f.Count * f.GapSeconds
	}
	if gaps <= 0 {
		return errors.New("no time between its records")
	}
	if p.Level == ServerLevel {
		return nil
	}
	s := c.Shares[p.Level]
	if s.empty() || !m.someOf(s.SentCount, p.Level, p.From) || !m.someOf(s.ReceivedCount, p.Level, p.To) ||
		!m.someOf(s.SentBytes, p.Level, p.From) || !m.someOf(s.ReceivedBytes, p.Level, p.To) {
		return errors.New("no server has a share in it")
	}
	if first, end := m.Topology.serversIn(p.Level, p.From); p.From == p.To && end-first < 2 {
		return errors.New("traffic within a state of one server")
	}
	return nil
}

func (m *Model) someOf(shares []float64, l Level, state int32) bool {
	first, end := m.Topology.serversIn(l, state)
	for _, v := range shares[first:end] {
		if v > 0 {
			return true
		}
	}
	return false
}

// amount reports a number that can be one: finite and not negative.
func amount(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
