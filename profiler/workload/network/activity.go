package network

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Activity is what comparisons and maps need of traffic: how much every server has
// in every bin, and how much every pair of nodes has in all.
type Activity struct {
	Topology Topology
	Span     Span

	bins  []int64    // by server, then bin: sent and received
	pairs []nodePair // with traffic, sorted; of generated traffic those of the original
	moved []int64    // by pair
	// elsewhere is what generated traffic has on pairs that the original does not have.
	elsewhere int64
	total     int64
	racks     []int64 // by rack of the sender, then of the receiver; without the cloud
	cells     []int64 // of the map of servers, by cell of the sender, then of the receiver
	watched   []int64 // by pair that is watched, then bin

	side  int                // of cells
	index map[nodePair]int32 // of pairs
	watch map[nodePair]int32 // place in watched
	skip  func(bin int) bool // bins that no window models
}

// nodePair is an ordered pair of nodes.
type nodePair struct{ source, destination int32 }

func (p nodePair) compare(o nodePair) int {
	return cmp.Or(cmp.Compare(p.source, o.source), cmp.Compare(p.destination, o.destination))
}

// mapSide is how many cells a map of servers has at most on a side: more cannot be
// told apart on a page.
const mapSide = 240

func newActivity(t Topology, s Span, windows []Window) *Activity {
	cal := newCalendar(s, windows)
	side := min(mapSide, t.Servers())
	return &Activity{
		Topology: t, Span: s, bins: make([]int64, t.Servers()*s.Bins()), racks: make([]int64, t.Racks()*t.Racks()),
		side: side, cells: make([]int64, side*side), skip: func(bin int) bool { return cal.window[bin] == noWindow },
	}
}

// partialActivity is what one goroutine adds up by itself. Numbers are whole, so that the sum
// is the same whatever the order.
type partialActivity struct {
	all       *Activity
	found     map[nodePair]int64 // of the original; nil for generated traffic
	row       []int64            // of the original: the bin that is read, by server
	rowBin    int
	moved     []int64 // of generated traffic, by pair
	elsewhere int64
	total     int64
	racks     []int64
	cells     []int64
}

func (a *Activity) part() *partialActivity {
	return &partialActivity{all: a, racks: make([]int64, len(a.racks)), cells: make([]int64, len(a.cells)), moved: make([]int64, len(a.pairs))}
}

// add counts a record. Generated traffic comes in no order, and several goroutines
// share its bins; the original comes bin by bin, each to one of them.
func (p *partialActivity) add(r Record) {
	a := p.all
	bin := a.Span.bin(r.At)
	if a.skip(bin) {
		return
	}
	p.total += r.Bytes
	servers, bins := a.Topology.Servers(), a.Span.Bins()
	both := true
	for _, node := range [2]int32{r.Source, r.Destination} {
		if int(node) == servers {
			both = false
			continue
		}
		if p.found == nil {
			atomic.AddInt64(&a.bins[int(node)*bins+bin], r.Bytes)
			continue
		}
		if p.rowBin != bin {
			p.flush()
			p.rowBin = bin
		}
		p.row[node] += r.Bytes
	}
	if both {
		p.racks[a.Topology.Rack(int(r.Source))*a.Topology.Racks()+a.Topology.Rack(int(r.Destination))] += r.Bytes
		p.cells[int(r.Source)*a.side/servers*a.side+int(r.Destination)*a.side/servers] += r.Bytes
	}
	pair := nodePair{r.Source, r.Destination}
	if i, watched := a.watch[pair]; watched {
		atomic.AddInt64(&a.watched[int(i)*bins+bin], r.Bytes)
	}
	if p.found != nil {
		p.found[pair] += r.Bytes
		return
	}
	if i, known := a.index[pair]; known {
		p.moved[i] += r.Bytes
	} else {
		p.elsewhere += r.Bytes
	}
}

// flush writes the bin that was read into its column: servers are apart in memory, so
// that is done once for each bin.
func (p *partialActivity) flush() {
	bins := p.all.Span.Bins()
	for server, bytes := range p.row {
		if bytes != 0 {
			p.all.bins[server*bins+p.rowBin] += bytes
			p.row[server] = 0
		}
	}
}

func (a *Activity) merge(parts []*partialActivity) {
	for _, p := range parts {
		for i, v := range p.racks {
			a.racks[i] += v
		}
		for i, v := range p.cells {
			a.cells[i] += v
		}
		for i, v := range p.moved {
			a.moved[i] += v
		}
		a.elsewhere += p.elsewhere
		a.total += p.total
	}
}

