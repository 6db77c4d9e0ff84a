//go:build e2e

package traffic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
)

// The cluster of the tables: two groups of two racks with the same services in each. Racks have
// little or much load, and load that is static or comes in bursts, as the study chooses its
// subsets (Delimitrou 2015, §C.5.3).
var (
	cell = struct{ groups, racks, servers int }{2, 2, 6}

	rackKinds = []struct {
		name   string
		size   float64 // of messages
		bursts bool
	}{{"S1 low, static", 0.1, false}, {"S3 high, static", 1, false}, {"S2 low, varying", 0.1, true}, {"S4 high, varying", 1, true}}
)

// The servers of a rack.
const (
	web0 = iota
	web1
	cache0
	cache1
	database
	logs
)

// loads are the windows of a cycle, as the four of table C.1: what the load is in a part of it,
// as a share of the highest.
var loads = []struct {
	name string
	at   func(part float64) float64
}{
	{"A, rising", func(part float64) float64 { return 0.6 + 0.4*part }},
	{"B, high", func(float64) float64 { return 1 }},
	{"C, falling", func(part float64) float64 { return 0.6 - 0.2*part }},
	{"D, a hump", func(part float64) float64 { return 0.7 + 0.3*math.Sin(math.Pi*part) }},
}

// talk is what a service asks another for.
type talk struct {
	from, to      int // servers of the cluster
	send, receive float64
	brief         bool // a connection for each exchange
	bursts        bool
}

// What the declared cluster of the study has, too (profiler/workload/network).
const (
	sizeNoise  = 0.2 // of the logarithm of what a bin has
	burstTail  = 1.5
	burstLeast = 1.0 / 12 // of a window: ten minutes of two hours
	perSecond  = 10       // exchanges of each talk
	serviceKey = 7        // of everything that is drawn
)

// talks are those of all racks: most bytes stay in the rack, fewer are between the racks of a
// group and fewest between groups. Of the two web servers the first has twice the load.
func talks() []talk {
	var out []talk
	racks := cell.groups * cell.racks
	for rack, kind := range rackKinds {
		server := func(rack, which int) int { return rack%racks*cell.servers + which }
		add := func(from, to int, send, receive float64, brief bool) {
			size := min(kind.size, rackKinds[to/cell.servers].size)
			out = append(out, talk{from, to, max(16, send*size), max(16, receive*size), brief, kind.bursts})
		}
		for web, load := range []float64{2, 1} {
			from := server(rack, web0+web)
			add(from, server(rack, cache0), 300, 12_000*load, false)
			add(from, server(rack, cache1), 300, 9_000*load, false)
			add(from, server(rack, database), 1_000, 5_000*load, false)
			add(from, server(rack, logs), 2_000*load, 16, true)
			add(from, server(rack^1, database), 200, 2_200*load, false) // the other rack of the group
			add(from, server(rack+2, logs), 900*load, 16, true)         // a rack of the other group
		}
		for cache := range 2 {
			add(server(rack, cache0+cache), server(rack, database), 500, 4_000, false)
		}
	}
	return out
}

func serverNames() []string {
	var out []string
	for rack := range rackKinds {
		for server := range cell.servers {
			out = append(out, fmt.Sprintf("g%d/r%d/s%d", rack/cell.racks, rack, server))
		}
	}
	return out
}

// schedule says when a talk is active and how large its messages are.
type schedule struct {
	talk
	window, bin time.Duration
	noise       []float64 // by bin
	switches    []float64 // of bursts, in seconds; it is on at first
}

func newSchedule(index int, t talk, window, bin, length time.Duration) schedule {
	random := rand.New(rand.NewPCG(serviceKey, uint64(index)))
	s := schedule{talk: t, window: window, bin: bin}
	for range length/bin + 1 {
		s.noise = append(s.noise, math.Exp(sizeNoise*random.NormFloat64()-sizeNoise*sizeNoise/2))
	}
	if !t.bursts {
		return s
	}
	period := func() float64 {
		return burstLeast * window.Seconds() * math.Pow(1-random.Float64(), -1/burstTail)
	}
	at := period() * random.Float64() // the first is met somewhere in its course
	if random.Uint64()&1 == 1 {
		at = 0 // and may be off
	}
	for s.switches = []float64{at}; at < length.Seconds(); s.switches = append(s.switches, at) {
		at += period()
	}
	return s
}

// factor is how many times as large as their mean messages are at a moment; 0: there are none.
func (s schedule) factor(at time.Duration) float64 {
	load := loads[int(at/s.window)%len(loads)]
	size := load.at(float64(at%s.window)/float64(s.window)) * s.noise[at/s.bin]
	if !s.bursts {
		return size
	}
	past := 0
	for past < len(s.switches) && s.switches[past] <= at.Seconds() {
		past++
	}
	if past%2 == 1 {
		return 0
	}
	return 2 * size // half of the time it is off
}

// services are the processes of the cluster: all of them are this one, with a listener in every
// namespace.
type services struct {
	spaces *capturetest.Cluster
	names  []string
	talks  []talk
	conns  []net.Conn // by talk; nil: each exchange has its own
}

// spaceOf is the namespace of a server.
func spaceOf(server int) string { return fmt.Sprintf("s%d", server) }

func startServices(t *testing.T) *services {
	t.Helper()
	s := &services{names: serverNames(), talks: talks()}
	var spaces []string
	for server := range s.names {
		spaces = append(spaces, spaceOf(server))
	}
	s.spaces = capturetest.New(t, spaces...)
	for server := range s.names {
		go capturetest.Answer(s.spaces.Listen(spaceOf(server), port))
	}
	for _, k := range s.talks {
		var conn net.Conn
		if !k.brief {
			conn = s.dial(k)
			t.Cleanup(func() { conn.Close() })
		}
		s.conns = append(s.conns, conn)
	}
	return s
}

func (s *services) dial(k talk) net.Conn { return s.spaces.Dial(spaceOf(k.from), spaceOf(k.to), port) }

// run has the services talk for a time.
func (s *services) run(ctx context.Context, begin time.Time, window, bin, length time.Duration) error {
	var all sync.WaitGroup
	errs := make([]error, len(s.talks))
	for i, k := range s.talks {
		all.Go(func() { errs[i] = s.talk(ctx, i, newSchedule(i, k, window, bin, length), begin, length) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// talk exchanges what a talk has, evenly over the time.
func (s *services) talk(ctx context.Context, index int, plan schedule, begin time.Time, length time.Duration) error {
	const gap = time.Second / perSecond
	conn := s.conns[index]
	offset := gap * time.Duration(index) / time.Duration(len(s.talks)) // not all at once
	for at := offset; at < length; at += gap {
		if err := sleepUntil(ctx, begin.Add(at)); err != nil {
			return err
		}
		factor := plan.factor(at)
		if factor == 0 {
			continue
		}
		if plan.brief {
			conn = s.dial(plan.talk)
		}
		err := capturetest.Exchange(conn, max(16, int64(plan.send*factor)), int64(plan.receive*factor))
		if plan.brief {
			conn.Close()
		}
		if err != nil {
			return fmt.Errorf("%s asks %s: %w", s.names[plan.from], s.names[plan.to], err)
		}
	}
	return nil
}

func sleepUntil(ctx context.Context, moment time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(moment)):
		return nil
	}
}
