package admission

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// buckets counts free units by platform and by a hash of the contention they
// would be under, so that the number of suitable ones is known without a look at
// every node (Delimitrou 2015, §7.3.4). An update of one node is
// O(columns · (hyperplanes + residents)), amortised.
//
// The hash is the side of random hyperplanes through the mean vector: contention
// is never negative, so that hyperplanes through 0 tell little apart. The mean is
// learnt: buckets are laid out anew when the number of changes has grown by
// regrowth.
type buckets struct {
	board  *board.Board
	random *rand.Rand
	most   int // buckets in total

	planes   [][]float64
	center   []float64 // through which they go
	mean     []float64 // of the vectors hashed since the last layout
	hashed   int
	relayAt  int
	of       []bucketOf
	list     []bucket
	scratch  []float64
	coreMHz  int // of a reference node: the slowest clock
	layout   uint64
	version  uint64 // counts gains of units
	memoryMB float64
}

const (
	defaultBuckets = 20 // §7.3.4
	regrowth       = 4
	relayLeast     = 256 // changes before the first new layout
)

// bucketOf is where a node is counted.
type bucketOf struct {
	bucket int32 // −1: nowhere yet
	free   int
	vector []float64
}

// bucket is the units of one platform under similar contention.
type bucket struct {
	configuration int
	free          int
	center        []float64 // mean vector of the free units; the last one where there is none
	known         bool      // there has been a free unit
	sum           []float64
	gained        uint64 // version at which it last gained units
	frees         frees
}

func newBuckets(b *board.Board, most int, random *rand.Rand) *buckets {
	k := len(b.Columns)
	t := &buckets{
		board: b, random: random, most: most, version: 1, relayAt: relayLeast,
		center: make([]float64, k), mean: make([]float64, k), scratch: make([]float64, k),
	}
	t.lay()
	return t
}

// lay chooses hyperplanes through the mean, and counts every node again. What
// was learnt of waits belongs to the old buckets, and is forgotten. O(nodes).
func (t *buckets) lay() {
	t.layout++
	if t.hashed > 0 {
		for k := range t.mean {
			t.center[k] = t.mean[k] / float64(t.hashed)
		}
	}
	t.planes = nil
	for n := 2; n*max(1, len(t.board.Configurations)) <= t.most; n *= 2 {
		plane := make([]float64, len(t.board.Columns))
		for k := range plane {
			plane[k] = t.random.NormFloat64()
		}
		t.planes = append(t.planes, plane)
	}
	t.list = nil
	for n := range t.of {
		t.of[n].bucket = -1
		t.count(board.Index(n))
	}
}

// update counts a node that changed; units its bucket gained have come free now.
func (t *buckets) update(now Instant, n board.Index) {
	for int(n) >= len(t.of) {
		t.of = append(t.of, bucketOf{bucket: -1, vector: make([]float64, len(t.board.Columns))})
	}
	t.reference(t.board.Node(n))
	first, old, before := t.of[n].bucket < 0, t.of[n].bucket, t.of[n].free
	t.uncount(n)
	t.count(n)
	of := &t.of[n]
	gain := of.free
	if of.bucket == old {
		gain -= before
	}
	if gain > 0 {
		t.version++
		b := &t.list[of.bucket]
		b.gained = t.version
		if !first {
			b.frees.add(now, gain)
		}
	}
	t.hashed++
	for k, v := range of.vector {
		t.mean[k] += v
	}
	if t.hashed >= max(t.relayAt, regrowth*len(t.of)) {
		t.relayAt = regrowth * t.hashed
		t.lay()
	}
}

// reference keeps what a unit is on the weakest node: asks are counted in those.
func (t *buckets) reference(n *board.Node) {
	if n.CoreMHz > 0 && (t.coreMHz == 0 || n.CoreMHz < t.coreMHz) {
		t.coreMHz = n.CoreMHz
	}
	if share := float64(n.Total.MemoryMB) / float64(n.Units()); share > 0 && (t.memoryMB == 0 || share < t.memoryMB) {
		t.memoryMB = share
	}
}

// units is how many units an ask takes.
func (t *buckets) units(a *board.Request) int {
	size := least(a)
	cores := float64(size.Cores)
	if t.coreMHz > 0 {
		cores += float64(size.CPUMHz) / float64(t.coreMHz)
	}
	if t.memoryMB > 0 {
		cores = max(cores, float64(size.MemoryMB)/t.memoryMB)
	}
	return max(1, a.Count) * max(1, board.WholeUnits(cores))
}

// count adds a node's free units to its bucket.
func (t *buckets) count(n board.Index) {
	of := &t.of[n]
	of.free = t.board.FreeUnits(n)
	t.board.Contention(n, of.vector)
	of.bucket = t.find(t.board.Node(n).Configuration, t.hash(of.vector))
	t.list[of.bucket].add(of, +1)
}

func (t *buckets) uncount(n board.Index) {
	if of := &t.of[n]; of.bucket >= 0 {
		t.list[of.bucket].add(of, -1)
	}
}

func (b *bucket) add(of *bucketOf, sign int) {
	if of.free == 0 {
		return
	}
	b.free += sign * of.free
	weight := float64(sign * of.free)
	for k, v := range of.vector {
		b.sum[k] += weight * v
	}
	if b.free == 0 {
		clear(b.sum) // no rounding is left over
		return
	}
	b.known = true
	for k, v := range b.sum {
		b.center[k] = v / float64(b.free)
	}
}

// hash is one bit per hyperplane.
func (t *buckets) hash(v []float64) int {
	pattern := 0
	for i, plane := range t.planes {
		side := 0.0
		for k, x := range v {
			side += plane[k] * (x - t.center[k])
		}
		if side >= 0 {
			pattern |= 1 << i
		}
	}
	return pattern
}

// find is the place of a bucket; the list grows by all patterns of the
// configurations seen so far.
func (t *buckets) find(configuration, pattern int) int32 {
	patterns := 1 << len(t.planes)
	for len(t.list) < (configuration+1)*patterns {
		k := len(t.board.Columns)
		t.list = append(t.list, bucket{
			configuration: len(t.list) / patterns, center: make([]float64, k), sum: make([]float64, k),
		})
	}
	return int32(configuration*patterns + pattern)
}

// suitable appends the buckets whose units keep the ask's QoS, on platforms fast
// enough for it. O(buckets · columns).
func (t *buckets) suitable(a *board.Request, d demand, out []int32) []int32 {
	slowest := slowestGood(a)
	for i := range t.list {
		b := &t.list[i]
		if !b.known || !d.keeps(b.center) {
			continue
		}
		if c := b.configuration; c < len(a.Speed) && a.Speed[c] < slowest {
			continue // an unknown speed, NaN, is not below anything
		}
		out = append(out, int32(i))
	}
	return out
}

// slowestGood is the speed that still counts as good; 0 where nothing is known.
func slowestGood(a *board.Request) float64 {
	best := 0.0
	for _, v := range a.Speed {
		if v > best {
			best = v
		}
	}
	share := a.SlowdownMax
	if !(share > 0) {
		share = slowdownShare
	}
	return best * (1 - share)
}

// free counts the units of some buckets.
func (t *buckets) free(list []int32) int {
	sum := 0
	for _, i := range list {
		sum += t.list[i].free
	}
	return sum
}

// gainedSince reports whether one of them gained units after a version.
func (t *buckets) gainedSince(list []int32, version uint64) bool {
	for _, i := range list {
		if t.list[i].gained > version {
			return true
		}
	}
	return false
}
