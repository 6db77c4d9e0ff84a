package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Features are what the text compares first (Table A.4). Shares are parts of 1.
type Features struct {
	IOs         int64   `json:"ios"`
	Seconds     float64 `json:"seconds"`
	ReadShare   float64 `json:"read_share"`
	RandomShare float64 `json:"random_share"`
	// NearShare is the part of the I/Os that jump ahead by storage.NearBytes at most; it is
	// no part of RandomShare.
	NearShare           float64     `json:"near_share"`
	MeanBytes           float64     `json:"mean_bytes"`
	MeanGapMilliseconds float64     `json:"mean_gap_milliseconds"`
	IOPS                float64     `json:"iops"`
	Sizes               []SizeShare `json:"sizes"` // most frequent first
}

// SizeShare is the part of the I/Os of a size.
type SizeShare struct {
	Bytes int64   `json:"bytes"`
	Share float64 `json:"share"`
}

// featureCounts counts the features of a stream.
type featureCounts struct {
	ios, reads int64
	kinds      [storage.Kinds]int64
	bytes      float64
	seconds    float64
	sizes      map[int64]int64
	ends       []int64 // by thread; noEnd: not seen yet
}

const noEnd = math.MinInt64 / 2

func (f *featureCounts) add(r *storage.Record) {
	for int(r.Thread) >= len(f.ends) {
		f.ends = append(f.ends, noEnd)
	}
	f.kinds[storage.KindAfter(f.ends[r.Thread], r.Offset)]++
	f.ends[r.Thread] = r.End()
	f.ios++
	if r.Op == storage.Read {
		f.reads++
	}
	f.bytes += float64(r.Bytes)
	f.sizes[r.Bytes]++
	f.seconds = r.At.Seconds()
}

func (f *featureCounts) features() Features {
	n := float64(f.ios)
	out := Features{
		IOs: f.ios, Seconds: f.seconds, ReadShare: float64(f.reads) / n,
		RandomShare: float64(f.kinds[storage.Random]) / n, NearShare: float64(f.kinds[storage.NearSequential]) / n,
		MeanBytes: f.bytes / n, MeanGapMilliseconds: f.seconds / n * 1e3, IOPS: n / f.seconds,
	}
	for bytes, count := range f.sizes {
		out.Sizes = append(out.Sizes, SizeShare{bytes, float64(count) / n})
	}
	slices.SortFunc(out.Sizes, func(a, b SizeShare) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Bytes, b.Bytes)) })
	return out
}

// sizesApart is the total variation distance of two mixes of sizes, in percent.
func sizesApart(a, b []SizeShare) float64 {
	difference := map[int64]float64{}
	for _, s := range a {
		difference[s.Bytes] += s.Share
	}
	for _, s := range b {
		difference[s.Bytes] -= s.Share
	}
	// Summed in order: the same streams, the same digits.
	var all []float64
	for _, d := range difference {
		all = append(all, math.Abs(d))
	}
	slices.Sort(all)
	sum := 0.0
	for _, d := range all {
		sum += d
	}
	return 50 * sum
}

// apart is the total variation distance of two distributions over the same classes, in
// percent: the least part of the I/Os that would have to be elsewhere.
func apart(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return 50 * sum
}
