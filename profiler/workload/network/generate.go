package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrGenerate: a model cannot generate what is asked for.
var ErrGenerate = errors.New("cannot generate")

// Generation says what a model generates. The same model, span and seed give the
// same traffic, however many workers there are.
type Generation struct {
	Span Span // what is missing in it is not generated
	Seed uint64
	// ExactCounts draws the kinds of record of a transition without replacement, so that in the
	// time of its window each comes as often as it was seen. The source's chain draws each anew,
	// and has more or fewer bursts than there were, by chance.
	ExactCounts bool
	// Most is how many records each worker makes at most; more are an error. 0: any number.
	Most     int
	Workers  int
	Progress func(share float64) // may be nil
}

// pairsAtOnce is how many transitions a worker takes at a time.
const pairsAtOnce = 256

// Each generates traffic: every transition is a renewal process of its own, on the
// clock of its window, that begins in equilibrium. Windows are active when they are
// due, so each for the time that it stands for. Every worker calls open once, one
// after another, and then what it returned for its records, in no order.
func (m *Model) Each(ctx context.Context, g Generation, open func() func(Record)) error {
	if err := m.canGenerate(g.Span); err != nil {
		return err
	}
	windows := make([]Window, len(m.Chains))
	for i, c := range m.Chains {
		windows[i] = c.Window
	}
	work := &generating{model: m, generation: g, calendar: newCalendar(g.Span, windows)}
	for i, c := range m.Chains {
		work.ranks = append(work.ranks, newRanks(c))
		if len(work.calendar.bins[i]) == 0 {
			continue
		}
		for first := 0; first < len(c.Pairs); first += pairsAtOnce {
			work.units = append(work.units, unit{i, first, min(first+pairsAtOnce, len(c.Pairs))})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for range max(1, g.Workers) {
		emit := open()
		group.Go(func() error { return work.run(ctx, emit) })
	}
	return group.Wait()
}

func (m *Model) canGenerate(s Span) error {
	if s.Bin <= 0 || s.To <= s.From || s.From < 0 || s.From%s.Bin != 0 || s.To%s.Bin != 0 {
		return fmt.Errorf("%w: a span from %s to %s in bins of %s", ErrGenerate, s.From, s.To, s.Bin)
	}
	return nil
}

// Generate returns the traffic that a model generates, as a table of events.
func (m *Model) Generate(ctx context.Context, g Generation) (*Table, error) {
	var lists []*[]Record
	err := m.Each(ctx, g, func() func(Record) {
		list := new([]Record)
		lists = append(lists, list)
		return func(r Record) { *list = append(*list, r) }
	})
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, list := range lists {
		records = append(records, *list...)
	}
	return NewTable(m.Topology, g.Span, records)
}

// unit is a run of transitions of one window.
type unit struct{ window, first, end int }

type generating struct {
	model      *Model
	generation Generation
	calendar   calendar
	ranks      []ranks // by window
	units      []unit
	next, done atomic.Int64
	told       sync.Mutex
}

func (g *generating) run(ctx context.Context, emit func(Record)) error {
	d := &drawing{generating: g, emit: emit}
	d.random = rand.New(&d.source)
	for {
		i := int(g.next.Add(1) - 1)
		if i >= len(g.units) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		u := g.units[i]
		for pair := u.first; pair < u.end; pair++ {
			d.pair(u.window, pair)
		}
		if d.tooMany() {
			return fmt.Errorf("%w: more than %d records in %s", ErrGenerate, g.generation.Most, g.generation.Span.Captured())
		}
		share := float64(g.done.Add(1)) / float64(len(g.units))
		g.told.Lock()
		tell(g.generation.Progress, share)
		g.told.Unlock()
	}
}

// drawing is one worker.
type drawing struct {
	*generating
	emit   func(Record)
	made   int // records
	source rand.PCG
	random *rand.Rand
	counts []float64 // running sums over the features of the pair
	left   []float64 // where counts are exact: how many records of each are left, and
	sum    float64   // of all
}

// pair generates one transition. Its random numbers depend on the seed and on which
// transition it is, and on nothing else.
func (d *drawing) pair(window, index int) {
	c := &d.model.Chains[window]
	p := &c.Pairs[index]
	name := uint64(window)<<56 | uint64(p.Level)<<48 | uint64(uint32(p.From))<<24 | uint64(uint32(p.To))
	d.source.Seed(mixed(d.generation.Seed, name), name)
	d.counts = d.counts[:0]
	count, gaps := 0.0, 0.0
	for _, f := range p.Features {
		count += f.Count
		gaps += f.Count * f.GapSeconds
		d.counts = append(d.counts, count)
	}
	// Gaps only say how records are apart: how many there are is Count over Time, also
	// in a model that was changed by what-if.
	stretch := c.Time.Seconds() / gaps * float64(time.Second)
	length := float64(d.calendar.time(window))
	f := d.interrupted(p, gaps)
	t, first := d.random.Float64()*d.gap(f)*stretch, f
	if d.generation.ExactCounts {
		d.deal(p, first)
	}
	for ; t < length && !d.tooMany(); t += d.gap(f) * stretch {
		d.record(window, p, f, time.Duration(t))
		if d.generation.ExactCounts {
			f = d.take(p, first)
		} else {
			f = &p.Features[sort.SearchFloat64s(d.counts, d.random.Float64()*count)]
		}
	}
}

// deal puts back all records that the window has of a pair, but one of the first kind: the gap
// before that one reaches over the window's end to its beginning, so it comes last. Then as many
// fall into the window's time as were seen in it.
func (d *drawing) deal(p *Pair, first *Feature) {
	d.left, d.sum = d.left[:0], 0
	for i := range p.Features {
		n := p.Features[i].Count
		if &p.Features[i] == first {
			n = max(0, n-1)
		}
		d.left = append(d.left, n)
		d.sum += n
	}
}

// take draws one of the records that are left.
func (d *drawing) take(p *Pair, first *Feature) *Feature {
	if d.sum < 0.5 { // counts need not be whole, as in a part of a coarse transition
		d.deal(p, first)
		return first
	}
	i, u := 0, d.random.Float64()*d.sum
	for i < len(d.left)-1 && u >= d.left[i] {
		u -= d.left[i]
		i++
	}
	one := min(1, d.left[i])
	d.left[i] -= one
	d.sum -= one
	return &p.Features[i]
}

// interrupted draws the kind of record whose gap the beginning of the window falls
// into: long gaps are met more often.
func (d *drawing) interrupted(p *Pair, gaps float64) *Feature {
	u := d.random.Float64() * gaps
	for i := range p.Features {
		f := &p.Features[i]
		if u -= f.Count * f.GapSeconds; u < 0 {
			return f
		}
	}
	return &p.Features[len(p.Features)-1]
}

// gap draws seconds with the mean and the variation of a kind.
func (d *drawing) gap(f *Feature) float64 { return d.around(f.GapSeconds, f.GapCV) }

// widest is the largest coefficient of variation of a uniform distribution above 0.
var widest = 1 / math.Sqrt(3)

// around draws from the uniform distribution with this mean and coefficient of
// variation: within a class that is a factor of two wide, the shape matters little.
func (d *drawing) around(mean, cv float64) float64 {
	if cv == 0 {
		return mean
	}
	return mean * (1 + math.Sqrt(3)*min(cv, widest)*(2*d.random.Float64()-1))
}

// record emits one record of a transition.
func (d *drawing) record(window int, p *Pair, f *Feature, clock time.Duration) {
	r := Record{At: d.calendar.at(window, clock), Source: p.From, Destination: p.To, Direction: f.Direction}
	bytes := d.around(f.Bytes/f.Count, f.SizeCV)
	if p.Level != ServerLevel {
		var sent, received float64
		k := &d.ranks[window][p.Level]
		first, end := d.model.Topology.serversIn(p.Level, p.From)
		r.Source, sent = k.sent.draw(first, end, d.random.Float64())
		first, end = d.model.Topology.serversIn(p.Level, p.To)
		r.Destination, received = k.received.draw(first, end, d.random.Float64())
		for range maxTries {
			if r.Destination != r.Source {
				break
			}
			r.Destination, received = k.received.draw(first, end, d.random.Float64())
		}
		if r.Destination == r.Source { // nearly all of it is one server's: any other
			r.Destination = first + (r.Source-first+1)%(end-first)
		}
		bytes *= sent * received
	}
	r.Bytes = max(1, int64(math.Round(bytes)))
	d.made++
	d.emit(r)
}

func (d *drawing) tooMany() bool { return d.generation.Most > 0 && d.made > d.generation.Most }

// maxTries bounds how often a destination is drawn again that is the source.
const maxTries = 64

// ranks are the shares of a window as running sums, by level.
type ranks [ServerLevel]struct{ sent, received rank }

// rank draws servers by how many messages they have, and says how their messages
// differ in size from those of the state: so that both messages and bytes of every
// server are those of the original.
type rank struct{ counts, bytes []float64 } // running sums, with 0 before the first

func newRanks(c Chain) ranks {
	var out ranks
	for l, s := range c.Shares {
		if !s.empty() {
			out[l].sent = rank{runningSum(s.SentCount), runningSum(s.SentBytes)}
			out[l].received = rank{runningSum(s.ReceivedCount), runningSum(s.ReceivedBytes)}
		}
	}
	return out
}

func runningSum(list []float64) []float64 {
	out := make([]float64, len(list)+1)
	for i, v := range list {
		out[i+1] = out[i] + v
	}
	return out
}

// draw chooses a server of [first, end) by u in [0, 1), and returns how many times
// as large its messages are as those of all of them.
func (k rank) draw(first, end int32, u float64) (server int32, size float64) {
	low, high := k.counts[first], k.counts[end]
	target := low + u*(high-low)
	within := k.counts[first+1 : end+1]
	i := sort.Search(len(within), func(i int) bool { return within[i] > target })
	server = first + int32(min(i, len(within)-1))
	own := k.counts[server+1] - k.counts[server]
	if own <= 0 { // u was rounded up to the end of the shares
		return server, 1
	}
	mean := (k.bytes[end] - k.bytes[first]) / (high - low)
	return server, (k.bytes[server+1] - k.bytes[server]) / own / mean
}

// Scale is the model of a cluster that is n times as large: every group of racks
// is there n times, and each copy sends to all copies of another group alike. What
// stays within a group stays within its copy, so every server keeps its load.
func (m *Model) Scale(n int) (*Model, error) {
	if n < 1 || n > maxServers/m.Topology.Servers() {
		return nil, fmt.Errorf("%w: %d times %s", ErrGenerate, n, m.Topology)
	}
	if _, cloud := m.Topology.Cloud(); cloud || m.Flat || m.Levels == ClusterLevel {
		return nil, fmt.Errorf("%w: only a model of a whole cluster with a hierarchy can be made larger", ErrGenerate)
	}
	t := m.Topology
	large, err := NewTopology(slices.Repeat(t.racksPerGroup, n), slices.Repeat(t.serversPerRack, n), false)
	if err != nil {
		return nil, err
	}
	out := &Model{Topology: large, Levels: m.Levels, Capture: m.Capture, Servers: slices.Repeat(m.Servers, n)}
	for _, c := range m.Chains {
		scaled := Chain{Window: c.Window, Time: c.Time, Bytes: c.Bytes * float64(n), DroppedBytes: c.DroppedBytes * float64(n), LargestLoss: c.LargestLoss}
		for l, s := range c.Shares {
			if !s.empty() {
				scaled.Shares[l] = Shares{slices.Repeat(s.SentCount, n), slices.Repeat(s.SentBytes, n), slices.Repeat(s.ReceivedCount, n), slices.Repeat(s.ReceivedBytes, n)}
			}
		}
		for _, p := range c.Pairs {
			scaled.Pairs = append(scaled.Pairs, p.copies(t, n)...)
		}
		slices.SortFunc(scaled.Pairs, func(a, b Pair) int {
			return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		})
		out.Chains = append(out.Chains, scaled)
	}
	return out, out.Check()
}

// copies are the transitions of n copies of the cluster that stand for one.
func (p Pair) copies(t Topology, n int) []Pair {
	states := int32(t.states(p.Level))
	var out []Pair
	for from := range int32(n) {
		if !p.leavesGroup(t) {
			out = append(out, Pair{p.Level, p.From + from*states, p.To + from*states, p.Features})
			continue
		}
		part := times(p.Features, 1/float64(n))
		for to := range int32(n) {
			out = append(out, Pair{p.Level, p.From + from*states, p.To + to*states, part})
		}
	}
	return out
}

func (p Pair) leavesGroup(t Topology) bool {
	if p.Level == GroupLevel {
		return p.From != p.To
	}
	first, _ := t.serversIn(p.Level, p.From)
	second, _ := t.serversIn(p.Level, p.To)
	return t.Group(int(first)) != t.Group(int(second))
}

func times(features []Feature, by float64) []Feature {
	out := slices.Clone(features)
	for i := range out {
		out[i].Count *= by
		out[i].Bytes *= by
	}
	return out
}

// Mix says how many times as frequent kinds of traffic are in a what-if; 1 is as it
// was.
type Mix struct {
	SameRack, SameGroup, OtherGroup float64
	Reads, Writes                   float64
}

// Unchanged is the mix of the model itself.
func Unchanged() Mix { return Mix{1, 1, 1, 1, 1} }

// WithMix is the model with another mix of traffic. A kind that is 0 times as
// frequent is left out. Sizes stay; rates change.
func (m *Model) WithMix(x Mix) (*Model, error) {
	for _, v := range []float64{x.SameRack, x.SameGroup, x.OtherGroup, x.Reads, x.Writes} {
		if !amount(v) {
			return nil, fmt.Errorf("%w: %g times as much traffic", ErrGenerate, v)
		}
	}
	out := *m
	out.Chains = slices.Clone(m.Chains)
	for i := range out.Chains {
		c := &out.Chains[i]
		pairs := c.Pairs
		c.Pairs, c.Bytes = nil, 0
		for _, p := range pairs {
			if p = m.withMix(p, x); len(p.Features) > 0 {
				c.Pairs = append(c.Pairs, p)
				c.Bytes += p.Bytes()
			}
		}
	}
	return &out, out.Check()
}

func (m *Model) withMix(p Pair, x Mix) Pair {
	by := x.OtherGroup
	switch {
	case p.Level == ServerLevel && (m.Topology.isCloud(p.From) || m.Topology.isCloud(p.To)):
	case m.sameState(RackLevel, p):
		by = x.SameRack
	case m.sameState(GroupLevel, p):
		by = x.SameGroup
	}
	out := Pair{Level: p.Level, From: p.From, To: p.To}
	count, silent := 0.0, 0.0 // messages that are left, and the time before those that are not
	for _, f := range p.Features {
		factor := by * x.Writes
		if f.Direction == Read {
			factor = by * x.Reads
		}
		if factor == 0 {
			silent += f.Count * f.GapSeconds
			continue
		}
		out.Features = append(out.Features, times([]Feature{f}, factor)...)
		count += f.Count
	}
	for i := range out.Features { // what is left out leaves longer gaps
		out.Features[i].GapSeconds += silent / count
	}
	return out
}

// sameState reports that a transition stays within a state of a level. A coarse
// transition above that level may or may not, and counts as leaving it.
func (m *Model) sameState(l Level, p Pair) bool {
	if p.Level < l {
		return false
	}
	from, _ := m.Topology.serversIn(p.Level, p.From)
	to, _ := m.Topology.serversIn(p.Level, p.To)
	return m.Topology.stateOf(l, from) == m.Topology.stateOf(l, to)
}
