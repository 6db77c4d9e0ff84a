package network

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// SyntheticOptions describe a declared cluster. Its inputs are the published
// statistics of the study and, where it gives none, choices of ours that are named
// as such; none is fitted to what a model reaches.
type SyntheticOptions struct {
	Groups, RacksPerGroup, ServersPerRack int
	Weeks                                 int
	Bin                                   time.Duration
	// Varying is the share of racks whose pairs switch on and off; the others are
	// static (the study has subsets of both kinds; one half: chosen by us).
	Varying float64
	Seed    uint64
}

// DefaultSynthetic is the cluster of 48 × 100 servers over two weeks, the second of
// which no model is fitted to.
func DefaultSynthetic(seed uint64) SyntheticOptions {
	return SyntheticOptions{Groups: 10, RacksPerGroup: 10, ServersPerRack: 48, Weeks: 2, Bin: 5 * time.Minute, Varying: 0.5, Seed: seed}
}

// Published statistics that the synthetic cluster is made of.
const (
	// Most traffic stays in the rack or between neighbouring racks (Delimitrou 2015,
	// §C.4); the shares are declared by us.
	rackShare      = 0.90
	neighbourShare = 0.07
	remoteShare    = 0.03
	// "Very few nodes exceed 0.0064 MB/s", and 0.1 to 0.5 % of the servers exceed the
	// range of the maps (§C.4): the middle of that share exceeds this load.
	highBytesPerSecond = 0.0064e6
	highShare          = 0.003
	// Load is 15 to 18 % higher at the weekend (§C.4): the middle.
	weekendFactor = 1.165
	// Load is 10 to 15 % higher in the last two of the four weeks (§C.4): the middle.
	lateFactor = 1.125
)

// Choices of ours, where the study gives no number.
const (
	// loadTail is the exponent of the Pareto distribution of loads over servers:
	// heavy-tailed, with a mean and without a variance.
	loadTail = 1.5
	// rackPeers is how many servers of its rack a server sends to; their parts fall as
	// 1/rank.
	rackPeers = 8
	// talkers is how many servers exchange something with every server of the system,
	// once an hour each; they carry half of the remote traffic.
	talkers      = 5
	talkersShare = 0.5
	// burstTail and burstLeast make the periods on and off of a varying pair Pareto
	// distributed with a mean of three times the least: heavy-tailed periods add up to
	// the self-similar traffic of §C.4 (Willinger and others 1997).
	burstTail  = 1.5
	burstLeast = 10 * time.Minute
	// noise is the standard deviation of the logarithm of a bin's bytes around what
	// the hour has.
	noise = 0.2
)

// hourlyLoad is the load of the hours of a day, relative to the highest: two peaks,
// 12 to 18 h and 20 to 24 h, and less and less in the night (§C.4; the second peak is
// read as 8 pm to 12 am). That the lowest is half of the highest is chosen by us.
var hourlyLoad = [24]float64{
	0.9, 0.8, 0.7, 0.6, 0.5, 0.5, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9,
	1, 1, 1, 1, 1, 1, 0.9, 0.9, 1, 1, 1, 1,
}

// Synthetic is the traffic of a declared cluster. Every record is a function of the
// seed, the pair and the bin, so any part of the time can be read by itself.
type Synthetic struct {
	options  SyntheticOptions
	topology Topology
	span     Span
	pairs    []syntheticPair
	bursting int // the first so many pairs switch on and off
	hourly   [][]syntheticPair
	load     []float64 // by bin of the span, relative to the mean of a week
	factors  [noiseSteps]float64
}

type syntheticPair struct {
	source, destination int32
	bytes               float64 // mean of a bin in which it sends
	direction           Direction
	name                uint64
}

// noiseSteps is how finely noise is tabulated.
const noiseSteps = 4096

// ErrSynthetic: there is no such cluster.
var ErrSynthetic = errors.New("no such cluster")

// NewSynthetic makes the cluster.
func NewSynthetic(o SyntheticOptions) (*Synthetic, error) {
	t, err := Uniform(o.Groups, o.RacksPerGroup, o.ServersPerRack)
	if err != nil {
		return nil, err
	}
	if o.Weeks < 1 || o.Weeks > 52 || o.Bin < time.Second || time.Hour%o.Bin != 0 || !(o.Varying >= 0 && o.Varying <= 1) || o.ServersPerRack < 2 {
		return nil, fmt.Errorf("%w: %+v (a rack needs two servers, a bin must divide an hour)", ErrSynthetic, o)
	}
	s := &Synthetic{options: o, topology: t, span: Span{To: time.Duration(o.Weeks) * week, Bin: o.Bin}}
	s.hourly = make([][]syntheticPair, int(time.Hour/o.Bin))
	s.makePairs()
	s.makeLoad()
	z := distuv.Normal{Mu: -noise * noise / 2, Sigma: noise}
	for i := range s.factors {
		s.factors[i] = math.Exp(z.Quantile((float64(i) + 0.5) / noiseSteps))
	}
	return s, nil
}

