package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// FitOptions say how a model is fitted. The zero value is not usable: see
// DefaultFit.
type FitOptions struct {
	Windows []Window
	Levels  Level // GroupLevel, RackLevel or ServerLevel; ClusterLevel is the gravity model
	Flat    bool  // all pairs of servers, without hierarchy
	// DropBelow is the share of a window's bytes below which a transition is not kept.
	DropBelow float64
	// TopPairs is how many pairs of servers in different racks are kept exactly, per
	// window; the traffic must then be read twice.
	TopPairs int
	Workers  int                 // at once; it does not change the result
	Progress func(share float64) // may be nil
}

// DefaultDropBelow is a millionth of the window's bytes (chosen by us: below it a
// transition of the largest cluster of the study has no mean share left).
const DefaultDropBelow = 1e-6

// DefaultFit is the model of the study: three levels, ten windows.
func DefaultFit() FitOptions {
	return FitOptions{Windows: StudyWindows(), Levels: ServerLevel, DropBelow: DefaultDropBelow, Workers: 2}
}

// ErrFit: traffic cannot be modelled so.
var ErrFit = errors.New("cannot fit")

// Fit fits a hierarchical Markov chain to every window (Delimitrou 2015, §C.5.2).
// Windows are fitted in parallel, each by one goroutine, so the result is the same
// whatever their order. O(records) time; memory for the transitions.
func Fit(ctx context.Context, t Traffic, o FitOptions) (*Model, error) {
	span := t.Span()
	if err := o.check(); err != nil {
		return nil, err
	}
	cal := newCalendar(span, o.Windows)
	for i, w := range o.Windows {
		if len(cal.bins[i]) == 0 {
			return nil, fmt.Errorf("%w: nothing was captured in the window %s (choose windows that the traffic has, such as one, or capture for longer)", ErrFit, w)
		}
	}
	m := &Model{
		Topology: t.Topology(), Levels: o.Levels, Flat: o.Flat, Chains: make([]Chain, len(o.Windows)),
		Capture: Capture{From: span.From, To: span.To, Bin: span.Bin, MissingBins: len(span.Missing)},
	}
	all := &fitting{traffic: t, options: o, calendar: cal}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for i := range o.Windows {
		group.Go(func() error {
			var err error
			m.Chains[i], err = all.window(ctx, i)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return m, m.Check()
}

func (o FitOptions) check() error {
	if err := CheckWindows(o.Windows); err != nil {
		return err
	}
	if o.Levels > ServerLevel || (o.Flat && o.Levels != ServerLevel) || !(o.DropBelow >= 0 && o.DropBelow < 1) || o.TopPairs < 0 {
		return fmt.Errorf("%w: levels %d, flat %t, drop below %g, top pairs %d", ErrFit, o.Levels, o.Flat, o.DropBelow, o.TopPairs)
	}
	if o.TopPairs > 0 && (o.Levels != ServerLevel || o.Flat) {
		return fmt.Errorf("%w: exact pairs belong to a model with the level of servers, and a flat one has them all", ErrFit)
	}
	return nil
}

// fitting is what the windows share.
type fitting struct {
	traffic  Traffic
	options  FitOptions
	calendar calendar

	mutex sync.Mutex
	done  int // bins that were read
}

// read counts bins as read.
func (f *fitting) read(bins int) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.done += bins
	all := 0
	for _, b := range f.calendar.bins {
		all += len(b)
	}
	if f.options.TopPairs > 0 {
		all *= 2
	}
	tell(f.options.Progress, float64(f.done)/float64(all))
}

// each gives the records of a window with where its clock stands.
func (f *fitting) each(ctx context.Context, window int, do func(r Record, clock time.Duration)) error {
	span := f.calendar.span
	for _, run := range f.calendar.instances(window) {
		from, to := span.From+time.Duration(run[0])*span.Bin, span.From+time.Duration(run[1])*span.Bin
		for r, err := range f.traffic.Between(from, to) {
			if err != nil {
				return err
			}
			do(r, f.calendar.clockAt(span.bin(r.At), r.At))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f.read(run[1] - run[0])
	}
	return nil
}

// window fits the chain of one window.
func (f *fitting) window(ctx context.Context, window int) (Chain, error) {
	w := newTallies(f.traffic.Topology(), f.options)
	if f.options.TopPairs > 0 {
		bytes := map[pairKey]int64{}
		err := f.each(ctx, window, func(r Record, _ time.Duration) {
			if key := w.keyOf(r); key.level != ServerLevel {
				bytes[pairKey{ServerLevel, r.Source, r.Destination}] += r.Bytes
			}
		})
		if err != nil {
			return Chain{}, err
		}
		w.exact = largest(bytes, f.options.TopPairs)
	}
	if err := f.each(ctx, window, w.add); err != nil {
		return Chain{}, err
	}
	return w.chain(f.options.Windows[window], f.calendar.time(window)), nil
}

// largest are the pairs with the most bytes; of equal ones, those with the lower
// numbers.
func largest(bytes map[pairKey]int64, n int) map[pairKey]bool {
	keys := make([]pairKey, 0, len(bytes))
	for key := range bytes {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b pairKey) int { return cmp.Or(cmp.Compare(bytes[b], bytes[a]), a.compare(b)) })
	out := map[pairKey]bool{}
	for _, key := range keys[:min(n, len(keys))] {
		out[key] = true
	}
	return out
}

// pairKey names a transition.
type pairKey struct {
	level    Level
	from, to int32
}

func (k pairKey) compare(o pairKey) int {
	return cmp.Or(cmp.Compare(k.level, o.level), cmp.Compare(k.from, o.from), cmp.Compare(k.to, o.to))
}

// packed is the key in one number, which a map finds faster: nodes have 21 bits.
func (k pairKey) packed() uint64 {
	return uint64(k.level)<<42 | uint64(uint32(k.from))<<21 | uint64(uint32(k.to))
}

// tallies counts the transitions of one window.
type tallies struct {
	topology Topology
	levels   Level
	flat     bool
	drop     float64
	exact    map[pairKey]bool // pairs of servers in different racks that are kept
	slots    map[uint64]int32 // by packed key
	pairs    []pairTally
	shares   [ServerLevel]Shares
}

// pairTally counts one transition.
type pairTally struct {
	key         pairKey
	first, last time.Duration // on the window's clock
	begun       feature       // of the first record: its gap is not known before the last
	kinds       []kindTally
}

// feature is the class of a record.
type feature struct {
	size, gap uint8
	direction Direction
}

// kindTally counts the records of one class.
type kindTally struct {
	feature
	count, bytes         int64
	gaps                 time.Duration
	bytesSquared, gapsSq float64 // of bytes, of seconds
}

func newTallies(t Topology, o FitOptions) *tallies {
	return &tallies{topology: t, levels: o.Levels, flat: o.Flat, drop: o.DropBelow, slots: map[uint64]int32{}}
}

// keyOf finds the level at which source and destination diverge. Whatever has to
// do with the cloud is a transition of servers, so that their loads stay exact.
func (w *tallies) keyOf(r Record) pairKey {
	t := &w.topology
	if w.flat || t.isCloud(r.Source) || t.isCloud(r.Destination) {
		return pairKey{ServerLevel, r.Source, r.Destination}
	}
	sourceRack, destinationRack := t.rackOf[r.Source], t.rackOf[r.Destination]
	sourceGroup, destinationGroup := t.groupOf[sourceRack], t.groupOf[destinationRack]
	switch {
	case w.levels == ClusterLevel:
		return pairKey{ClusterLevel, 0, 0}
	case sourceGroup != destinationGroup, w.levels == GroupLevel:
		return pairKey{GroupLevel, sourceGroup, destinationGroup}
	case sourceRack != destinationRack, w.levels == RackLevel:
		return pairKey{RackLevel, sourceRack, destinationRack}
	default:
		return pairKey{ServerLevel, r.Source, r.Destination}
	}
}

// add counts a record.
func (w *tallies) add(r Record, clock time.Duration) {
	key := w.keyOf(r)
	if key.level != ServerLevel {
		if own := (pairKey{ServerLevel, r.Source, r.Destination}); w.exact[own] {
			key = own
		} else {
			w.share(key.level, r)
		}
	}
	kind := feature{size: sizeClass(r.Bytes), direction: r.Direction}
	slot, known := w.slots[key.packed()]
	if !known {
		slot = int32(len(w.pairs))
		w.slots[key.packed()] = slot
		w.pairs = append(w.pairs, pairTally{key: key, first: clock, last: clock, begun: kind})
		w.pairs[slot].count(feature{size: kind.size, direction: kind.direction, gap: unknownGap}, 0, r.Bytes)
		return
	}
	p := &w.pairs[slot]
	gap := clock - p.last
	p.last = clock
	kind.gap = gapClass(gap)
	p.count(kind, gap, r.Bytes)
}

// unknownGap is the class of a first record until the window is closed.
const unknownGap = math.MaxUint8

func (p *pairTally) count(kind feature, gap time.Duration, bytes int64) {
	i := slices.IndexFunc(p.kinds, func(k kindTally) bool { return k.feature == kind })
	if i < 0 {
		i = len(p.kinds)
		p.kinds = append(p.kinds, kindTally{feature: kind})
	}
	k := &p.kinds[i]
	k.count++
	k.bytes += bytes
	k.gaps += gap
	k.bytesSquared += float64(bytes) * float64(bytes)
	k.gapsSq += gap.Seconds() * gap.Seconds()
}

// share counts a record for its servers.
func (w *tallies) share(l Level, r Record) {
	if w.shares[l].empty() {
		w.shares[l] = newShares(w.topology.Servers())
	}
	s := &w.shares[l]
	s.SentCount[r.Source]++
	s.SentBytes[r.Source] += float64(r.Bytes)
	s.ReceivedCount[r.Destination]++
	s.ReceivedBytes[r.Destination] += float64(r.Bytes)
}

// close gives the first record its gap: from the last one over the end of the
// window to its beginning. So the gaps of a transition add up to the window's time,
// and its rate is the number of its records over that time.
func (p *pairTally) close(length time.Duration) {
	i := slices.IndexFunc(p.kinds, func(k kindTally) bool { return k.gap == unknownGap })
	bytes := p.kinds[i].bytes
	p.kinds = slices.Delete(p.kinds, i, i+1)
	gap := p.first + length - p.last
	p.begun.gap = gapClass(gap)
	p.count(p.begun, gap, bytes)
}

// chain closes the window.
func (w *tallies) chain(window Window, length time.Duration) Chain {
	c := Chain{Window: window, Time: length}
	slices.SortFunc(w.pairs, func(a, b pairTally) int { return a.key.compare(b.key) })
	for i := range w.pairs {
		for _, k := range w.pairs[i].kinds {
			c.Bytes += float64(k.bytes)
		}
	}
	lost, moved := make([]float64, w.topology.Nodes()), make([]float64, w.topology.Nodes())
	for i := range w.pairs {
		p := &w.pairs[i]
		p.close(length)
		pair := p.pair()
		bytes, kept := pair.Bytes(), true
		if bytes < w.drop*c.Bytes {
			c.DroppedBytes += bytes
			kept = false
		} else {
			c.Pairs = append(c.Pairs, pair)
		}
		if pair.Level == ServerLevel {
			for _, node := range []int32{pair.From, pair.To} {
				moved[node] += bytes
				if !kept {
					lost[node] += bytes
				}
			}
		}
	}
	for node := range lost {
		if moved[node] > 0 {
			c.LargestLoss = max(c.LargestLoss, lost[node]/moved[node])
		}
	}
	for l := range w.shares {
		c.Shares[l] = w.coarsen(w.shares[l])
	}
	return c
}

// coarsen evens out shares within the states of the deepest level: a model that
// does not know servers divides the traffic of a state equally.
func (w *tallies) coarsen(s Shares) Shares {
	if w.levels == ServerLevel || w.levels == ClusterLevel || s.empty() {
		return s
	}
	for _, list := range [][]float64{s.SentCount, s.SentBytes, s.ReceivedCount, s.ReceivedBytes} {
		for state := range int32(w.topology.states(w.levels)) {
			first, end := w.topology.serversIn(w.levels, state)
			even(list[first:end])
		}
	}
	return s
}

// even replaces numbers by their mean.
func even(list []float64) {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	for i := range list {
		list[i] = sum / float64(len(list))
	}
}

func (p *pairTally) pair() Pair {
	slices.SortFunc(p.kinds, func(a, b kindTally) int {
		return cmp.Or(cmp.Compare(a.gap, b.gap), cmp.Compare(a.size, b.size), cmp.Compare(a.direction, b.direction))
	})
	out := Pair{Level: p.key.level, From: p.key.from, To: p.key.to, Features: make([]Feature, len(p.kinds))}
	for i, k := range p.kinds {
		n := float64(k.count)
		out.Features[i] = Feature{
			Size: k.size, Gap: k.gap, Direction: k.direction, Count: n, Bytes: float64(k.bytes), GapSeconds: rounded(k.gaps.Seconds() / n),
			SizeCV: variation(n, float64(k.bytes), k.bytesSquared), GapCV: variation(n, k.gaps.Seconds(), k.gapsSq),
		}
	}
	return out
}

// cvDigits: a coefficient of variation is kept in steps of a hundredth, as is
// enough for a class that is a factor of two wide.
const cvDigits = 100

// rounded keeps six digits that count: a model is the same after it was written.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// variation is the coefficient of variation of n numbers, by their sum and the sum
// of their squares; 0 where the mean is.
func variation(n, sum, squares float64) float64 {
	if sum == 0 {
		return 0
	}
	mean := sum / n
	return math.Round(cvDigits*math.Sqrt(max(0, squares/n-mean*mean))/mean) / cvDigits
}