// Observe adds up the traffic in the bins that some window models.
func Observe(ctx context.Context, t Traffic, windows []Window, workers int, progress func(share float64)) (*Activity, error) {
	a := newActivity(t.Topology(), t.Span(), windows)
	step := max(t.Span().Bin, (6 * time.Hour).Truncate(t.Span().Bin))
	steps := int64((a.Span.To - a.Span.From + step - 1) / step)
	var next, done atomic.Int64
	var parts []*partialActivity
	group, ctx := errgroup.WithContext(ctx)
	for worker := range max(1, workers) {
		p := a.part()
		p.found, p.row = map[nodePair]int64{}, make([]int64, a.Topology.Servers())
		parts = append(parts, p)
		group.Go(func() error {
			for {
				i := next.Add(1) - 1
				if i >= steps {
					return nil
				}
				from := a.Span.From + time.Duration(i)*step
				for r, err := range t.Between(from, min(from+step, a.Span.To)) {
					if err != nil {
						return err
					}
					p.add(r)
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if n := done.Add(1); worker == 0 { // one of them tells
					tell(progress, float64(n)/float64(steps))
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, p := range parts {
		p.flush()
	}
	a.settle(parts)
	return a, nil
}

// settle puts the pairs that were found in order.
func (a *Activity) settle(parts []*partialActivity) {
	found := map[nodePair]int64{}
	for _, p := range parts {
		for pair, bytes := range p.found {
			found[pair] += bytes
		}
	}
	for pair := range found {
		a.pairs = append(a.pairs, pair)
	}
	slices.SortFunc(a.pairs, nodePair.compare)
	a.moved = make([]int64, len(a.pairs))
	a.index = make(map[nodePair]int32, len(a.pairs))
	for i, pair := range a.pairs {
		a.moved[i], a.index[pair] = found[pair], int32(i)
	}
	a.merge(parts)
}

// Regenerate generates traffic like the original for the same span and adds it up:
// its pairs are those of the original. Pairs to watch are added up by bin as well.
func Regenerate(ctx context.Context, m *Model, original *Activity, g Generation, watch []ServerPair) (*Activity, error) {
	if err := m.Fits(original.Topology); err != nil {
		return nil, err
	}
	a := &Activity{
		Topology: original.Topology, Span: original.Span, pairs: original.pairs, index: original.index, skip: original.skip, side: original.side,
		bins: make([]int64, len(original.bins)), moved: make([]int64, len(original.pairs)), racks: make([]int64, len(original.racks)), cells: make([]int64, len(original.cells)),
	}
	a.watchPairs(watch)
	g.Span = original.Span
	var parts []*partialActivity
	err := m.Each(ctx, g, func() func(Record) {
		p := a.part()
		parts = append(parts, p)
		return p.add
	})
	if err != nil {
		return nil, err
	}
	a.merge(parts)
	return a, nil
}

// ServerPair is two nodes, of which the first sends to the second.
type ServerPair struct {
	Source, Destination int
}

func (a *Activity) watchPairs(pairs []ServerPair) {
	a.watch = map[nodePair]int32{}
	for i, p := range pairs {
		a.watch[nodePair{int32(p.Source), int32(p.Destination)}] = int32(i)
	}
	a.watched = make([]int64, len(pairs)*a.Span.Bins())
}

// Watch reads the traffic again for what some pairs moved in every bin, which the
// activity then has.
func (a *Activity) Watch(ctx context.Context, t Traffic, pairs []ServerPair) error {
	a.watchPairs(pairs)
	for r, err := range t.Between(a.Span.From, a.Span.To) {
		if err != nil {
			return err
		}
		if i, watched := a.watch[nodePair{r.Source, r.Destination}]; watched && !a.skip(a.Span.bin(r.At)) {
			a.watched[int(i)*a.Span.Bins()+a.Span.bin(r.At)] += r.Bytes
		}
	}
	return ctx.Err()
}

// RandomPairs draws pairs that have traffic: n of servers in the same rack, and n of
// servers in different racks; fewer where there are fewer.
func (a *Activity) RandomPairs(n int, seed uint64) []ServerPair {
	random := rand.New(rand.NewPCG(seed, 2))
	var out []ServerPair
	for _, same := range []bool{true, false} {
		var of []ServerPair
		for _, p := range a.pairs {
			if !a.Topology.isCloud(p.source) && !a.Topology.isCloud(p.destination) && a.sameRack(p) == same {
				of = append(of, ServerPair{int(p.source), int(p.destination)})
			}
		}
		random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		out = append(out, of[:min(n, len(of))]...)
	}
	return out
}

func (a *Activity) sameRack(p nodePair) bool {
	return a.Topology.Rack(int(p.source)) == a.Topology.Rack(int(p.destination))
}

// Total is all bytes.
func (a *Activity) Total() int64 { return a.total }

// Curve is what a server sends and receives, in bytes per second by bin.
func (a *Activity) Curve(server int) Curve {
	bins := a.Span.Bins()
	c := Curve{Step: a.Span.Bin, Values: make([]float64, bins)}
	for b, v := range a.bins[server*bins : (server+1)*bins] {
		c.Values[b] = float64(v) / a.Span.Bin.Seconds()
	}
	return c
}

// serverTotals are the bytes of every server, sent and received.
func (a *Activity) serverTotals() []int64 {
	bins := a.Span.Bins()
	out := make([]int64, a.Topology.Servers())
	for s := range out {
		for _, v := range a.bins[s*bins : (s+1)*bins] {
			out[s] += v
		}
	}
	return out
}

// As is the same activity with the pairs of another one of the same length, so that
// both can be compared: last week as a forecast of this one, or what a generator sent
// with what it was to be like.
func (a *Activity) As(o *Activity) *Activity {
	out := *a
	out.Span, out.pairs, out.index = o.Span, o.pairs, o.index
	out.moved, out.elsewhere = make([]int64, len(o.pairs)), 0
	for i, p := range a.pairs {
		if j, known := o.index[p]; known {
			out.moved[j] += a.moved[i]
		} else {
			out.elsewhere += a.moved[i]
		}
	}
	return &out
}