// Topology is that of the cluster.
func (s *Synthetic) Topology() Topology { return s.topology }

// Span is all weeks.
func (s *Synthetic) Span() Span { return s.span }

// VaryingRack reports that the pairs of a rack switch on and off.
func (s *Synthetic) VaryingRack(rack int) bool {
	return float64((rack*7)%10)+0.5 < 10*s.options.Varying
}

// makePairs draws the load of every server and whom it sends to.
func (s *Synthetic) makePairs() {
	var varying, static []syntheticPair
	random := rand.New(rand.NewPCG(s.options.Seed, 1))
	// The share highShare of the servers has more than highBytesPerSecond.
	load := distuv.Pareto{Alpha: loadTail, Xm: highBytesPerSecond * math.Pow(highShare, 1/loadTail), Src: random}
	for server := range s.topology.Servers() {
		bytes := load.Rand() * s.options.Bin.Seconds()
		pairs := s.rackPairs(server, bytes*rackShare, random)
		pairs = append(pairs, s.farPairs(server, bytes, random)...)
		if s.VaryingRack(s.topology.Rack(server)) {
			varying = append(varying, pairs...)
		} else {
			static = append(static, pairs...)
		}
	}
	for i := range varying {
		varying[i].bytes /= onShare
	}
	s.pairs, s.bursting = append(varying, static...), len(varying)
}

// onShare is the part of the time in which a varying pair sends: periods on and off
// have the same distribution.
const onShare = 0.5

func (s *Synthetic) pair(source, destination int, bytes float64, random *rand.Rand) syntheticPair {
	direction := Write
	if random.Uint64()&1 == 1 { // half of the pairs answer requests (chosen by us)
		direction = Read
	}
	name := uint64(source)<<24 | uint64(destination)
	return syntheticPair{int32(source), int32(destination), bytes, direction, mixed(s.options.Seed, name)}
}

func (s *Synthetic) rackPairs(server int, bytes float64, random *rand.Rand) []syntheticPair {
	from, to := s.topology.ServersOf(s.topology.Rack(server))
	n := min(rackPeers, to-from-1)
	sum := 0.0
	for rank := 1; rank <= n; rank++ {
		sum += 1 / float64(rank)
	}
	var pairs []syntheticPair
	for i, other := range random.Perm(to - from - 1)[:n] {
		if other += from; other >= server {
			other++
		}
		pairs = append(pairs, s.pair(server, other, bytes/float64(i+1)/sum, random))
	}
	return pairs
}

// farPairs are a server's pairs with neighbouring racks, with one server far away,
// and with those that talk to all. What does not exist in a small cluster is left
// out.
func (s *Synthetic) farPairs(server int, bytes float64, random *rand.Rand) []syntheticPair {
	var pairs []syntheticPair
	rack, racks := s.topology.Rack(server), s.topology.Racks()
	near := map[int]bool{(rack + 1) % racks: true, (rack + racks - 1) % racks: true}
	delete(near, rack)
	for _, other := range slices.Sorted(maps.Keys(near)) {
		from, to := s.topology.ServersOf(other)
		pairs = append(pairs, s.pair(server, from+random.IntN(to-from), bytes*neighbourShare/float64(len(near)), random))
	}
	if racks > 3 {
		// Any rack but the own and its two neighbours.
		from, to := s.topology.ServersOf((rack + 2 + random.IntN(racks-3)) % racks)
		pairs = append(pairs, s.pair(server, from+random.IntN(to-from), bytes*remoteShare*(1-talkersShare), random))
	}
	s.talk(server, bytes, random)
	return pairs
}

// talk adds what a server exchanges with those that talk to all: what it sends, and
// as much that it is sent.
func (s *Synthetic) talk(server int, bytes float64, random *rand.Rand) {
	if s.topology.Racks() < 2 {
		return // there is no remote traffic
	}
	perHour := float64(len(s.hourly))
	each := bytes * remoteShare * talkersShare / talkers / 2 * perHour
	for i := range talkers {
		talker := i * s.topology.Servers() / talkers
		if talker == server {
			continue
		}
		slot := random.IntN(len(s.hourly))
		s.hourly[slot] = append(s.hourly[slot], s.pair(server, talker, each, random), s.pair(talker, server, each, random))
	}
}

