package ibench

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"
)

// kneeRange says which footprints to sweep.
type kneeRange struct {
	reported    int64 // bytes
	first, last int64 // bytes
	line, sets  int
	huge        bool
	seed        uint64
	cpus        []int
}

// Each footprint is walked at least this long and at least once, after one
// walk to fetch it. The fastest of the walks counts: a disturbance from
// outside only ever slows one down.
const (
	kneeWalk  = time.Millisecond
	kneeWalks = 3
)

// kneeSweep walks footprints of growing size, on one pinned thread.
func kneeSweep(ctx context.Context, k kneeRange) (KneeSweep, error) {
	type result struct {
		samples []KneeSample
		err     error
	}
	out := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
		samples, err := kneeSweepPinned(ctx, k)
		out <- result{samples, err}
	}()
	r := <-out
	return KneeSweep{ReportedBytes: k.reported, Samples: r.samples}, r.err
}

func kneeSweepPinned(ctx context.Context, k kneeRange) ([]KneeSample, error) {
	if err := prepareThread(threadCPUs(0, 1, k.cpus), false); err != nil {
		return nil, err
	}
	sizes := kneeSizes(k.first, k.last, int64(k.line))
	if len(sizes) == 0 {
		return nil, errors.New("the cache is too small to sweep")
	}
	r, err := newRing(sizes[len(sizes)-1], k.line, k.sets, k.huge, rand.New(rand.NewPCG(k.seed, 0)))
	if err != nil {
		return nil, err
	}
	defer closeQuietly(r)
	samples := make([]KneeSample, 0, len(sizes))
	for _, size := range sizes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r.resize(int(size) / k.line)
		samples = append(samples, KneeSample{Bytes: r.bytes(), NsPerAccess: r.fastestWalk()})
	}
	return samples, nil
}

// fastestWalk returns nanoseconds per line over the whole ring.
func (r *ring) fastestWalk() float64 {
	at := r.spread()
	once := r.n/ringCursors + 1
	r.walk(&at, once)
	fastest := 0.0
	for i := range kneeWalks {
		begin, steps := time.Now(), 0
		for time.Since(begin) < kneeWalk {
			r.walk(&at, once)
			steps += once
		}
		ns := float64(time.Since(begin).Nanoseconds()) / float64(steps*ringCursors)
		if i == 0 || ns < fastest {
			fastest = ns
		}
	}
	return fastest
}
