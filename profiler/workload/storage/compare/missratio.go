package compare

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// cacheParts are the sizes of the caches, as parts of the pages that the trace touches: six
// that double, as the text's 1 to 32 GB do.
var cacheParts = []float64{1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}

// MissPoint is the miss ratio of an LRU cache, a part of the page accesses (0..1).
type MissPoint struct {
	CacheBytes int64   `json:"cache_bytes"`
	MissRatio  float64 `json:"miss_ratio"`
}

// sampledAccesses is about how many page accesses are followed: of longer streams a sample
// of the pages.
const sampledAccesses = 1 << 21

// sampleRate is the part of the pages to follow of a stream with so many bytes.
func sampleRate(bytes float64) float64 {
	return min(1, sampledAccesses/max(bytes/model.PageBytes, 1))
}

// reuse measures stack distances: how many different pages were touched since a page was
// touched last.
type reuse struct {
	rate      float64
	threshold uint64
	last      map[int64]int32 // page → position
	pages     []int64         // by position; noPage: touched again since
	tree      []int32         // counts of positions that hold a page (Fenwick)
	next      int32
	distances *hdrhistogram.Histogram
	accesses  int64
	dropped   int64 // distances that the histogram does not hold
}

const (
	noPage = -1
	// firstPositions is how many are made room for at first.
	firstPositions = 1 << 16
	// Distances are kept to 1 %: a cache's size is known no better.
	distanceDigits = 2
	mostDistance   = 1 << 50
)

func newReuse(rate float64) *reuse {
	u := &reuse{rate: rate, threshold: math.MaxUint64, last: map[int64]int32{}, distances: hdrhistogram.New(1, mostDistance, distanceDigits)}
	if rate < 1 {
		u.threshold = uint64(rate * math.MaxUint64)
	}
	u.room(firstPositions)
	return u
}

func (u *reuse) add(r *storage.Record) {
	for page := r.Offset / model.PageBytes; page <= (r.End()-1)/model.PageBytes; page++ {
		if mixed(uint64(page)) <= u.threshold {
			u.touch(page)
		}
	}
}

// mixed is the finaliser of SplitMix64: whether a page is in the sample is by chance.
func mixed(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (u *reuse) touch(page int64) {
	u.accesses++
	if at, seen := u.last[page]; seen {
		since := int64(len(u.last)) - int64(u.upTo(at))
		if u.distances.RecordValue(int64(float64(since)/u.rate)+1) != nil {
			u.dropped++
		}
		u.change(at, -1)
		u.pages[at] = noPage
	}
	if int(u.next) == len(u.pages) {
		u.compact()
	}
	u.pages[u.next] = page
	u.last[page] = u.next
	u.change(u.next, 1)
	u.next++
}

// upTo counts the pages at positions up to one.
func (u *reuse) upTo(at int32) int32 {
	sum := int32(0)
	for i := at + 1; i > 0; i -= i & -i {
		sum += u.tree[i]
	}
	return sum
}

func (u *reuse) change(at, by int32) {
	for i := at + 1; int(i) < len(u.tree); i += i & -i {
		u.tree[i] += by
	}
}

func (u *reuse) room(positions int) {
	u.pages, u.tree, u.next = make([]int64, positions), make([]int32, positions+1), 0
}

// compact closes the gaps between positions, in order, and makes as much room again.
func (u *reuse) compact() {
	old := u.pages
	u.room(2*len(u.last) + firstPositions)
	for _, page := range old {
		if page == noPage {
			continue
		}
		u.pages[u.next] = page
		u.last[page] = u.next
		u.change(u.next, 1)
		u.next++
	}
}

// footprint is how many bytes of pages were touched.
func (u *reuse) footprint() int64 { return int64(float64(len(u.last))/u.rate) * model.PageBytes }

// missRatios are those of caches of some sizes.
func (u *reuse) missRatios(sizes []int64) []MissPoint {
	bars := u.distances.Distribution()
	var out []MissPoint
	for _, size := range sizes {
		hits := int64(0)
		for _, b := range bars {
			if b.To <= size/model.PageBytes {
				hits += b.Count
			}
		}
		out = append(out, MissPoint{size, 1 - float64(hits)/float64(max(u.accesses, 1))})
	}
	return out
}

// cacheSizes are those that a trace with such a footprint is judged at.
func cacheSizes(footprint int64) []int64 {
	var out []int64
	for _, part := range cacheParts {
		out = append(out, max(int64(part*float64(footprint))/model.PageBytes, 1)*model.PageBytes)
	}
	return out
}
