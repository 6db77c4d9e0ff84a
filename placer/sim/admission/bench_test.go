package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission/admissiontest"
)

// BenchmarkDecision is one whole decision: a resident ends, an item arrives, is
// offered and placed. Its time must not grow with the number of nodes; beside it
// stands the plain scan of all nodes that a controller without indexes would do.
func BenchmarkDecision(b *testing.B) {
	for _, nodes := range []int{100, 1000, 10_000} {
		for _, d := range admission.Controllers() {
			b.Run(fmt.Sprintf("%s/%d", d.Name, nodes), func(b *testing.B) { decisions(b, d, nodes) })
		}
		b.Run(fmt.Sprintf("scan/%d", nodes), func(b *testing.B) { scan(b, nodes) })
	}
}

func crowded(nodes int) (*board.Board, *rand.Rand) {
	random := rand.New(rand.NewPCG(1, uint64(nodes)))
	s := admissiontest.Scenario{Columns: make([]string, 15), Configurations: []string{"a", "b", "c"}}
	for k := range s.Columns {
		s.Columns[k] = fmt.Sprintf("s%d", k)
	}
	for i := range nodes {
		n := admissiontest.Node(fmt.Sprintf("n%d", i), 8)
		n.Configuration = i % 3
		s.Nodes = append(s.Nodes, n)
	}
	return admissiontest.Board(s), random
}

func vector(random *rand.Rand, least, spread float64) []float64 {
	v := make([]float64, 15)
	for k := range v {
		v[k] = least + spread*random.Float64()
	}
	return v
}

// load is the share of cores in use, and tries how many nodes the selector of
// the benchmark draws.
const (
	load  = 0.7
	tries = 32
)

// bench is a cluster in a steady state: for each resident that ends, one arrives.
type bench struct {
	board  *board.Board
	random *rand.Rand
	asks   []board.Request
	where  []board.Index // of each ask
	live   []int         // asks that run
}

// put draws nodes until one takes the ask.
func (x *bench) put(i int, within func(board.Index) bool) bool {
	a := &x.asks[i]
	for range tries {
		n := board.Index(x.random.IntN(x.board.Len()))
		if !x.board.Fits(n, a.Size) || within != nil && !within(n) {
			continue
		}
		x.board.Place(n, board.Resident{Handle: a.Handle, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused})
		x.where[i] = n
		x.live = append(x.live, i)
		return true
	}
	return false
}

// end takes a random resident away.
func (x *bench) end(b *testing.B) int {
	at := x.random.IntN(len(x.live))
	i := x.live[at]
	x.live[at] = x.live[len(x.live)-1]
	x.live = x.live[:len(x.live)-1]
	if err := x.board.Remove(x.where[i], x.asks[i].Handle); err != nil {
		b.Fatal(err)
	}
	return i
}

func decisions(b *testing.B, d admission.Descriptor, nodes int) {
	on, random := crowded(nodes)
	x := &bench{board: on, random: random, asks: make([]board.Request, int(8*load*float64(nodes)))}
	x.where = make([]board.Index, len(x.asks))
	for i := range x.asks {
		x.asks[i] = board.Request{
			Handle: board.Handle(i + 1), Size: admissiontest.Cores(1), Count: 1, Expected: time.Hour,
			Tolerated: vector(random, 70, 30), Caused: vector(random, 0, 8),
		}
		x.put(i, nil)
	}
	c, err := d.New(on, admission.Options{}, random)
	if err != nil {
		b.Fatal(err)
	}
	now := time.Duration(0)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		now += time.Hour / time.Duration(len(x.asks))
		i := x.end(b)
		c.Ended(now, x.where[i], x.asks[i].Handle)
		c.Arrive(now, admission.Item{Ask: &x.asks[i], Arrived: now, Ready: now})
		for a, ok := c.Next(now); ok; a, ok = c.Next(now) {
			j := int(a.Item.Ask.Handle) - 1
			if x.put(j, a.Within) {
				c.Started(now, x.where[j], a.Item.Ask.Handle)
				c.Placed(now, a.Item.Ask.Handle)
			} else {
				c.Refused(now, a.Item.Ask.Handle)
			}
		}
	}
	b.ReportMetric(float64(c.Waiting()), "waiting")
}

