package ibench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The file that is read, or written, over and over. Its default size is a
// compromise: large against the cache of a disk, small against the free space of a
// node.
const (
	storageBytesDefault = 256 << 20
	storageBytesBrief   = 64 << 20 // while calibrating, which makes several
	storageBytesMin     = 8 << 20
	storageChunkBytes   = 1 << 20
)

// Threads that read at once: two by default, so that the disk is busy while
// one is being handed its data, and more where calibration finds a gain.
const (
	storageThreads    = 2
	storageThreadsMax = 4
)

// storageDwell lets at least a few chunks fall into the lowest levels.
const storageDwell = 2 * levelDwell

// The variants of storage_bw.
const (
	storageRead  = "read"
	storageWrite = "write"
)

func newStorageBandwidth(ctx context.Context, s Setup) (*Load, error) {
	size := int64(storageBytesDefault)
	if s.MaxBytes > 0 {
		size = s.MaxBytes
	}
	if size = size / storageChunkBytes * storageChunkBytes; size < storageBytesMin {
		return nil, fmt.Errorf("max bytes is %d; the file needs %d at least", s.MaxBytes, storageBytesMin)
	}
	if err := checkDisk(s.Path, size); err != nil {
		return nil, err
	}
	file, direct, err := createScratch(s.Path)
	if err != nil {
		return nil, err
	}
	if err := fillScratch(ctx, file, size, s.Seed); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	threads := s.threads(storageThreads, storageThreadsMax)
	load := &Load{
		Threads: threads,
		Worker: func(thread int) (Worker, error) {
			return newDiskStream(file, size, thread, threads, direct, s.Variant == storageWrite)
		},
		ResidentBytes: func() int64 { return int64(threads) * storageChunkBytes },
		Close:         file.Close,
	}
	if !direct {
		load.Notes = append(load.Notes, noDirectNote)
	}
	return load, nil
}

// diskStream reads or writes its part of the file in sequence, over and over.
type diskStream struct {
	fd          int
	first, last int64 // of its part, in bytes
	offset      int64
	buffer      *region
	direct      bool
	writes      bool
}

func newDiskStream(file *os.File, size int64, thread, threads int, direct, writes bool) (*diskStream, error) {
	buffer, err := newRegion(storageChunkBytes, false)
	if err != nil {
		return nil, err
	}
	part := max(size/int64(threads)/storageChunkBytes, 1) * storageChunkBytes
	first := int64(thread) * part % size
	d := &diskStream{
		fd: int(file.Fd()), first: first, last: min(first+part, size), offset: first,
		buffer: buffer, direct: direct, writes: writes,
	}
	if writes { // what was written once is as good as random to a disk that compresses
		_, err = file.ReadAt(buffer.data, first)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the disk: %w", err), buffer.Close())
	}
	if !direct {
		forget(d.fd, first, part)
	}
	return d, nil
}

// Tune keeps a share of the peak.
func (d *diskStream) Tune(u, peakPerThread float64) Pace { return ratePace(u, peakPerThread) }

// Work reads or writes one chunk; an operation is a byte.
func (d *diskStream) Work(float64) (float64, error) {
	var n int
	var err error
	if d.writes {
		n, err = d.write()
	} else {
		n, err = unix.Pread(d.fd, d.buffer.data, d.offset)
	}
	switch {
	case errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil && d.writes:
		return 0, fmt.Errorf("write the disk: %w", err)
	case err != nil:
		return 0, fmt.Errorf("read the disk: %w", err)
	case n == 0:
		return 0, errors.New("read the disk: the file is shorter than it was made")
	}
	if !d.direct {
		forget(d.fd, d.offset, storageChunkBytes)
	}
	if d.offset += storageChunkBytes; d.offset >= d.last {
		d.offset = d.first
	}
	return float64(n), nil
}

// write writes a chunk over an old one, and waits until the disk has it where
// the page cache is in between.
func (d *diskStream) write() (int, error) {
	n, err := unix.Pwrite(d.fd, d.buffer.data, d.offset)
	if err != nil || d.direct {
		return n, err
	}
	const through = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return n, unix.SyncFileRange(d.fd, d.offset, storageChunkBytes, through)
}

// Close frees the buffer.
func (d *diskStream) Close() error { return d.buffer.Close() }

var storageBandwidth = Descriptor{
	Source:     interference.StorageBandwidth,
	Knob:       Rate,
	Means:      "share of the sequential read bandwidth (or write, with that variant) of the disk below the given path",
	Loads:      "disk, its queue and its bus",
	Spares:     "page cache and memory: direct transfers of one small buffer per thread",
	Unit:       "bytes",
	Variants:   []string{storageRead, storageWrite},
	Dwell:      storageDwell,
	Shares:     3,
	Supported:  func(Machine) error { return nil },
	New:        newStorageBandwidth,
	BriefBytes: storageBytesBrief,
	MaxThreads: func(int) int { return storageThreadsMax },
}
