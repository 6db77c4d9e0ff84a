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
	reported    int64 // bytes; 0 is not known
	first, last int64 // bytes
	line, sets  int
	huge        bool
	seed        uint64
	cpus        []int
	// open makes a walk over that many lines; nil is a ring of memory lines.
	open func(lines int) (walk, error)
}

// walk opens the walk to sweep.
func (k kneeRange) walk(lines int) (walk, error) {
	if k.open != nil {
		return k.open(lines)
	}
	return newDataWalk(int64(lines)*int64(k.line), k.line, k.sets, k.huge, rand.New(rand.NewPCG(k.seed, 0)))
}

// Each footprint is walked at least this long and at least once, after one
// walk to fetch it, in several sweeps. The fastest of the walks counts: a
// disturbance from outside only ever slows one down, and seldom for so long.
const (
	kneeWalk   = time.Millisecond
	kneeSweeps = 3
)

// kneeSweep walks footprints of growing size, on one pinned thread.
func kneeSweep(ctx context.Context, k kneeRange) (KneeSweep, error) {
	sweep := KneeSweep{ReportedBytes: k.reported}
	err := onPinnedThread(k.cpus, func() (err error) {
		sweep.Samples, err = kneeSamples(ctx, k)
		return err
	})
	return sweep, err
}

// onPinnedThread runs f on a thread of its own on the first of the CPUs. The
// thread ends with f.
func onPinnedThread(cpus []int, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the pinned thread ends with the goroutine
		err := prepareThread(cpus[:min(1, len(cpus))], false)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

func kneeSamples(ctx context.Context, k kneeRange) ([]KneeSample, error) {
	sizes := kneeSizes(k.first, k.last, int64(k.line))
	if len(sizes) == 0 {
		return nil, errors.New("the cache is too small to sweep")
	}
	w, err := k.walk(int(sizes[len(sizes)-1]) / k.line)
	if err != nil {
		return nil, err
	}
	defer closeQuietly(w)
	samples := make([]KneeSample, len(sizes))
	for range kneeSweeps {
		for i, size := range sizes {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			w.resize(int(size) / k.line)
			ns := timedWalk(w)
			if samples[i].NsPerAccess == 0 || ns < samples[i].NsPerAccess {
				samples[i] = KneeSample{Bytes: int64(w.size()) * int64(k.line), NsPerAccess: ns}
			}
		}
	}
	return samples, nil
}

// timedWalk returns nanoseconds per line over the whole walk.
func timedWalk(w walk) float64 {
	w.advance(w.size())
	begin, lines := time.Now(), 0
	for time.Since(begin) < kneeWalk {
		lines += w.advance(w.size())
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(lines)
}