func scan(b *testing.B, nodes int) {
	at, random := crowded(nodes)
	caused, tolerated := vector(random, 0, 12), vector(random, 60, 40)
	found := 0
	for b.Loop() {
		for n := range board.Index(at.Len()) {
			ok := at.Fits(n, admissiontest.Cores(1))
			for k, h := range at.Headroom(n) {
				ok = ok && h >= caused[k] && tolerated[k] >= at.Caused(n)[k]
			}
			if ok {
				found++
			}
		}
	}
	_ = found
}

// everywhere is a provider of quiet nodes that are there at once.
type everywhere struct {
	board *board.Board
	types provision.Catalogue
	from  board.Index // the nodes from there on are rented
	next  board.Index
}

func (e *everywhere) Types() provision.Catalogue { return e.types }
func (e *everywhere) TypeOf(n board.Index) (provision.Type, bool) {
	return e.types[0], n >= e.from
}
func (e *everywhere) Return(time.Duration, board.Index) {}
func (e *everywhere) Pressure(board.Index) []float64    { return make([]float64, len(e.board.Columns)) }
func (e *everywhere) Rent(time.Duration, string) (board.Index, bool) {
	e.next++
	return e.next - 1, int(e.next) <= e.board.Len()
}

// BenchmarkHCloud is a decision between an owned part that is used between its limits and rented
// nodes with a full history: the text allows 20 ms (Delimitrou 2015, §8.5.4).
func BenchmarkHCloud(b *testing.B) {
	on, random := crowded(100)
	e := &everywhere{board: on, types: provision.Catalogue{{Name: "small", Cores: 2, MemoryMB: 2000, SpinUp: time.Second}}, from: 50, next: 50}
	d, err := admission.Lookup("hcloud")
	if err != nil {
		b.Fatal(err)
	}
	c, err := d.New(on, admission.Options{Values: map[string]string{"strategy": "HM"}, Rental: e}, random)
	if err != nil {
		b.Fatal(err)
	}
	for n := range board.Index(on.Len()) {
		on.SetReady(n, n < e.from)
		if n < e.from {
			on.Place(n, board.Resident{Handle: board.Handle(1<<40 + int64(n)), Size: admissiontest.Cores(6), Tolerated: vector(random, 60, 40), Caused: vector(random, 0, 5)})
		}
	}
	ask := board.Request{Size: admissiontest.Cores(1), Count: 1, Tolerated: vector(random, 60, 40), Caused: vector(random, 0, 5)}
	now := time.Duration(0)
	begin := func() {
		for a, ok := c.Next(now); ok; a, ok = c.Next(now) {
			n, own := a.Only[0], a.Item.Ask
			on.Place(n, board.Resident{Handle: own.Handle, Size: own.Size, Tolerated: own.Tolerated, Caused: own.Caused})
			c.Started(now, n, own.Handle)
			c.Placed(now, own.Handle)
		}
	}
	for i := range 30 { // each on a rented node
		own := ask
		own.Handle = board.Handle(i + 1)
		c.Arrive(now, admission.Item{Ask: &own})
		begin()
		for n := e.from; n < e.next; n++ {
			on.SetReady(n, true)
		}
		begin()
	}
	for range 100 { // looks at the rented nodes fill the history
		now += 10 * time.Second
		c.Next(now)
	}
	ask.Handle = 1 << 30
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		now += time.Millisecond
		c.Arrive(now, admission.Item{Ask: &ask, Arrived: now, Ready: now})
		if _, ok := c.Next(now); !ok {
			b.Fatal("nothing is offered")
		}
		c.Withdraw(ask.Handle)
	}
}