// makeLoad tabulates the load over the week.
func (s *Synthetic) makeLoad() {
	s.load = make([]float64, s.span.Bins())
	sum := 0.0
	for b := range s.load {
		at := time.Duration(b) * s.span.Bin
		hour := (at % day).Hours()
		low := int(hour)
		part := hour - float64(low)
		v := hourlyLoad[low]*(1-part) + hourlyLoad[(low+1)%24]*part
		if at%week >= 5*day {
			v *= weekendFactor
		}
		if at < week {
			sum += v
		}
		if at/week%4 >= 2 {
			v *= lateFactor
		}
		s.load[b] = v
	}
	mean := sum / float64(week/s.span.Bin)
	for b := range s.load {
		s.load[b] /= mean
	}
}

// Between gives the records of [from, to). Within a bin they come in no particular
// order of pairs, always the same one.
func (s *Synthetic) Between(from, to time.Duration) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		first, end := s.span.bin(max(from, 0)), s.span.bin(min(to, s.span.To))
		perDay := int(day / s.span.Bin)
		var on bursts
		for b := first; b < end; b++ {
			if today := b / perDay; b == first || b%perDay == 0 {
				on = s.burstsOf(today)
			}
			if !s.bin(b, on, b%perDay, yield) {
				return
			}
		}
	}
}

// bin gives the records of a bin; false where no more are wanted.
func (s *Synthetic) bin(b int, on bursts, ofDay int, yield func(Record, error) bool) bool {
	for i := range s.pairs {
		if i < s.bursting && !on.at(i, ofDay) {
			continue
		}
		if !s.send(&s.pairs[i], b, yield) {
			return false
		}
	}
	slot := s.hourly[b%len(s.hourly)]
	for i := range slot {
		if !s.send(&slot[i], b, yield) {
			return false
		}
	}
	return true
}

func (s *Synthetic) send(p *syntheticPair, b int, yield func(Record, error) bool) bool {
	bits := mixed(p.name, uint64(b))
	bytes := p.bytes * s.load[b] * s.factors[bits%noiseSteps]
	// Fractions of a byte are rounded at random, so that their mean stays.
	whole := int64(bytes + unitOf(bits))
	if whole < 1 {
		return true
	}
	return yield(Record{At: time.Duration(b) * s.span.Bin, Source: p.source, Destination: p.destination, Bytes: whole, Direction: p.direction}, nil)
}

// bursts says in which bins of a day the varying pairs are on.
type bursts struct {
	bits    []uint64
	perPair int
}

func (b bursts) at(pair, bin int) bool { return b.bits[pair*b.perPair+bin/64]>>(bin%64)&1 == 1 }

// burstsOf draws the periods of a day. A day begins anew, so that it can be read by
// itself.
func (s *Synthetic) burstsOf(today int) bursts {
	perDay := int(day / s.span.Bin)
	b := bursts{perPair: (perDay + 63) / 64}
	b.bits = make([]uint64, b.perPair*s.bursting)
	var source rand.PCG
	random := rand.New(&source)
	for i := range s.bursting {
		source.Seed(s.pairs[i].name, uint64(today))
		on := random.Uint64()&1 == 1
		// The first period is met somewhere in its course.
		left := period(random) * random.Float64()
		for at := 0.0; at < float64(perDay); {
			end := min(at+left/s.span.Bin.Seconds(), float64(perDay))
			if on {
				for bin := int(math.Round(at)); bin < int(math.Round(end)); bin++ {
					b.bits[i*b.perPair+bin/64] |= 1 << (bin % 64)
				}
			}
			at, on, left = end, !on, period(random)
		}
	}
	return b
}

// period draws seconds from the Pareto distribution of periods.
func period(random *rand.Rand) float64 {
	return burstLeast.Seconds() * math.Pow(1-random.Float64(), -1/burstTail)
}

// Subsets are four racks as the study chooses its subsets: low and high load, static
// and varying. The racks of each kind with the lowest and the highest load.
func (s *Synthetic) Subsets() (names []string, racks []int, err error) {
	loads := make([]float64, s.topology.Racks())
	for i, p := range s.pairs {
		part := 1.0
		if i < s.bursting {
			part = onShare
		}
		loads[s.topology.Rack(int(p.source))] += p.bytes * part
	}
	order := make([]int, len(loads))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(loads[a], loads[b]), cmp.Compare(a, b)) })
	kind := func(varying bool) []int {
		return slices.DeleteFunc(slices.Clone(order), func(r int) bool { return s.VaryingRack(r) != varying })
	}
	static, varying := kind(false), kind(true)
	if len(static) < 2 || len(varying) < 2 {
		return nil, nil, fmt.Errorf("%w: four subsets need two static and two varying racks, and there are %d and %d", ErrSynthetic, len(static), len(varying))
	}
	return []string{"S1 low, static", "S2 low, varying", "S3 high, static", "S4 high, varying"},
		[]int{static[0], varying[0], static[len(static)-1], varying[len(varying)-1]}, nil
}
