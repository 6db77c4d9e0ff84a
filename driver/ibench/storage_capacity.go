package ibench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// storageSpanDefault bounds the span where the user does not: it must be
// written once, which puts pressure on the disk's bandwidth for as long.
const storageSpanDefault = 1 << 30

// One access. Large enough that the disk and not the system call is timed.
const storageReadBytes = 64 << 10

// storageReadShare is the share of the random reads the disk could do one after
// the other, at intensity 100 and in proportion below (our §2.4, SoI3).
const storageReadShare = 0.05

// storageProbes reads give the time of one, before the first level.
const storageProbes = 15

func newStorageCapacity(ctx context.Context, s Setup) (*Load, error) {
	room, err := diskRoom(s.Path)
	if err != nil {
		return nil, err
	}
	size := int64(storageSpanDefault)
	if s.MaxBytes > 0 {
		size = s.MaxBytes
	}
	if size = min(size, room) / storageChunkBytes * storageChunkBytes; size < storageBytesMin {
		return nil, fmt.Errorf("storage path %s has %d MiB beyond the reserve, max bytes is %d: the file needs %d MiB at least",
			s.Path, room>>20, s.MaxBytes, storageBytesMin>>20)
	}
	span, err := newDiskSpan(ctx, s.Path, size, s.Seed)
	if err != nil {
		return nil, err
	}
	load := &Load{
		Threads:       1,
		Worker:        func(int) (Worker, error) { return newSpanReader(span, s.Seed) },
		ResidentBytes: func() int64 { return storageReadBytes + storageChunkBytes },
		Occupied:      span.occupied,
		Measures:      span.measures,
		Alerts:        span.short.list,
		Close:         span.Close,
	}
	if !span.direct {
		load.Notes = []string{noDirectNote}
	}
	return load, nil
}

// spanReader reads at random places of the span, one at a time.
type spanReader struct {
	span    *diskSpan
	buffer  *region
	random  *rand.Rand
	typical time.Duration // of one read, undisturbed
}

func newSpanReader(span *diskSpan, seed uint64) (*spanReader, error) {
	buffer, err := newRegion(storageReadBytes, false)
	if err != nil {
		return nil, err
	}
	r := &spanReader{span: span, buffer: buffer, random: rand.New(rand.NewPCG(seed, 0))}
	var took []time.Duration
	for range storageProbes {
		begin := time.Now()
		if _, err := r.Work(1); err != nil {
			return nil, errors.Join(err, buffer.Close())
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	r.typical = took[len(took)/4] // others at the disk only ever slow a read down
	return r, nil
}

// Tune reads in the share u of the span; the file grows to it on its own.
func (r *spanReader) Tune(u, _ float64) Pace {
	r.span.setGoal(int64(u * float64(r.span.most)))
	perSecond := u * storageReadShare / r.typical.Seconds()
	return Pace{OpsPerSecond: perSecond, Busy: 1, DemandPerSec: perSecond, Window: windowSame}
}

// Work does one read; an operation is one read.
func (r *spanReader) Work(float64) (float64, error) {
	offset := r.random.Int64N(r.span.readable()/storageReadBytes) * storageReadBytes
	fd := int(r.span.file.Fd())
	if !r.span.direct {
		forget(fd, offset, storageReadBytes)
	}
	n, err := unix.Pread(fd, r.buffer.data, offset)
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read the disk: %w", err)
	case n == 0:
		return 0, nil // given back just now, because the disk got full
	}
	return 1, nil
}

// Close frees the buffer: the file belongs to the load.
func (r *spanReader) Close() error { return r.buffer.Close() }

var storageCapacity = Descriptor{
	Source:     interference.StorageCapacity,
	Knob:       Footprint,
	Means:      "share of the free disk space beyond the reserve, up to max bytes (1 GiB by default), that random reads spread over",
	Loads:      "the disk's own caches and its head, where it has one; disk space, which is kept until the kernel ends",
	Spares:     "disk bandwidth, except while the file grows: at most a twentieth of the random reads that one reader could do",
	Unit:       "reads",
	Dwell:      storageDwell,
	Supported:  func(Machine) error { return nil },
	New:        newStorageCapacity,
	BriefBytes: storageBytesBrief,
}
